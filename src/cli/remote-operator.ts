import { OPERATIONS } from '../client/answers.ts'
import { systemClock } from '../client/clock.ts'
import { PostriderError } from '../client/errors.ts'
import { exchange } from '../client/exchange.ts'
import { queryOf } from '../client/query.ts'
import type { Wire } from '../client/wire.ts'
import { Refusal, type RefusalReason } from '../model/refusal.ts'
import { STATUS_OF } from '../web/api/errors.ts'
import { CommandFailure } from './failure.ts'
import { listAllBy, type Operator, type OperatorRequest } from './operator.ts'
import type { OperationName, Results } from './results.ts'
import { apiUrl, type Server } from './server-access.ts'

/** A slow operation, such as a check of DNS, and the pause of a free plan's 60 requests per minute. */
const TIMEOUT_MS = 90_000
const MAX_RETRIES = 3

/** Runs operations on another server by an API key. They answer as the operator's do, for the records that the key may
 *  reach. Throws Refusal with the error of the server, and CommandFailure if it cannot be reached or no key may call the
 *  operation. */
export function createRemoteOperator({ url, key }: Server): Pick<Operator, 'run' | 'listAll'> {
  const wire: Wire = { baseUrl: apiUrl(url, '').href.replace(/\/$/, ''), apiKey: key, fetch, clock: systemClock }
  const ask = async (id: string, request: OperatorRequest): Promise<unknown> => {
    const operation = Object.entries(OPERATIONS).find(([name]) => name === id)?.[1]
    if (operation === undefined) throw new CommandFailure(ONLY_ON_SERVER)
    const { params = {}, query = {}, body } = request
    const path = operation.path.replace(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(params[name] ?? ''))
    const hasBody = operation.method !== 'GET' && operation.method !== 'DELETE'
    try {
      const { data } = await exchange<unknown>(wire, {
        method: operation.method,
        path: `${path}${queryOf(query)}`,
        body: hasBody ? JSON.stringify(body ?? {}) : undefined,
        idempotencyKey: operation.isKeyed ? crypto.randomUUID() : null,
        isRepeatable: operation.method !== 'POST' || operation.isKeyed || operation.isRepeatable,
        isRaw: false,
        timeoutMs: TIMEOUT_MS,
        maxRetries: MAX_RETRIES,
      })
      return data
    } catch (error) {
      throw error instanceof PostriderError ? failureOf(error, url) : error
    }
  }
  return {
    // The client's types of answers are made from the same document as the operator's.
    run: async <Id extends OperationName>(id: Id, request: OperatorRequest) => (await ask(id, request)) as Results[Id],
    listAll: listAllBy(ask),
  }
}

const ONLY_ON_SERVER =
  'No API key can do this. Run the command on the server, as its operator, without POSTRIDER_URL and --url.'

/** Error of the client → what the same operation throws here, so that commands print the same. */
function failureOf({ code, message, status, field, details, errors }: PostriderError, url: URL): Error {
  if (status === null || !isReason(code)) return new CommandFailure(`${url.origin}: ${message}`)
  return new Refusal(code, message, {
    details,
    ...(field !== null && { field }),
    ...(errors.length > 0 && { faults: [...errors] }),
  })
}

const isReason = (code: string): code is RefusalReason => Object.hasOwn(STATUS_OF, code)

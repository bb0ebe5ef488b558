import type { ApiKey } from '../model/api-key.ts'
import { type Authentication, unauthorized } from './authentication.ts'
import type { ApiResponse, Call, MakeRemember, Operation } from './operation.ts'
import type { Params } from './route-table.ts'

/** What the request says; each part is parsed only at its step. */
export interface OperationInput {
  query: () => unknown
  /** A promise for large bodies. */
  body: () => unknown
  remember: MakeRemember
}

/** Request and caller → the handler's input. */
export function createCall(
  request: Request,
  params: Params,
  { key, requestId, now }: { key: ApiKey; requestId: string; now: number },
  authentication: Pick<Authentication, 'isStillValid'>,
): Call {
  // A segment that cannot be decoded becomes null and matches nothing.
  for (const name in params) params[name] ??= ''
  return {
    key,
    organizationId: key.organizationId,
    requestId,
    now,
    params,
    headers: request.headers,
    get signal() {
      return request.signal
    },
    holds: () => authentication.isStillValid(request),
  }
}

/** Runs an operation whose permission was checked: loads the resource in the path, parses query and body, then calls the
 *  handler. HTTP, other services' APIs and the command line all use it. Each step throws a Refusal. The key is checked
 *  again before the handler runs: receiving the body may take minutes, and the key may be revoked or expire meanwhile.
 *  `call` keeps what each step found, for the audit log. */
export async function perform(
  operation: Operation,
  call: Call,
  { query, body, remember }: OperationInput,
): Promise<ApiResponse> {
  const resource = operation.load === undefined ? undefined : await operation.load(call)
  call.resource = resource
  const parsedQuery = query()
  const parsedBody = body()
  if (operation.reads !== undefined) await call.enter?.(operation.reads(resource))
  const parts = {
    resource,
    query: parsedQuery,
    body: parsedBody instanceof Promise ? await parsedBody : parsedBody,
  }
  if (!(await call.holds())) throw unauthorized()
  const response = await operation.handle(
    Object.assign(call, parts, {
      remember: (made: ApiResponse) => {
        call.answer = made
        return remember(made)
      },
    }),
  )
  call.answer = response
  return response
}

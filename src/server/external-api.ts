import { type FieldFault, invalid, Refusal } from '../model/refusal.ts'
import type { Call, MakeRemember, Operation } from '../web/api/operation.ts'
import { cursorAfter } from '../web/api/page.ts'
import { loadResource, runHandler } from '../web/api/perform.ts'
import { requireRight } from '../web/api/rights.ts'
import type { CompatApi } from '../web/api/route-table.ts'
import { check } from '../web/api/schema.ts'
import type { Endpoint, ExternalApi, Ours, Said } from '../web/compat/external-api.ts'

/** What the endpoints need besides our operations. */
export type CompatMeans = Pick<Ours, 'downloadUrl' | 'signingSecret'>

/** Creates the operations of another service's API from those of Postrider. Each runs as every request does: same
 *  rights, same checks, same transaction. Throws if an endpoint names an unknown operation (a bug). */
export function createCompatApi(api: ExternalApi, operations: readonly Operation[], means: CompatMeans): CompatApi {
  const byId = new Map(operations.map((operation) => [operation.id, operation]))
  const find = (id: string): Operation => {
    const found = byId.get(id)
    if (found === undefined) throw new Error(`${api.name}: unknown operation ${id}`)
    return found
  }
  return {
    root: api.root,
    refuse: api.refuse,
    operations: api.endpoints.map((endpoint) => operationOf(endpoint, api, find, means)),
  }
}

function operationOf(
  endpoint: Endpoint,
  api: ExternalApi,
  find: (id: string) => Operation,
  means: CompatMeans,
): Operation {
  const { id, method, path, query, body, base64At } = endpoint
  const { tag, access, idempotent, secretResponse, unaudited } = find(endpoint.operation)
  const isCreating = method === 'POST' && idempotent === true && endpoint.idempotent !== false
  return {
    id: `${api.name}_${id}`,
    method,
    path: `${api.root}${path}`,
    tag,
    access,
    summary: '',
    ...(query && { query }),
    ...(body && { body }),
    ...(base64At && { base64At }),
    ...(isCreating && { idempotent }),
    ...(secretResponse && method === 'POST' && { secretResponse }),
    ...(unaudited && { unaudited }),
    handle: async (call) => {
      const ours: Ours = {
        ask: (name, said, toExternal) => ask(find(name), said, call, toExternal),
        ...means,
        read: (schema, value) => check(schema, value, 'body'),
      }
      return { status: 200, body: await endpoint.handle(call, ours) }
    },
  }
}

async function ask<T>(
  operation: Operation,
  { params = {}, query = {}, body, page, names = {} }: Said,
  call: Call & { remember: MakeRemember },
  toExternal: (body: unknown) => T,
): Promise<T> {
  // The right to the endpoint's own operation was checked; it may call others.
  requireRight(call, operation.access)
  // One transaction, so that an error in `toExternal` leaves nothing stored.
  const ours = { params, resource: undefined, parts: undefined, readsBody: true }
  const own: Call = Object.assign(Object.create(call), ours)
  try {
    await loadResource(operation, own)
    const parsed = {
      query: operation.query && checked(operation.query, { ...query, ...pageQuery(page) }, 'query'),
      body: operation.body && checked(operation.body, body ?? {}, 'body'),
    }
    const answer = await runHandler(operation, own, parsed, (made) =>
      call.remember({ status: 200, body: toExternal(made.body) }),
    )
    return toExternal(answer.body)
  } catch (thrown) {
    throw thrown instanceof Refusal ? renamed(thrown, { ...names, cursor: 'after' }) : thrown
  } finally {
    call.resource ??= own.resource // for the audit log
  }
}

function pageQuery(page: Said['page']): Record<string, string> {
  if (page === undefined) return {}
  return { limit: String(page.limit), ...(page.after !== null && { cursor: cursorAfter(page.after) }) }
}

function checked(schema: NonNullable<Operation['body']>, value: unknown, root: 'body' | 'query'): unknown {
  const { value: parsed, faults } = check(schema, value, root)
  if (faults !== null) throw invalid(faults)
  return parsed
}

/** Renames the fields of a refusal to the names that the caller used. */
function renamed(refusal: Refusal, names: Record<string, string>): Refusal {
  const rename = ({ field, message }: FieldFault): FieldFault => {
    const place = /\[\d+\]/.exec(field)?.[0] ?? '[]'
    const inList = names[field.replace(place, '[]')]
    if (place !== '[]' && inList !== undefined) {
      const theirs = inList.replace('[]', place)
      return { field: theirs, message: message.replaceAll(field, theirs) }
    }
    const renaming = Object.entries(names).find(
      ([name]) => field === name || field.startsWith(`${name}.`) || field.startsWith(`${name}[`),
    )
    if (renaming === undefined) return { field, message }
    const theirs = renaming[1] + field.slice(renaming[0].length)
    return { field: theirs, message: message.startsWith(field) ? theirs + message.slice(field.length) : message }
  }
  const { reason, message, field, details, faults, retryAfterSeconds } = refusal
  if (faults !== undefined) return invalid(faults.map(rename))
  if (field === undefined) return refusal
  const renamedFault = rename({ field, message })
  return new Refusal(reason, renamedFault.message, { field: renamedFault.field, details, retryAfterSeconds })
}

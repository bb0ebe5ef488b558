import type { Route, Routes } from '../../../../client/route.ts'
import { ROUTES } from '../../../../client/routes.ts'
import type { Operation } from '../document.ts'

/** What an example does, in no language yet. */
export interface ExampleRequest {
  method: string
  /** With filled-in parameters and query: `/v1/events?type=message.bounced`. */
  path: string
  /** JSON of the body; undefined for none. */
  body: unknown
  /** What the example does with the response: prints JSON, saves anything else in a file, or prints events until it is
   *  stopped. */
  answer: 'json' | 'bytes' | 'events'
  /** Name of the file for `bytes`. */
  file: string
  /** `session`: of an operator; no key can call the operation. */
  access: 'key' | 'session'
  /** The call of the TypeScript client; null where it has none. */
  call: ClientCall | null
}

export interface ClientCall {
  /** `webhooks.deliveries.list` */
  name: string
  /** Values of the path parameters. */
  ids: string[]
  /** The last argument; undefined for none. */
  input: unknown
  route: Route
}

/** Where an example sends its request, and as whom. */
export interface Setting {
  /** `https://mail.example.com` */
  origin: string
  /** The key itself, or null: the example reads it from the environment variable POSTRIDER_API_KEY. */
  key: string | null
}

/** Values of parameters by name, in place of those of the document. */
export type Values = Readonly<Record<string, string>>

/** Operation of the document → the request of its examples, with the example values of the document. */
export function exampleOf(operation: Operation, values: Values = {}, body: unknown = operation.body?.example) {
  const { id, method, permission, parameters } = operation
  const idOf = (name: string) =>
    values[name] ?? String(parameters.find((each) => each.in === 'path' && each.name === name)?.example ?? name)
  const inPath = parameters.filter((each) => each.in === 'path').map(({ name }) => idOf(name))
  const inQuery = parameters.filter((each) => each.in === 'query' && each.example !== undefined)
  const query = inQuery.map(({ name, example }) => [name, example] as const)
  const types = Object.keys(operation.responses.find(([status]) => status < '300')?.[1].content ?? {})
  const isForKeys = permission !== 'operator'
  const request: ExampleRequest = {
    method,
    path: pathOf(operation.path, idOf) + queryOf(query),
    body: operation.body === null ? undefined : body,
    ...answerOf(types),
    access: isForKeys ? 'key' : 'session',
    call: isForKeys ? callOf(id, method, operation.path) : null,
  }
  if (request.call !== null) {
    request.call.ids = inPath
    request.call.input = request.call.route.takes === 'query' ? inputOf(query) : request.body
  }
  return request
}

/** `/v1/events/{event_id}` with values. Those of the document need no encoding, others may. */
export function pathOf(path: string, value: (name: string) => string): string {
  return path.replace(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(value(name)).replaceAll('%40', '@'))
}

function queryOf(query: readonly (readonly [string, unknown])[]): string {
  const text = new URLSearchParams(query.map(([name, value]) => [name, String(value)])).toString()
  return text === '' ? '' : `?${text}`
}

/** Undefined without a parameter. */
function inputOf(query: readonly (readonly [string, unknown])[]): unknown {
  return query.length === 0 ? undefined : Object.fromEntries(query)
}

function answerOf([type = '']: string[]): Pick<ExampleRequest, 'answer' | 'file'> {
  if (type.startsWith('text/event-stream')) return { answer: 'events', file: '' }
  if (type.startsWith('message/rfc822')) return { answer: 'bytes', file: 'message.eml' }
  if (type.startsWith('text/csv')) return { answer: 'bytes', file: 'suppressions.csv' }
  if (type.startsWith('application/octet-stream')) return { answer: 'bytes', file: 'attachment' }
  return { answer: 'json', file: '' }
}

/** The client has one method for an operation with two paths. */
function callOf(id: string, method: string, path: string): ClientCall | null {
  const wanted = id === 'messages_send_alias' ? '/v1/messages/send' : path
  for (const [name, route] of routesIn(ROUTES)) {
    if (route.method === method && route.path === wanted) return { name, ids: [], input: undefined, route }
  }
  return null
}

function routesIn(routes: Routes, before = ''): [name: string, route: Route][] {
  return Object.entries(routes).flatMap(([name, entry]) =>
    typeof entry.path === 'string' ? [[before + name, entry as Route]] : routesIn(entry as Routes, `${before}${name}.`),
  )
}

import type { Route, Routes } from '../../../../client/route.ts'
import { ROUTES } from '../../../../client/routes.ts'
import type { ClientCall, ExampleRequest } from '../../../examples/example.ts'
import type { Operation } from '../document.ts'

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
    call: null,
  }
  const found = isForKeys ? methodOf(id, method, operation.path) : null
  if (found === null) return request
  const [name, route] = found
  const input = route.takes === 'query' ? inputOf(query) : request.body
  return { ...request, call: { name, ids: inPath, input, route } satisfies ClientCall }
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
function methodOf(id: string, method: string, path: string): [name: string, route: Route] | null {
  const wanted = id === 'messages_send_alias' ? '/v1/messages/send' : path
  for (const [name, route] of routesIn(ROUTES)) {
    if (route.method === method && route.path === wanted) return [name, route]
  }
  return null
}

function routesIn(routes: Routes, before = ''): [name: string, route: Route][] {
  return Object.entries(routes).flatMap(([name, entry]) =>
    typeof entry.path === 'string' ? [[before + name, entry as Route]] : routesIn(entry as Routes, `${before}${name}.`),
  )
}

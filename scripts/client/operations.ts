import type { Schema } from './schema-type.ts'

/** One operation of the document as a client method. */
export interface ClientOperation {
  /** `messages_send` */
  id: string
  /** Its path in the client: `['webhooks', 'deliveries', 'retry']`. */
  names: string[]
  method: string
  path: string
  /** Its description. */
  text: string
  /** In the order of the path. */
  ids: string[]
  body: (Schema & { isRequired: boolean }) | null
  query: (Schema & { isRequired: boolean }) | null
  /** By content type. */
  answers: Record<string, Schema>
  isKeyed: boolean
  isRepeatable: boolean
  isList: boolean
  isStream: boolean
  canWait: boolean
}

// biome-ignore lint/suspicious/noExplicitAny: JSON
type Json = any

/** POSTs that are read-only or idempotent, so that they need no key for retries. */
const REPEATABLE = [
  'messages_analyze',
  'templates_render',
  'templates_preview',
  'inbound_routes_test',
  'domains_verify',
  'messages_cancel',
  'suppressions_import',
]

/** OpenAPI document → every operation open to API keys, in order; a second path of one is left out. */
export function operationsOf(document: Json): ClientOperation[] {
  return Object.entries<Json>(document.paths).flatMap(([path, methods]) =>
    Object.entries<Json>(methods)
      .filter(([, { operationId, security }]) => !operationId.endsWith('_alias') && isForKeys(security))
      .map(([method, operation]) => operationOf(document, method.toUpperCase(), path, operation)),
  )
}

/** Operations for the signed-in operator only are marked; all others accept keys. */
const isForKeys = (security: Json[] | undefined) => security?.some((way) => 'apiKey' in way) ?? true

function operationOf(document: Json, method: string, path: string, operation: Json): ClientOperation {
  const { operationId: id, summary, description = '' } = operation
  const parameters: Json[] = operation.parameters.map((each: Json) => named(document, each))
  const inQuery = parameters.filter((each) => each.in === 'query')
  const headers = parameters.filter((each) => each.in === 'header').map(({ name }) => name)
  const answers = Object.assign(
    {},
    ...Object.entries<Json>(operation.responses)
      .filter(([status]) => status.startsWith('2'))
      .map(([, { content }]) => content),
  )
  const schemas = Object.entries<Json>(answers).map(([type, { schema }]) => [type.split(';', 1)[0]!, schema])
  return {
    id,
    names: namesOf(id, path),
    method,
    path,
    text: `${summary}.\n\n${description}`
      .replace(/\n\nRequires the permission `(\w+)`\.$/, '\n\nRequires `$1`.')
      .replace(/^\|.*\n(\|.*\n?)+/gm, 'See the table in `/docs` of your server.\n'),
    ids: parameters.filter((each) => each.in === 'path').map(({ name }) => name),
    body: bodyOf(operation.requestBody),
    query: inQuery.length === 0 ? null : queryOf(inQuery),
    answers: Object.fromEntries(schemas),
    isKeyed: headers.includes('Idempotency-Key'),
    isRepeatable: REPEATABLE.includes(id),
    isList: inQuery.some(({ name }) => name === 'cursor'),
    isStream: 'text/event-stream' in answers,
    canWait: headers.includes('Prefer'),
  }
}

function named(document: Json, each: Json): Json {
  return each.$ref === undefined ? each : document.components.parameters[each.$ref.split('/').at(-1)]
}

/** Also null without parameters. */
function bodyOf(requestBody: Json): ClientOperation['body'] {
  const schema = requestBody?.content['application/json'].schema
  const isEmpty = schema?.properties !== undefined && Object.keys(schema.properties).length === 0
  return schema === undefined || isEmpty ? null : { ...schema, isRequired: requestBody.required }
}

function queryOf(parameters: Json[]): ClientOperation['query'] {
  const entries = parameters.map(({ name, description, schema }) => [name, { description, ...schema }])
  const required = parameters.filter((each) => each.required).map(({ name }) => name)
  return { type: 'object', properties: Object.fromEntries(entries), required, isRequired: required.length > 0 }
}

/** The first word of the path, and the rest of the id: `/v1/api-keys`, `api_keys_create` → apiKeys.create;
 *  `/v1/webhooks/…`, `webhook_deliveries_list` → webhooks.deliveries.list. Throws on an id that starts differently. */
function namesOf(id: string, path: string): string[] {
  const resource = path.split('/')[2]!.replaceAll('-', '_')
  const one = resource.replace(/s$/, '')
  if (id.startsWith(`${resource}_`)) return [camel(resource), camel(id.slice(resource.length + 1))]
  if (!id.startsWith(`${one}_`)) throw new Error(`${id} is not named after ${path}`)
  const [part = '', ...rest] = id.slice(one.length + 1).split('_')
  return [camel(resource), part, camel(rest.join('_'))]
}

export const camel = (name: string) => name.replace(/_(\w)/g, (_, letter: string) => letter.toUpperCase())

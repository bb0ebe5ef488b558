/** Reads the OpenAPI document that the server describes itself with (web/api/openapi/document.ts). */

/** JSON Schema as the document has it. */
export interface Schema {
  $ref?: string
  type?: string | string[]
  const?: unknown
  enum?: unknown[]
  anyOf?: Schema[]
  oneOf?: Schema[]
  allOf?: Schema[]
  items?: Schema
  properties?: Record<string, Schema>
  required?: string[]
  description?: string
  format?: string
  pattern?: string
  default?: unknown
  minLength?: number
  maxLength?: number
  minimum?: number
  maximum?: number
  minItems?: number
  maxItems?: number
}

export interface Parameter {
  name: string
  in: 'path' | 'query' | 'header'
  required?: boolean
  description?: string
  example?: unknown
  schema: Schema
}

export interface Content {
  schema: Schema
  example?: unknown
}

export interface Response {
  description: string
  content?: Record<string, Content>
}

/** An operation of the document, references of its parts resolved. */
export interface Operation {
  id: string
  /** `GET`, or `POST` for a request that Postrider sends to an endpoint. */
  method: string
  /** `/v1/messages/{message_id}`, or the type of a webhook: `message.bounced`. */
  path: string
  tag: string
  summary: string
  description: string
  /** `send`, or `operator` for operations that no key can call; null for a webhook. */
  permission: string | null
  parameters: Parameter[]
  body: (Content & { isRequired: boolean }) | null
  responses: [status: string, response: Response][]
}

export interface Tag {
  name: string
  /** Part of links: `api-keys`. */
  slug: string
  description: string
  operations: Operation[]
}

/** The document, ready to show. */
export interface Reference {
  version: string
  introduction: string
  /** What is said about keys. */
  keys: string
  /** Parameters that several operations share, all of them headers. */
  headers: Parameter[]
  tags: Tag[]
  operations: Operation[]
  /** A reference → what it refers to; other schemas stay as they are. */
  resolve(schema: Schema | undefined): Schema
}

// biome-ignore lint/suspicious/noExplicitAny: JSON
type Json = any

/** OpenAPI document → Reference. The document comes from the server of this page. */
export function readReference(document: Json): Reference {
  const deref = (value: Json): Json => {
    let found = value
    while (found?.$ref !== undefined) {
      found = found.$ref
        .slice(2)
        .split('/')
        .reduce((at: Json, part: string) => at[part], document)
    }
    return found
  }
  const read = (path: string, method: string, operation: Json): Operation => ({
    id: operation.operationId,
    method: method.toUpperCase(),
    path,
    tag: operation.tags[0],
    summary: operation.summary,
    description: operation.description ?? '',
    permission: operation['x-permission'] ?? null,
    parameters: (operation.parameters ?? []).map(deref),
    body:
      operation.requestBody === undefined
        ? null
        : { isRequired: operation.requestBody.required, ...operation.requestBody.content['application/json'] },
    responses: Object.entries<Json>(operation.responses).map(([status, response]) => [status, deref(response)]),
  })
  const operations = [document.paths, document.webhooks].flatMap((group) =>
    Object.entries<Json>(group).flatMap(([path, methods]) =>
      Object.entries<Json>(methods).map(([method, operation]) => read(path, method, operation)),
    ),
  )
  return {
    version: document.info.version,
    introduction: document.info.description,
    keys: document.components.securitySchemes.apiKey.description,
    headers: Object.values<Parameter>(document.components.parameters),
    tags: document.tags.map(({ name, description = '' }: Json) => ({
      name,
      slug: name.toLowerCase().replace(/\W+/g, '-'),
      description,
      operations: operations.filter(({ tag }) => tag === name),
    })),
    operations,
    resolve: deref,
  }
}

/** What the navigation calls an operation: an event type names a webhook better than its sentence, and a second path is
 *  all that an alias has. */
export const nameOf = ({ id, permission, path, summary }: Operation) =>
  permission === null || id.endsWith('_alias') ? path : summary

/** A method as it is shown: `DEL` for `DELETE`. */
export const methodName = (method: string) => (method === 'DELETE' ? 'DEL' : method)

import { z } from 'zod'
import { refusalsOf } from '../../src/web/api/openapi/errors.ts'
import type { Operation } from '../../src/web/api/operation.ts'
import { errorSchema } from '../../src/web/api/responses/error.ts'

/** Validates responses against the operations themselves (`undocumented`) and against the document generated from
 *  them (`readDocument`). Each returns what is wrong, or null. */

interface Answered {
  status: number
  headers: Headers
  text: string
}

/** A response that its operation does not document: another status, another code, another shape. Null for paths and
 *  methods without an operation, and for operations that document nothing. */
export async function undocumented(
  operations: readonly Operation[],
  method: string,
  path: string,
  answered: Answered,
): Promise<string | null> {
  const operation = closest(operations, method, path)
  if (operation?.responses === undefined) return null
  const { status, text } = answered
  const at = `${operation.id} answers ${status}`
  if (status > 299) {
    const { data, error } = errorSchema.safeParse(parsed(text))
    if (data === undefined) return `${at} with no error: ${z.prettifyError(error)}`
    const { code } = data.error
    return refusalsOf(operation).get(status)?.includes(code) ? null : `${at} ${code}, which it does not promise`
  }
  const promised = await operation.responses()
  const shapes = promised.filter((shape) => shape.status === status && typeOf(shape) === mediaType(answered))
  if (shapes.length === 0) return `${at} as ${mediaType(answered)}, which it does not promise`
  const body = shapes[0]!.contentType === undefined ? parsed(text) : text
  const { error } = shapes[0]!.schema.safeParse(body)
  return error === undefined ? null : `${at} with another shape than it promises: ${z.prettifyError(error)}`
}

// biome-ignore lint/suspicious/noExplicitAny: JSON
type Json = any

/** One operation of the document. */
export interface Documented {
  id: string
  method: string
  /** `/v1/messages/{message_id}` */
  path: string
  operation: Json
}

/** OpenAPI document → its operations, and checks of responses and requests against it. */
export function readDocument(document: Json) {
  const operations: Documented[] = Object.entries<Json>(document.paths).flatMap(([path, methods]) =>
    Object.entries<Json>(methods).map(([method, operation]) => ({
      id: operation.operationId,
      method: method.toUpperCase(),
      path,
      operation,
    })),
  )
  const $defs = inDefs(document.components.schemas)
  const validators = new Map<string, z.ZodType>()
  const faultBy = (schema: Json, value: unknown): string | null => {
    const key = JSON.stringify(schema)
    const validator = validators.get(key) ?? z.fromJSONSchema({ ...inDefs(schema), $defs })
    validators.set(key, validator)
    const { error } = validator.safeParse(value)
    return error === undefined ? null : z.prettifyError(error)
  }
  const posted = Object.fromEntries(
    Object.entries<Json>(document.webhooks).map(([name, { post }]) => [
      name,
      post.requestBody.content['application/json'].schema,
    ]),
  )
  const deref = (value: Json): Json => (value?.$ref === undefined ? value : deref(resolve(document, value.$ref)))

  return {
    operations,
    faultBy,
    deref,
    /** What is wrong with a body posted to an endpoint. */
    faultInPosted(body: string): string | null {
      const value = JSON.parse(body)
      const name = value.event === 'inbound' ? 'inbound' : value.type
      const fault = posted[name] === undefined ? 'not in the document' : faultBy(posted[name], value)
      return fault === null ? null : `${name} as posted: ${fault}\n${body.slice(0, 2000)}`
    },
    /** What is wrong with a response; also null for paths and methods that the document lacks. */
    faultIn(method: string, path: string, answered: Answered): string | null {
      const found = closest(operations, method, path)
      if (found === null) return null
      const at = `${found.id} answers ${answered.status}`
      const response = deref(found.operation.responses[answered.status])
      if (response === undefined) return `${at}, which is not documented`
      const content = Object.entries<Json>(response.content).find(([type]) => essence(type) === mediaType(answered))
      if (content === undefined) return `${at} as ${mediaType(answered)}, which is not documented`
      const isJson = mediaType(answered) === 'application/json'
      const fault = faultBy(content[1].schema, isJson ? parsed(answered.text) : answered.text)
      return fault === null ? null : `${at} with another shape: ${fault}\n${answered.text.slice(0, 2000)}`
    },
  }
}

/** The part of the document that a reference names; throws when there is none. */
export function resolve(document: Json, reference: string): Json {
  let found = document
  for (const part of reference.replace(/^#\//, '').split('/')) {
    found = found?.[part.replaceAll('~1', '/').replaceAll('~0', '~')]
  }
  if (found === undefined || !reference.startsWith('#/')) throw new Error(`${reference} leads nowhere`)
  return found
}

function inDefs(schema: Json): Json {
  return JSON.parse(JSON.stringify(schema).replaceAll('#/components/schemas/', '#/$defs/'))
}

/** Of all matching paths the one with the fewest parameters, as in the router. */
function closest<T extends { method: string; path: string }>(
  all: readonly T[],
  method: string,
  path: string,
): T | null {
  const bare = path.split('?', 1)[0]!
  const fits = all.filter((each) => each.method === method && pattern(each.path).test(bare))
  return fits.toSorted((a, b) => parameters(a.path) - parameters(b.path))[0] ?? null
}

const parameters = (path: string) => path.split(/[:{]/).length
const pattern = (path: string) => new RegExp(`^${path.replace(/:\w+|\{\w+\}/g, '[^/]+')}$`)
const typeOf = ({ contentType = 'application/json' }: { contentType?: string }) => essence(contentType)
const mediaType = ({ headers }: Answered) => essence(headers.get('content-type') ?? 'none')
const essence = (type: string) => type.split(';', 1)[0]!.trim()

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

import type { RefusalReason } from '../../../model/refusal.ts'
import { accessWords } from '../access.ts'
import type { Operation, ResponseShape } from '../operation.ts'
import { meaningOf } from '../responses/error.ts'
import { exampleId } from '../responses/fields.ts'
import { refusalsOf } from './errors.ts'
import type { Json, Schemas } from './schemas.ts'

/** Operations → `paths` of the document. If an operation has two paths, the second one's `operationId` ends with
 *  `_alias`. Adds the named schemas to `schemas`. */
export async function pathsOf(operations: readonly Operation[], schemas: Schemas): Promise<Json> {
  const paths: Record<string, Json> = {}
  const ids = new Set<string>()
  for (const operation of operations) {
    const path = operation.path.replace(/:(\w+)/g, '{$1}')
    const isAlias = ids.has(operation.id)
    ids.add(operation.id)
    paths[path] ??= {}
    paths[path][operation.method.toLowerCase()] = await operationOf(operation, isAlias, schemas)
    await new Promise(setImmediate) // all of them at once would block the thread for 0.2 s
  }
  return paths
}

async function operationOf(operation: Operation, isAlias: boolean, schemas: Schemas): Promise<Json> {
  const { id, access, summary, body } = operation
  const forOperator = access.role === 'operator'
  const responses = (await operation.responses?.()) ?? []
  const description =
    typeof operation.description === 'function' ? await operation.description() : operation.description
  const needs = accessWords(access)
  return {
    operationId: isAlias ? `${id}_alias` : id,
    tags: [operation.tag],
    summary,
    description: description === undefined ? needs : `${description}\n\n${needs}`,
    'x-permission': forOperator ? 'operator' : access.permission,
    ...(forOperator ? { security: [{ session: [] }] } : {}),
    parameters: [...pathParameters(operation), ...queryParameters(operation, schemas), ...headerParameters(operation)],
    ...(body === undefined ? {} : { requestBody: bodyOf(operation, schemas.ofRequest(body), schemas) }),
    responses: { ...successes(operation, responses, schemas), ...refusals(operation) },
  }
}

function pathParameters({ path }: Operation): Json[] {
  return [...path.matchAll(/:(\w+)/g)].map(([, name = '']) => ({
    name,
    in: 'path',
    required: true,
    schema: { type: 'string' },
    ...PATH_PARAMETERS[name],
  }))
}

const PATH_PARAMETERS: Record<string, Json> = {
  message_id: { example: exampleId('msg') },
  event_id: { example: exampleId('evt') },
  domain_id: { description: 'ID or name of a domain.', example: exampleId('dom') },
  key_id: { example: exampleId('key') },
  webhook_id: { example: exampleId('whk') },
  delivery_id: { example: exampleId('whd') },
  template_id: { description: 'ID or alias of a template.', example: exampleId('tpl') },
  id_or_email: {
    description: 'ID of a suppression, or an address, which selects all its suppressions.',
    example: 'please-stop@customer.example',
  },
  route_id: { example: exampleId('rte') },
  inbound_message_id: { example: exampleId('inb') },
  number: { description: 'From 1.', example: '1' },
  organization_id: { example: exampleId('org') },
  session_id: { example: exampleId('ses') },
  user_id: { example: exampleId('usr') },
  invitation_id: { example: exampleId('inv') },
  blocked_link_id: { example: exampleId('blk') },
}

function queryParameters({ query }: Operation, schemas: Schemas): Json[] {
  if (query === undefined) return []
  const { properties = {}, required = [], 'x-parameters': others = [] } = schemas.ofRequest(query) as QuerySchema
  const parameters = Object.entries(properties).map(([name, { description, example, ...schema }]) => ({
    name,
    in: 'query',
    required: required.includes(name),
    ...(description === undefined ? {} : { description }),
    schema,
    ...(example === undefined ? {} : { example }),
  }))
  return [...parameters, ...others]
}

/** JSON Schema of a query. `x-parameters` has parameters whose names the caller chooses, which `properties` cannot
 *  list. */
interface QuerySchema {
  properties?: Record<string, Json>
  required?: string[]
  'x-parameters'?: Json[]
}

function headerParameters({ idempotent, canWait }: Operation): Json[] {
  const named = ['XRequestId', ...(idempotent ? ['IdempotencyKey'] : []), ...(canWait ? ['Prefer'] : [])]
  return named.map((name) => ({ $ref: `#/components/parameters/${name}` }))
}

function bodyOf({ bodyOptional, bodyName, example, textField }: Operation, schema: Json, schemas: Schemas): Json {
  return {
    required: !bodyOptional,
    content: {
      'application/json': {
        schema: bodyName === undefined ? schema : schemas.name(bodyName, schema),
        ...(example === undefined ? {} : { example }),
      },
      ...(textField && { [textField.contentType]: { schema: { type: 'string' } } }),
    },
  }
}

/** Responses of an operation → `responses` by status. Responses with the same status are merged; they differ in their
 *  content type. */
function successes(operation: Operation, responses: readonly ResponseShape[], schemas: Schemas): Json {
  const byStatus = Map.groupBy(responses, ({ status }) => status)
  return Object.fromEntries(
    [...byStatus].map(([status, shapes]) => [
      status,
      {
        description: shapes.map(({ description }) => description).join('\n'),
        headers: headersOf(operation, status),
        content: Object.fromEntries(
          shapes.map(({ contentType, schema, example }) => [
            contentType ?? 'application/json',
            { schema: schemas.ofAnswer(schema), example },
          ]),
        ),
      },
    ]),
  )
}

function headersOf({ idempotent, canWait }: Operation, status: number): Json {
  const names = ['X-Request-Id', 'RateLimit-Limit', 'RateLimit-Remaining', 'RateLimit-Reset']
  if (idempotent) names.push('Idempotent-Replayed')
  if (canWait && status === 200) names.push('Preference-Applied')
  return headerRefs(names)
}

function headerRefs(names: readonly string[]): Json {
  return Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]))
}

function refusals(operation: Operation): Json {
  return Object.fromEntries(
    [...refusalsOf(operation)].map(([status, codes]) => [status, { $ref: `#/components/responses/${nameOf(codes)}` }]),
  )
}

/** Operations → `components.responses` of the document: one entry per set of error codes that an operation has for the
 *  same status. */
export function refusalResponses(operations: readonly Operation[]): Json {
  const sets = operations.flatMap((operation) => [...refusalsOf(operation)])
  const named = new Map(sets.map(([status, codes]) => [nameOf(codes), refusal(status, codes)]))
  return Object.fromEntries([...named].sort(([a], [b]) => (a < b ? -1 : 1)))
}

function refusal(status: number, codes: readonly RefusalReason[]): Json {
  const narrowed = { properties: { error: { properties: { code: { enum: codes } } } } }
  const schema = { allOf: [{ $ref: '#/components/schemas/Error' }, narrowed] }
  return {
    description: codes.map((code) => `\`${code}\`: ${meaningOf(code)}`).join('\n\n'),
    headers: headerRefs(refusalHeaders(status)),
    content: { 'application/json': { schema } },
  }
}

function refusalHeaders(status: number): string[] {
  if (status === 401) return ['X-Request-Id', 'WWW-Authenticate']
  const always = ['X-Request-Id', 'RateLimit-Limit', 'RateLimit-Remaining', 'RateLimit-Reset']
  return status === 429 || status === 503 ? [...always, 'Retry-After'] : always
}

/** `['invalid_state', 'quota_exceeded']` → `InvalidStateOrQuotaExceeded` */
function nameOf(codes: readonly RefusalReason[]): string {
  return codes.map((code) => code.replace(/(?:^|_)(\w)/g, (_, letter: string) => letter.toUpperCase())).join('Or')
}

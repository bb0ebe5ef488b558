import { expect, test } from 'bun:test'
import { namedTypes } from '../../scripts/client/files.ts'
import { operationsOf } from '../../scripts/client/operations.ts'
import { type Schema, typeOf } from '../../scripts/client/schema-type.ts'
import { openApiDocument } from '../../scripts/openapi-document.ts'
import { allOperations } from '../../src/web/manual/all-operations.ts'

/** Limits, defaults, patterns and responses are part of the API, and a number in a schema is easily mistyped: all
 *  documentation is made of the same schema. A deliberate change renews the snapshots with `bun test -u`. */

const KEYWORDS = new Set([
  'minimum',
  'maximum',
  'exclusiveMinimum',
  'exclusiveMaximum',
  'minLength',
  'maxLength',
  'minItems',
  'maxItems',
  'minProperties',
  'maxProperties',
  'default',
  'const',
  'pattern',
  'additionalProperties',
])
/** Parts of a path to a schema that say nothing. */
const PLAIN = new Set(['schema', 'content', 'properties', 'application/json', 'paths', 'components', 'schemas'])

/** Part of the document → `path: keyword value, …` of each place that has such keywords, and the errors of operations. */
function limitsIn(part: unknown, path: readonly string[] = []): string[] {
  if (typeof part !== 'object' || part === null) return []
  const named = 'name' in part && typeof part.name === 'string' ? [...path, part.name] : path
  const line = named.filter((step) => !PLAIN.has(step)).join(' ')
  const entries = Object.entries(part).filter(([key]) => key !== 'example' && key !== 'examples')
  if (path.at(-1) === 'headers') return [`${line}: ${Object.keys(part).join(', ')}`]
  const errors =
    path.at(-1) === 'responses' && path.length > 2 ? [`${line}: ${entries.map(responseName).join(', ')}`] : []
  const isLimit = ([key, value]: [string, unknown]) =>
    KEYWORDS.has(key) && (typeof value !== 'object' || key === 'default')
  const own = entries.filter(isLimit).map(([key, value]) => `${key} ${shortOf(value)}`)
  return [
    ...errors,
    ...(own.length === 0 ? [] : [`${line}: ${own.join(', ')}`]),
    ...entries.filter((entry) => !isLimit(entry)).flatMap(([key, value]) => limitsIn(value, [...named, key])),
  ]
}

/** Long patterns as a digest. */
function shortOf(value: unknown): string {
  const text = JSON.stringify(value)
  return text.length <= 120 ? text : new Bun.CryptoHasher('sha256').update(text).digest('hex').slice(0, 12)
}

/** `404 NotFound`, or the status alone of an answer. */
const responseName = ([status, response]: [string, { $ref?: string }]) =>
  response.$ref === undefined ? status : `${status} ${response.$ref.split('/').at(-1)}`

test('fields and responses have the limits, defaults, patterns and headers that they had', async () => {
  const { paths, components } = (await openApiDocument()) as Record<string, unknown>
  expect(limitsIn({ paths, components }).join('\n')).toMatchSnapshot()
})

test('requests, responses and events have the fields and types that they had', async () => {
  const document = (await openApiDocument()) as { components: { schemas: Record<string, Schema> } }
  const types = Object.entries(namedTypes(operationsOf(document), document.components.schemas))
  expect(types.map(([name, schema]) => `${name}: ${shortType(schema)}`).join('\n')).toMatchSnapshot()
})

/** Without descriptions, on one line. */
function shortType(schema: Schema): string {
  const isText = (key: string, value: unknown) => key === 'description' && typeof value === 'string'
  const bare = JSON.stringify(schema, (key, value) => (isText(key, value) ? undefined : value))
  return typeOf(JSON.parse(bare)).replaceAll('\n', ' ')
}

test('operations have the permissions and abilities that they had', async () => {
  const lines = (await allOperations()).map((operation) => {
    const { method, path, id, access, unaudited } = operation
    const { permission, role, testKey, reach, grants } = access
    const abilities = (['idempotent', 'canWait', 'takesNoTurn', 'secretResponse', 'bodyOptional'] as const)
      .filter((name) => operation[name] === true)
      .join(' ')
    return [
      method,
      path,
      id,
      permission,
      role,
      JSON.stringify(testKey),
      reach,
      grants && 'grants',
      unaudited,
      abilities,
    ]
      .filter(Boolean)
      .join(' ')
  })
  expect(lines.join('\n')).toMatchSnapshot()
})

import { expect, test } from 'bun:test'
import { openApiDocument } from '../../scripts/openapi-document.ts'

/** Limits, defaults and fixed values of fields are part of the API, and a number in a schema is easily mistyped. The
 *  snapshot has those of every parameter, body and response; a deliberate change renews it with `bun test -u`. */

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
  'additionalProperties',
])
/** Parts of a path to a schema that say nothing. */
const PLAIN = new Set(['schema', 'content', 'properties', 'application/json', 'paths', 'components', 'schemas'])

/** Part of the document → `path: keyword value, …` of each place that has limits. */
function limitsIn(part: unknown, path: readonly string[] = []): string[] {
  if (typeof part !== 'object' || part === null) return []
  const entries = Object.entries(part).filter(([key]) => key !== 'example' && key !== 'examples')
  const own = entries.filter(([key, value]) => KEYWORDS.has(key) && (typeof value !== 'object' || key === 'default'))
  const named = 'name' in part && typeof part.name === 'string' ? [...path, part.name] : path
  const line = named.filter((step) => !PLAIN.has(step)).join(' ')
  return [
    ...(own.length === 0
      ? []
      : [`${line}: ${own.map(([key, value]) => `${key} ${JSON.stringify(value)}`).join(', ')}`]),
    ...entries.flatMap(([key, value]) =>
      KEYWORDS.has(key) && typeof value !== 'object' ? [] : limitsIn(value, [...named, key]),
    ),
  ]
}

test('fields have the limits, defaults and fixed values that they had', async () => {
  const { paths, components } = (await openApiDocument()) as Record<string, unknown>
  expect(limitsIn({ paths, components }).join('\n')).toMatchSnapshot()
})

import type { Operation, Reference, Schema } from './document.ts'

/** Reference and query → the operations that contain every word, best first: words of path, name and summary count more
 *  than names of parameters and fields, and those more than descriptions. Empty for an empty query. */
export function find(query: string, reference: Reference): Operation[] {
  const words = query.toLowerCase().split(/\s+/).filter(Boolean)
  if (words.length === 0) return []
  return reference.operations
    .map((operation) => ({ operation, score: scoreOf(textsOf(operation, reference), words) }))
    .filter(({ score }) => score > 0)
    .sort((a, b) => b.score - a.score)
    .map(({ operation }) => operation)
}

/** 0 if a word is missing. */
function scoreOf([name, fields, rest]: readonly [string, string, string], words: readonly string[]): number {
  let score = 0
  for (const word of words) {
    const hits = (name.includes(word) ? 16 : 0) + (fields.includes(word) ? 4 : 0) + (rest.includes(word) ? 1 : 0)
    if (hits === 0) return 0
    score += hits
  }
  return score
}

const known = new WeakMap<Operation, readonly [string, string, string]>()

function textsOf(operation: Operation, reference: Reference): readonly [string, string, string] {
  const before = known.get(operation)
  if (before !== undefined) return before
  const { id, method, path, summary, tag, parameters, body, description } = operation
  const fields = body === null ? [] : fieldsOf(body.schema, reference)
  const names = [...parameters.map(({ name }) => name), ...fields]
  const texts = [
    [method, path, id, summary].join(' ').toLowerCase(),
    [tag, ...names].join(' ').toLowerCase(),
    description.toLowerCase(),
  ] as const
  known.set(operation, texts)
  return texts
}

function fieldsOf(schema: Schema, { resolve }: Reference): string[] {
  const { properties, anyOf = [], oneOf = [], allOf = [], items } = resolve(schema)
  const others = [...anyOf, ...oneOf, ...allOf, ...(items === undefined ? [] : [items])]
  return [...Object.keys(properties ?? {}), ...others.flatMap((each) => Object.keys(resolve(each).properties ?? {}))]
}

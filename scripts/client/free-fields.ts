import type { Schema } from './schema-type.ts'

/** Schemas and those of the document by name → the fields that contain a map, such as metadata, or several. The names
 *  inside are data, and camelCase does not change them. Throws for a field that is a map in one place and an object with
 *  fields in another. */
export function freeFields(from: Schema[], schemas: Record<string, Schema>): string[] {
  const maps = new Set<string>()
  const objects = new Set<string>()
  const visited = new Set<string>()
  const visit = (schema: Schema, name: string): void => {
    const { $ref, type, anyOf, oneOf, items, properties, additionalProperties } = schema
    if ($ref !== undefined) {
      const key = `${name} ${$ref}`
      const target = schemas[$ref.slice($ref.lastIndexOf('/') + 1)]
      if (target === undefined || visited.has(key)) return
      visited.add(key)
      visit(target, name)
      return
    }
    for (const each of [...(anyOf ?? []), ...(oneOf ?? [])]) visit(each, name)
    if (items !== undefined) visit(items, name)
    if (properties !== undefined && Object.keys(properties).length > 0) {
      objects.add(name)
      for (const [inner, each] of Object.entries(properties)) visit(each, inner)
    } else if ([type].flat().includes('object') && additionalProperties !== false) maps.add(name)
  }
  for (const schema of from) visit(schema, '')
  maps.delete('')
  const both = [...maps].filter((name) => objects.has(name))
  if (both.length > 0) throw new Error(`fields that are a map and an object: ${both.join(', ')}`)
  return [...maps].toSorted()
}

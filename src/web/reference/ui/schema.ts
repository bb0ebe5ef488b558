import type { Reference, Schema } from './document.ts'

/** More values are listed on request. */
const MOST_VALUES = 12

/** Schema → its type as text: `array of string or null`. */
export function typeOf(schema: Schema): string {
  if (schema.$ref !== undefined) return schema.$ref.split('/').at(-1) ?? ''
  if ('const' in schema) return JSON.stringify(schema.const)
  if (schema.enum !== undefined) {
    const { length } = schema.enum
    return length > MOST_VALUES
      ? `one of ${length} values`
      : schema.enum.map((value) => JSON.stringify(value)).join(', ')
  }
  const choices = schema.anyOf ?? schema.oneOf
  if (choices !== undefined) return choices.map(typeOf).join(' or ')
  if (schema.type === 'array') return `array of ${typeOf(schema.items ?? {})}`
  const type = [schema.type ?? 'anything'].flat().join(' or ')
  return schema.format === undefined ? type : `${type}, ${schema.format}`
}

/** Schema → its limits as text: `1 to 100; default 25`; '' without limits. */
export function limitsOf(schema: Schema): string {
  const { minLength, maxLength, minimum, maximum, minItems, maxItems, pattern } = schema
  return [
    ...range(minimum, maximum, ''),
    ...range(minLength, maxLength, ' characters'),
    ...range(minItems, maxItems, ' entries'),
    ...('default' in schema ? [`default ${JSON.stringify(schema.default)}`] : []),
    ...(pattern !== undefined && pattern.length < 40 ? [pattern] : []),
  ].join('; ')
}

function range(least: number | undefined, most: number | undefined, unit: string): string[] {
  if (least === undefined && most === undefined) return []
  if (least === undefined) return [`at most ${most}${unit}`]
  return [most === undefined ? `at least ${least}${unit}` : `${least} to ${most}${unit}`]
}

/** The objects with fields in a schema: the schema itself, entries of an array, and alternatives. */
export function objectsIn(schema: Schema | undefined, resolve: Reference['resolve']): Schema[] {
  if (schema === undefined) return []
  const whole = resolve(schema)
  if (whole.properties !== undefined) return [whole]
  return [whole.items, ...(whole.anyOf ?? []), ...(whole.oneOf ?? []), ...(whole.allOf ?? [])].flatMap((each) =>
    objectsIn(each, resolve),
  )
}

/** The values of an enumeration that typeOf does not list; [] if it does. */
export function valuesOf(schema: Schema): unknown[] {
  const all = schema.enum ?? schema.items?.enum ?? []
  return all.length > MOST_VALUES ? all : []
}

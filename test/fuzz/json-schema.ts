/** As much of JSON Schema 2020-12 as the OpenAPI document uses, with formats asserted. */

// biome-ignore lint/suspicious/noExplicitAny: JSON
export type Json = any

const patterns = new Map<string, RegExp>()

/** Whether the value matches the schema; `deref` follows references. */
export function fits(given: Json, value: Json, deref: (schema: Json) => Json = (schema) => schema): boolean {
  const schema = deref(given)
  if (schema === true || schema === undefined) return true
  if ('const' in schema && schema.const !== value) return false
  if (schema.enum && !schema.enum.includes(value)) return false
  if (schema.anyOf && !schema.anyOf.some((each: Json) => fits(each, value, deref))) return false
  if (schema.oneOf && schema.oneOf.filter((each: Json) => fits(each, value, deref)).length !== 1) return false
  if (schema.allOf && !schema.allOf.every((each: Json) => fits(each, value, deref))) return false
  if (schema.type && ![schema.type].flat().some((type: string) => isOf(type, value))) return false
  if (typeof value === 'string') return textFits(schema, value)
  if (typeof value === 'number') return value >= (schema.minimum ?? -Infinity) && value <= (schema.maximum ?? Infinity)
  if (Array.isArray(value)) return arrayFits(schema, value, deref)
  return typeof value === 'object' && value !== null ? objectFits(schema, value, deref) : true
}

/** A choice combined with the keywords beside all choices. */
export function mergedWith({ anyOf: _, oneOf: __, ...rest }: Json, choice: Json): Json {
  return Object.keys(rest).length === 0 || choice.$ref !== undefined ? choice : { ...rest, ...choice }
}

function isOf(type: string, value: Json): boolean {
  if (type === 'null') return value === null
  if (type === 'array') return Array.isArray(value)
  if (type === 'integer') return Number.isInteger(value)
  if (type === 'object') return typeof value === 'object' && value !== null && !Array.isArray(value)
  return typeof value === type
}

function textFits({ minLength = 0, maxLength = Infinity, pattern, format }: Json, text: string): boolean {
  const length = [...text].length
  if (length < minLength || length > maxLength || !text.isWellFormed()) return false // JSON Schema is defined over Unicode text
  if (pattern !== undefined) {
    const known = patterns.get(pattern) ?? new RegExp(pattern, 'u')
    patterns.set(pattern, known)
    if (!known.test(text)) return false
  }
  return format === undefined || FORMATS[format]!(text)
}

const FORMATS: Record<string, (text: string) => boolean> = {
  'date-time': isDateTime,
  email: (text) => /^[ -~]+@[ -~]+$/.test(text) && text.trim() === text,
  uri: (text) => /^[!-~]+$/.test(text) && URL.canParse(text),
}

/** RFC 3339 §5.6 and §5.7. */
function isDateTime(text: string): boolean {
  const parts =
    /^(\d{4})-(\d\d)-(\d\d)[Tt]([01]\d|2[0-3]):[0-5]\d:([0-5]\d|60)(?:\.\d+)?(?:[Zz]|[+-](?:[01]\d|2[0-3]):[0-5]\d)$/.exec(
      text,
    )
  if (parts === null) return false
  const [, year, month, day] = parts.map(Number) as [number, number, number, number]
  return month >= 1 && month <= 12 && day >= 1 && day <= new Date(Date.UTC(2000 + (year % 400), month, 0)).getUTCDate()
}

function arrayFits(schema: Json, value: Json[], deref: (schema: Json) => Json): boolean {
  if (value.length < (schema.minItems ?? 0) || value.length > (schema.maxItems ?? Infinity)) return false
  if (schema.uniqueItems && new Set(value.map((each) => JSON.stringify(each))).size < value.length) return false
  return value.every((each) => fits(schema.items, each, deref))
}

function objectFits(schema: Json, value: Record<string, Json>, deref: (schema: Json) => Json): boolean {
  const names = Object.keys(value)
  if (names.length > (schema.maxProperties ?? Infinity)) return false
  if ((schema.required ?? []).some((name: string) => !Object.hasOwn(value, name))) return false
  return names.every((name) => {
    if (schema.propertyNames && !fits(schema.propertyNames, name, deref)) return false
    const own = Object.hasOwn(schema.properties ?? {}, name) ? schema.properties[name] : schema.additionalProperties
    return own !== false && fits(own, value[name], deref)
  })
}

/** JSON Schema as our document has it (2020-12) → TypeScript. */
export interface Schema {
  $ref?: string
  type?: string | string[]
  const?: unknown
  enum?: unknown[]
  anyOf?: Schema[]
  oneOf?: Schema[]
  items?: Schema
  properties?: Record<string, Schema>
  required?: string[]
  additionalProperties?: boolean | Schema
  description?: string
}

/** A schema → the type of its values; `unknown` where it says nothing. The server checks formats and limits. Throws
 *  on an unsupported keyword. */
export function typeOf(schema: Schema): string {
  const { $ref, type, anyOf, oneOf } = schema
  if ($ref !== undefined) return nameOf($ref.slice($ref.lastIndexOf('/') + 1))
  if ('allOf' in schema || 'prefixItems' in schema)
    throw new Error(`cannot say this in types: ${JSON.stringify(schema)}`)
  if ('const' in schema) return JSON.stringify(schema.const)
  if (schema.enum !== undefined) return union(schema.enum.map((value) => JSON.stringify(value)))
  const choices = anyOf ?? oneOf
  if (choices !== undefined) return union(choices.map(typeOf))
  if (Array.isArray(type)) return union(type.map((each) => typeOf({ ...schema, type: each })))
  switch (type) {
    case 'string':
    case 'boolean':
    case 'null':
      return type
    case 'integer':
    case 'number':
      return 'number'
    case 'array':
      return `Array<${typeOf(schema.items ?? {})}>`
    case 'object':
      return objectOf(schema)
    case undefined:
      return 'unknown'
    default:
      throw new Error(`no such type: ${type}`)
  }
}

/** The members of an object, each with its description, in braces. */
export function membersOf({ properties = {}, required = [], additionalProperties }: Schema): string {
  const members = Object.entries(properties).map(([name, schema]) => {
    const mark = required.includes(name) ? '' : '?'
    return `${comment(schema.description)}${propertyName(name)}${mark}: ${typeOf(schema)}`
  })
  // Any others beside the named ones.
  if (typeof additionalProperties === 'object') members.push('[name: string]: unknown')
  return `{\n${members.join('\n')}\n}`
}

/** Text → a doc comment followed by a line break; '' for no text. */
export function comment(text: string | undefined): string {
  if (!text) return ''
  const lines = text.replaceAll('*/', '*\\/').split('\n')
  if (lines.length === 1) return `/** ${lines[0]} */\n`
  return `/** ${lines.join('\n *  ').replace(/ +$/gm, '')} */\n`
}

function objectOf(schema: Schema): string {
  const { properties = {}, additionalProperties } = schema
  if (Object.keys(properties).length > 0) return membersOf(schema)
  if (typeof additionalProperties === 'object') return `Record<string, ${typeOf(additionalProperties)}>`
  return additionalProperties === false ? 'Record<string, never>' : 'Record<string, unknown>'
}

const union = (types: string[]) => [...new Set(types)].join(' | ')
/** `Error` is already a global type where these types are used. */
const nameOf = (name: string) => (name === 'Error' ? 'ApiError' : name)
const propertyName = (name: string) => (/^[a-z_$][\w$]*$/i.test(name) ? name : JSON.stringify(name))

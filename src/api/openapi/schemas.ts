import { z } from 'zod'

export type Json = Record<string, unknown>

/** Named schemas, collected for `components.schemas`. */
export interface Schemas {
  /** Schema of a request: before defaults and transforms. */
  ofRequest(schema: z.ZodType): Json
  /** Schema of a response. Schemas with an ID (`.meta({ id })`) are added to `named` and referenced. */
  ofAnswer(schema: z.ZodType): Json
  /** Adds a named schema and returns its reference. */
  name(name: string, schema: Json): Json
  readonly named: Record<string, Json>
}

/** zod schemas → JSON Schema 2020-12 for OpenAPI 3.1, from the same schemas that validate requests. Checks in code are
 *  covered by descriptions. Throws if two different schemas have the same name. */
export function createSchemas(): Schemas {
  const named: Record<string, Json> = {}
  const convert = (schema: z.ZodType, io: 'input' | 'output'): Json => {
    const { $schema: _, $defs = {}, ...rest } = z.toJSONSchema(schema, { ...JSON_SCHEMA_OPTIONS, io })
    for (const [name, definition] of Object.entries($defs)) put(name, inComponents(definition as Json))
    return inComponents(rest)
  }
  const put = (name: string, schema: Json) => {
    if (named[name] !== undefined && JSON.stringify(named[name]) !== JSON.stringify(schema)) {
      throw new Error(`two schemas are named ${name}`)
    }
    named[name] = schema
  }
  return {
    ofRequest: (schema) => convert(schema, 'input'),
    ofAnswer: (schema) => convert(schema, 'output'),
    name(name, schema) {
      put(name, schema)
      return { $ref: `#/components/schemas/${name}` }
    },
    named,
  }
}

const JSON_SCHEMA_OPTIONS = { target: 'draft-2020-12', unrepresentable: 'any' } as const

/** JSON.stringify also drops undefined values, which a `meta` can use to remove a keyword. */
function inComponents(schema: Json): Json {
  return JSON.parse(JSON.stringify(schema), (key, value) => {
    if (key === '$ref' && typeof value === 'string') return value.replace('#/$defs/', '#/components/schemas/')
    return key === 'maximum' && value === Number.MAX_SAFE_INTEGER ? undefined : value
  })
}

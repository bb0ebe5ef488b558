import { z } from 'zod'

export type Json = Record<string, unknown>

/** Schemas that have a name, each once, as they are gathered for `components.schemas`. */
export interface Schemas {
  /** What a caller may send: before defaults and transforms. */
  ofRequest(schema: z.ZodType): Json
  /** What is answered. Schemas with an id (`.meta({ id })`) stand in `named`, and are referred to. */
  ofAnswer(schema: z.ZodType): Json
  /** Puts a schema under a name and answers the reference to it. */
  name(name: string, schema: Json): Json
  readonly named: Record<string, Json>
}

/** zod schemas → JSON Schema 2020-12 as OpenAPI 3.1 wants it, from the very schemas that validate. What zod checks in
 *  code is in their descriptions. Throws when two different schemas have one name. */
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

/** JSON.stringify also drops what is undefined, which a `meta` may use to take a keyword away. */
function inComponents(schema: Json): Json {
  return JSON.parse(JSON.stringify(schema), (key, value) => {
    if (key === '$ref' && typeof value === 'string') return value.replace('#/$defs/', '#/components/schemas/')
    return key === 'maximum' && value === Number.MAX_SAFE_INTEGER ? undefined : value
  })
}

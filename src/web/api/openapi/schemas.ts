import { z } from 'zod'

/** A JSON object. */
export type Json = Record<string, unknown>

/** Converts zod schemas to JSON Schema and collects the named ones for `components.schemas`. */
export interface Schemas {
  /** Converts the schema of a request, as it is before defaults and transforms. */
  ofRequest(schema: z.ZodType): Json
  /** Converts the schema of a response. Schemas with an ID (`.meta({ id })`) are added to `named` and referenced. */
  ofAnswer(schema: z.ZodType): Json
  /** Adds a named schema and returns a reference to it. */
  name(name: string, schema: Json): Json
  /** The named schemas so far. */
  readonly named: Record<string, Json>
}

/** Creates an empty Schemas. It converts the zod schemas that also validate requests to JSON Schema 2020-12 for OpenAPI
 *  3.1. Checks in functions appear only in descriptions. Its methods throw an Error if two different schemas have the
 *  same name. */
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

/** Schema of a request → JSON Schema 2020-12 that is complete by itself: schemas with an ID are in `$defs`. */
export function wholeSchema(schema: z.ZodType): Json {
  const { $schema: _, ...rest } = z.toJSONSchema(schema, { ...JSON_SCHEMA_OPTIONS, io: 'input' })
  return JSON.parse(JSON.stringify(rest), withoutDefaultMaximum)
}

const JSON_SCHEMA_OPTIONS = { target: 'draft-2020-12', unrepresentable: 'any' } as const

/** Rewrites references to point to `components.schemas`. Removes keywords with the value undefined, with which a `meta`
 *  removes a generated keyword, and zod's default maximum of integers. */
function inComponents(schema: Json): Json {
  return JSON.parse(JSON.stringify(schema), (key, value) => {
    if (key === '$ref' && typeof value === 'string') return value.replace('#/$defs/', '#/components/schemas/')
    return withoutDefaultMaximum(key, value)
  })
}

const withoutDefaultMaximum = (key: string, value: unknown) =>
  key === 'maximum' && value === Number.MAX_SAFE_INTEGER ? undefined : value

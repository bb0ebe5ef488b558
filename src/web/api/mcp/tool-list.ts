import { type Json, wholeSchema } from '../openapi/schemas.ts'
import type { Operation, Tool } from '../operation.ts'
import { pathNames } from './arguments.ts'

/** Tools and their operations → the `tools` of `tools/list`. The input schema of a tool is that of the operation's path,
 *  query and body, which also validates the call, without patterns. */
export function listTools(tools: readonly { tool: Tool; operation: Operation }[]): Json[] {
  return tools.map(({ tool, operation }) => ({
    name: tool.name,
    title: operation.summary,
    description: tool.description,
    inputSchema: inputSchema(tool, operation),
    annotations: annotationsOf(operation),
  }))
}

function inputSchema({ without = [] }: Tool, operation: Operation): Json {
  const schema = operation.query ?? operation.body
  const {
    properties = {},
    required = [],
    'x-parameters': _,
    ...others
  } = (schema === undefined ? {} : withoutPatterns(wholeSchema(schema))) as ObjectSchema
  const names = pathNames(operation)
  const own = Object.entries(properties).filter(([name]) => !without.includes(name))
  return {
    additionalProperties: false,
    ...others,
    type: 'object',
    properties: {
      ...Object.fromEntries(names.map((name) => [name, { type: 'string', ...PATH_INPUTS[name] }])),
      ...Object.fromEntries(own),
      ...(operation.idempotent && { idempotency_key: IDEMPOTENCY_KEY }),
    },
    required: [...names, ...required],
  }
}

interface ObjectSchema extends Json {
  properties?: Record<string, Json>
  required?: string[]
}

/** The server checks patterns in any case. A model cannot apply regular expressions of 800 characters, not every client
 *  can compile them, and they would be a third of the list. */
function withoutPatterns(schema: Json): Json {
  return JSON.parse(JSON.stringify(schema), (key, value) =>
    key === 'pattern' && typeof value === 'string' ? undefined : value,
  )
}

const PATH_INPUTS: Record<string, Json> = {
  id_or_email: { description: 'ID of a suppression, or an address, which selects all its suppressions.' },
  template_id: { description: 'ID or alias of a template.' },
}

const IDEMPOTENCY_KEY: Json = {
  type: 'string',
  minLength: 1,
  maxLength: 255,
  description: 'A new random text for each change. A second call with the same text changes nothing.',
}

/** Hints for the client, which may ask a person before some calls. */
function annotationsOf({ method, unaudited }: Operation): Json {
  const readOnlyHint = method === 'GET' || unaudited === 'looks'
  return {
    readOnlyHint,
    ...(!readOnlyHint && { destructiveHint: method === 'DELETE' }),
    // Messages come from and go to anybody.
    openWorldHint: true,
  }
}

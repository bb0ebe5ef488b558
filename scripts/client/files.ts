import { join } from 'node:path'
import pkg from '../../package.json' with { type: 'json' }
import { freeFields } from './free-fields.ts'
import { type ClientOperation, camel, operationsOf } from './operations.ts'
import { comment, membersOf, type Schema, typeOf } from './schema-type.ts'

const ROOT = join(import.meta.dir, '../..')
const HEAD = '// Generated from the OpenAPI document by scripts/client-types.ts.\n\n'

// biome-ignore lint/suspicious/noExplicitAny: JSON
type Json = any

/** OpenAPI document → the generated files of src/client, by name, formatted. The same document gives the same files.
 *  Throws for a part of the document that the client cannot express. */
export function clientFiles(
  document: Json,
): Record<'answers.ts' | 'api.ts' | 'api-camel.ts' | 'types.ts' | 'routes.ts', string> {
  const operations = operationsOf(document)
  return {
    'answers.ts': formatted('answers.ts', answersFile(operations)),
    'api.ts': formatted('api.ts', apiFile(operations)),
    'api-camel.ts': formatted('api-camel.ts', apiCamelFile(operations)),
    'types.ts': formatted('types.ts', typesFile(operations, document.components.schemas)),
    'routes.ts': formatted('routes.ts', routesFile(operations, freeIn(operations, document.components.schemas))),
  }
}

function typesFile(operations: ClientOperation[], schemas: Record<string, Schema>): string {
  const declarations = Object.entries(namedTypes(operations, schemas)).map(([name, schema]) =>
    declared(typeOf({ $ref: name }), schema),
  )
  return HEAD + declarations.join('\n\n')
}

/** Every schema of the client by the name of its type: those of the document that it uses, in order, then the bodies,
 *  queries and responses that have no name there. `Error` keeps its name here. */
export function namedTypes(operations: ClientOperation[], schemas: Record<string, Schema>): Record<string, Schema> {
  const used = reachable([...POSTED.map((name) => ({ $ref: `/${name}` })), ...operations.flatMap(schemasOf)], schemas)
  const inputs = operations.flatMap((operation): [string, Schema][] => {
    const { id, body, query } = operation
    const answer = ownAnswerOf(operation)
    return [
      ...(body === null || body.$ref !== undefined ? [] : [[`${pascal(id)}Body`, body] as [string, Schema]]),
      ...(query === null ? [] : [[`${pascal(id)}Query`, query] as [string, Schema]]),
      ...(answer === null ? [] : [[`${pascal(id)}Answer`, answer] as [string, Schema]]),
    ]
  })
  return Object.fromEntries([...Object.entries(schemas).filter(([name]) => used.has(name)), ...inputs])
}

function apiFile(operations: ClientOperation[]): string {
  const api = `/** Every operation that an API key can call. */\nexport interface Api ${membersIn(treeOf(operations), false)}`
  return withImports(api, {
    './call.ts': ['Call', 'CallOptions', 'KeyedOptions', 'SendOptions'],
    './event-stream.ts': ['EventStream'],
    './pages.ts': ['Pages'],
    './typed-templates.ts': ['TypedTemplates'],
  })
}

function apiCamelFile(operations: ClientOperation[]): string {
  const about = 'Api for a client with the option `camelCase`. The comments are those of Api.'
  return withImports(`/** ${about} */\nexport interface ApiCamel ${membersIn(treeOf(operations), true)}`, {
    './call.ts': ['Call', 'CallOptions', 'KeyedOptions', 'SendOptions'],
    './camel.ts': ['Camel'],
    './event-stream.ts': ['EventStream'],
    './pages.ts': ['Pages'],
    './typed-templates.ts': ['TypedTemplates'],
  })
}

/** For programs of this repository that name an operation by its id. The package does not contain it. */
function answersFile(operations: ClientOperation[]): string {
  const json = operations.filter(({ answers, isStream }) => !isStream && answers['application/json'] !== undefined)
  const [lists, others] = [json.filter(({ isList }) => isList), json.filter(({ isList }) => !isList)]
  const members = (of: ClientOperation[], typeIn: (operation: ClientOperation) => string) =>
    of.map((each) => `${each.id}: ${typeIn(each)}`).join('\n')
  const routes = operations.map(
    ({ id, method, path, isKeyed, isRepeatable }) =>
      `${id}: { method: '${method}', path: '${path}', isKeyed: ${isKeyed}, isRepeatable: ${isRepeatable} },`,
  )
  const types = withImports(
    `/** The JSON that each operation answers, except for lists. */\nexport interface Answers {\n${members(others, bodyTypeOf)}\n}\n\n` +
      `/** The records of each list. */\nexport interface Lists {\n${members(lists, recordTypeOf)}\n}`,
    {},
  )
  return `${types}\n\n/** Every operation for API keys, by its id. */\nexport const OPERATIONS = {\n${routes.join('\n')}\n} as const\n`
}

/** Declarations → a file that imports what they use. */
function withImports(api: string, from: Record<string, string[]>): string {
  const imported = Object.entries(from)
  const others = new Set([
    'Answers',
    'Api',
    'ApiCamel',
    'Lists',
    'Uint8Array',
    ...imported.flatMap(([, names]) => names),
  ])
  // Names of types are the only capitalized words outside comments.
  const words = api.replace(/\/\*\*[\s\S]*?\*\//g, '').match(/\b[A-Z]\w*/g) ?? []
  const types = [...new Set(words)].filter((name) => !others.has(name)).toSorted(byName)
  const imports = [...imported, ['./types.ts', types] as const]
  return [
    HEAD + imports.map(([file, names]) => `import type { ${names.join(', ')} } from '${file}'`).join('\n'),
    api,
  ].join('\n\n')
}

/** Bodies posted to webhooks and inbound routes, which no operation returns. */
const POSTED = ['Event', 'InboundReceived']

const schemasOf = ({ body, query, answers }: ClientOperation) => [body ?? {}, query ?? {}, ...Object.values(answers)]

/** The names of all schemas that these refer to, directly or through others. */
function reachable(from: Schema[], schemas: Record<string, Schema>): Set<string> {
  const found = new Set<string>()
  const visit = (schema: Schema) => {
    for (const [, name = ''] of JSON.stringify(schema).matchAll(/"\$ref":"[^"]*\/(\w+)"/g)) {
      if (found.has(name)) continue
      found.add(name)
      visit(schemas[name]!)
    }
  }
  for (const schema of from) visit(schema)
  return found
}

function declared(name: string, schema: Schema): string {
  const isObject = schema.type === 'object' && Object.keys(schema.properties ?? {}).length > 0
  return (
    comment(schema.description) +
    (isObject ? `export interface ${name} ${membersOf(schema)}` : `export type ${name} = ${typeOf(schema)}`)
  )
}

export interface Tree {
  [name: string]: ClientOperation | Tree
}

export const isOperation = (entry: ClientOperation | Tree): entry is ClientOperation => Array.isArray(entry.names)

export function treeOf(operations: ClientOperation[]): Tree {
  const tree: Tree = {}
  for (const operation of operations) {
    let at = tree
    for (const name of operation.names.slice(0, -1)) {
      at[name] ??= {}
      at = at[name] as Tree
    }
    const last = operation.names.at(-1)!
    if (at[last] !== undefined) throw new Error(`two operations are called ${operation.names.join('.')}`)
    at[last] = operation
  }
  return tree
}

function membersIn(tree: Tree, isCamel: boolean): string {
  const members = Object.entries(tree).map(([name, entry]) =>
    isOperation(entry) ? signaturesOf(entry, isCamel) : `${name}: ${membersIn(entry, isCamel)}`,
  )
  return `{\n${members.join('\n')}\n}`
}

/** `body?: SendMessage`, `Call<Message>`, `EventStream` → the same in camelCase. */
function inCamel(type: string): string {
  if (type === 'EventStream') return 'EventStream<Camel<Event>>'
  const [, head = '', inner = type, end = ''] = /^(\w+\??: |Call<|Pages<)(.*?)(>?)$/.exec(type) ?? []
  return /^(?:string|Uint8Array|\{.*)$/.test(inner) ? type : `${head}Camel<${inner}>${end}`
}

function signaturesOf(operation: ClientOperation, isCamel: boolean): string {
  const { ids, names, text } = operation
  const given = ids.map((id) => `${camel(id)}: ${id === 'number' ? 'number' : 'string'}`)
  const name = names.at(-1)!
  const own = OVERLOADS[operation.id]
  const signatures = own ?? [{ input: inputOf(operation), answer: answerOf(operation) }]
  return signatures
    .map(({ input, answer }) => {
      const untyped = isCamel ? input.map(inCamel) : input
      const inputs = SENDING.includes(operation.id) ? untyped.map(withTypedTemplates) : untyped
      const parameters = [...given, ...inputs, `options?: ${optionsOf(operation)}`].join(', ')
      return isCamel
        ? `${name}(${parameters}): ${inCamel(answer)}`
        : `${comment(text)}${name}(${parameters}): ${answer}`
    })
    .join('\n')
}

/** Operations whose bodies name templates that `postrider-templates types` has types for. */
const SENDING = ['messages_send', 'messages_batch']

/** `body: SendMessage` → `body: TypedTemplates<SendMessage>`. */
function withTypedTemplates(input: string): string {
  return input.replace(/^(body: )(.*)$/, '$1TypedTemplates<$2>')
}

/** The response type depends on the request, which the document describes in words only. */
const OVERLOADS: Record<string, { input: string[]; answer: string }[]> = {
  messages_content: [
    { input: ['query?: { part?: undefined }'], answer: 'Call<MessageContent>' },
    { input: ["query: { part: 'html' | 'text' }"], answer: 'Call<string>' },
    { input: ["query: { part: 'raw' }"], answer: 'Call<Uint8Array>' },
  ],
}

function inputOf({ id, body, query }: ClientOperation): string[] {
  if (body !== null && query !== null) throw new Error(`${id} takes a body and a query`)
  const input = body ?? query
  if (input === null) return []
  const type = input.$ref === undefined ? pascal(id) + (body === null ? 'Query' : 'Body') : typeOf(input)
  return [`${body === null ? 'query' : 'body'}${input.isRequired ? '' : '?'}: ${type}`]
}

/** The JSON of a response without a name in the document; null for all others. */
export function ownAnswerOf({ isList, answers }: ClientOperation): Schema | null {
  const schema = answers['application/json']
  return schema === undefined || schema.$ref !== undefined || isList ? null : schema
}

function answerOf(operation: ClientOperation): string {
  if (operation.isStream) return 'EventStream'
  return operation.isList ? `Pages<${recordTypeOf(operation)}>` : `Call<${bodyTypeOf(operation)}>`
}

function recordTypeOf({ answers }: ClientOperation): string {
  return typeOf(answers['application/json']!.properties!.data!.items!)
}

function bodyTypeOf(operation: ClientOperation): string {
  const { id, answers } = operation
  const types = Object.entries(answers).map(([type, schema]) => {
    if (type === 'application/json') return ownAnswerOf(operation) === null ? typeOf(schema) : `${pascal(id)}Answer`
    return type.startsWith('text/') ? 'string' : 'Uint8Array'
  })
  return [...new Set(types)].join(' | ')
}

function optionsOf({ canWait, isKeyed }: ClientOperation): string {
  return canWait ? 'SendOptions' : isKeyed ? 'KeyedOptions' : 'CallOptions'
}

export const isRaw = ({ isStream, answers }: ClientOperation) =>
  !isStream && Object.keys(answers).some((type) => type !== 'application/json')

/** Fields with a map, of requests and of responses. */
function freeIn(operations: ClientOperation[], schemas: Record<string, Schema>) {
  const asked = operations.flatMap(({ body, query }) => [body ?? {}, query ?? {}])
  const shown = [{ $ref: '/Event' }, ...operations.flatMap(({ answers }) => Object.values(answers))]
  return { asked: freeFields(asked, schemas), shown: freeFields(shown, schemas) }
}

function routesFile(operations: ClientOperation[], free: Record<'asked' | 'shown', string[]>): string {
  const entry = (operation: ClientOperation) =>
    JSON.stringify({
      method: operation.method,
      path: operation.path,
      takes: operation.body !== null ? 'body' : operation.query !== null ? 'query' : undefined,
      isKeyed: operation.isKeyed || undefined,
      isRepeatable: operation.isRepeatable || undefined,
      isList: operation.isList || undefined,
      isRaw: isRaw(operation) || undefined,
      isStream: operation.isStream || undefined,
    })
  const table = (tree: Tree): string =>
    `{\n${Object.entries(tree)
      .map(([name, each]) => `${name}: ${isOperation(each) ? entry(each) : table(each)},`)
      .join('\n')}\n}`
  return [
    `${HEAD}import type { Routes } from './route.ts'`,
    `/** Of the client, and of the API that it was made for. */\nexport const VERSION = '${pkg.version}'`,
    `/** Fields of requests and responses with a map, whose names are data. */\nexport const FREE_FIELDS: Record<'asked' | 'shown', readonly string[]> = ${JSON.stringify(free)}`,
    `/** Every operation for API keys, by its place in the client. */\nexport const ROUTES = ${table(treeOf(operations))} satisfies Routes`,
  ].join('\n\n')
}

/** Formatted like Biome. */
export function formatted(name: string, text: string): string {
  const run = Bun.spawnSync([process.execPath, 'x', 'biome', 'format', `--stdin-file-path=src/client/${name}`], {
    cwd: ROOT,
    stdin: Buffer.from(text),
  })
  if (run.exitCode !== 0) throw new Error(`${name} cannot be formatted: ${run.stderr}`)
  return run.stdout.toString()
}

export function pascal(id: string): string {
  const name = camel(id)
  return name[0]!.toUpperCase() + name.slice(1)
}

/** Sorted like the linter's imports: ignoring case. */
const byName = (a: string, b: string) => (a.toLowerCase() < b.toLowerCase() ? -1 : 1)

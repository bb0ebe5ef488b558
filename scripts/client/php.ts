import pkg from '../../package.json' with { type: 'json' }
import { errorName, errorTexts } from './errors.ts'
import { formatted, isOperation, isRaw, namedTypes, ownAnswerOf, pascal, type Tree, treeOf } from './files.ts'
import { filled } from './filled.ts'
import { type ClientOperation, camel, operationsOf } from './operations.ts'
import { licence, readmeOf } from './readme.ts'
import type { Schema } from './schema-type.ts'

const HEAD = `<?php

// Generated from the OpenAPI document by scripts/client-types.ts.

declare(strict_types=1);

namespace Postrider;
`

// biome-ignore lint/suspicious/noExplicitAny: JSON
type Json = any

/** OpenAPI document → the generated files of the PHP client, by their path in dist/clients. The types are array shapes as
 *  PHPStan and Psalm read them. Throws for what they cannot express. */
export function phpFiles(document: Json): Record<string, string> {
  const operations = operationsOf(document)
  return {
    'php/composer.json': formatted('php/composer.json', JSON.stringify(PACKAGE)),
    'php/README.md': readmeOf('php', 'PHP'),
    'php/LICENSE': licence(),
    'php/src/errors.php': errorsFile(document),
    'php/src/types.php': typesFile(namedTypes(operations, document.components.schemas)),
    'php/src/api.php': apiFile(operations),
  }
}

const PACKAGE = {
  name: 'postrider/postrider',
  description: 'Client for a Postrider server: send mail, follow its delivery, verify webhooks',
  type: 'library',
  license: pkg.license,
  version: pkg.version,
  require: { php: '>=8.1', 'ext-curl': '*' },
  autoload: { classmap: ['src/'] },
}

function errorsFile(document: Json): string {
  const texts = Object.entries(errorTexts(document))
  const classes = texts.map(([code, text]) => `${doc(text, '')}class ${errorName(code)} extends PostriderError\n{\n}\n`)
  const entries = texts.map(([code]) => `        '${code}' => ${errorName(code)}::class,\n`)
  const table = `/** Error code → class. */\nfinal class Errors\n{\n    public const CLASSES = [\n${entries.join('')}    ];\n}\n`
  return [HEAD, ...classes, table].join('\n')
}

function typesFile(types: Record<string, Schema>): string {
  const lines = Object.entries(types).map(
    ([name, schema]) => ` * @phpstan-type ${nameOf(name)} ${typeOf(schema, ' * ')}`,
  )
  return `${HEAD}\n/**\n * The types of requests and responses.\n *\n${lines.join('\n')}\n */\nfinal class Types\n{\n}\n`
}

/** A schema → its type. `indent` starts each further line. */
function typeOf(schema: Schema, indent: string): string {
  const { $ref, type, anyOf, oneOf, items, additionalProperties } = schema
  if ($ref !== undefined) return nameOf($ref.slice($ref.lastIndexOf('/') + 1))
  if ('const' in schema) return literal(schema.const)
  if (schema.enum !== undefined) return union(schema.enum.map(literal))
  const choices = anyOf ?? oneOf
  if (choices !== undefined) return union(choices.map((each) => typeOf(each, indent)))
  if (Array.isArray(type)) return union(type.map((each) => typeOf({ ...schema, type: each }, indent)))
  if (type === 'array') return `list<${typeOf(items ?? {}, indent)}>`
  if (type === 'object') {
    if (Object.keys(schema.properties ?? {}).length > 0) return shapeOf(schema, indent)
    const value = typeof additionalProperties === 'object' ? typeOf(additionalProperties, indent) : 'mixed'
    return `array<string, ${value}>`
  }
  const plain = PLAIN[type ?? '']
  if (plain === undefined) throw new Error(`no such type: ${type}`)
  return plain
}

function shapeOf({ properties = {}, required = [], additionalProperties }: Schema, indent: string): string {
  const inner = `${indent}    `
  const members = Object.entries(properties).map(
    ([name, schema]) => `${inner}${name}${required.includes(name) ? '' : '?'}: ${typeOf(schema, inner)},\n`,
  )
  if (typeof additionalProperties === 'object') members.push(`${inner}...\n`)
  return `array{\n${members.join('')}${indent}}`
}

const PLAIN: Record<string, string> = {
  string: 'string',
  boolean: 'bool',
  integer: 'int',
  number: 'int|float',
  null: 'null',
  '': 'mixed',
}

const literal = (value: unknown) => (typeof value === 'string' ? `'${value.replaceAll("'", "\\'")}'` : String(value))

function union(types: string[]): string {
  const different = [...new Set(types.flatMap((type) => (type.includes('{') ? type : type.split('|'))))]
  return different.includes('mixed') ? 'mixed' : different.join('|')
}

/** Error is a class of PHP. */
const nameOf = (name: string) => (name === 'Error' ? 'ApiError' : name)

function apiFile(operations: ClientOperation[]): string {
  const tree = treeOf(operations)
  const main = `/** A method for every operation that an API key can call. */
final class Postrider
{
    public const VERSION = '${pkg.version}';
${membersOf(tree, '')}
    /**
     * \`$baseUrl\` and \`$apiKey\` default to the environment variables POSTRIDER_URL and POSTRIDER_API_KEY.
     * \`$timeoutSeconds\` is that of a call including its retries. Throws an InvalidArgumentException if URL or key is
     * missing or invalid.
     */
    public function __construct(
        ?string $baseUrl = null,
        #[\\SensitiveParameter]
        ?string $apiKey = null,
        float $timeoutSeconds = 10.0,
        int $maxRetries = 2,
        ?Clock $clock = null,
    ) {
        $wire = new Wire($baseUrl, $apiKey, $timeoutSeconds, $maxRetries, $clock ?? new Clock());
${settersOf(tree, '')}    }
}
`
  return [HEAD, ...resourcesOf(tree, ''), main].join('\n')
}

/** The classes of the resources, inner ones first. */
function resourcesOf(tree: Tree, prefix: string): string[] {
  return Object.entries(tree).flatMap(([name, entry]) => {
    if (isOperation(entry)) return []
    const own = prefix + pascal(name)
    const methods = Object.values(entry).filter(isOperation).map(methodOf)
    const members = membersOf(entry, own)
    const setters = settersOf(entry, own)
    const setUp = `    public function __construct(private readonly Wire $wire)\n    {\n${setters}    }\n`
    const used = new Set(
      methods.flatMap((each) => [...each.matchAll(/@(?:param|return) [^$\n]*/g)].join(' ').match(/\b[A-Z]\w+/g) ?? []),
    )
    const imports = [...used].filter((each) => each !== 'Pages' && each !== 'EventStream').toSorted()
    const head = `/**\n${imports.map((each) => ` * @phpstan-import-type ${each} from Types\n`).join('')} */\n`
    return [
      ...resourcesOf(entry, own),
      `${imports.length === 0 ? '' : head}final class ${own}\n{\n${members}${members && '\n'}${[setUp, ...methods].join('\n')}}\n`,
    ]
  })
}

const resourcesIn = (tree: Tree) => Object.entries(tree).flatMap(([name, entry]) => (isOperation(entry) ? [] : [name]))

const membersOf = (tree: Tree, prefix: string) =>
  resourcesIn(tree)
    .map((name) => `    public readonly ${prefix}${pascal(name)} $${name};\n`)
    .join('')

const settersOf = (tree: Tree, prefix: string) =>
  resourcesIn(tree)
    .map((name) => `        $this->${name} = new ${prefix}${pascal(name)}(${prefix === '' ? '' : '$this->'}$wire);\n`)
    .map((line) => line.replace('$this->$wire', '$this->wire'))
    .join('')

function methodOf(operation: ClientOperation): string {
  const { ids, names, method, path, text, body, query, isList, isStream, isKeyed, isRepeatable, canWait } = operation
  const input = body ?? query
  const kind = body === null ? 'query' : 'body'
  const type = answerOf(operation)
  const parameters = [
    ...ids.map((id) => `${id === 'number' ? 'int' : 'string'} $${camel(id)}`),
    ...(input === null ? [] : [input.isRequired ? `array $${kind}` : `array $${kind} = []`]),
    ...(isKeyed ? ['?string $idempotencyKey = null'] : []),
    ...(canWait ? ['int $waitSeconds = 0'] : []),
    '?float $timeoutSeconds = null',
    '?int $maxRetries = null',
  ]
  const given = [
    '$this->wire',
    `'${method}'`,
    `'${path}'`,
    `[${ids.map((id) => `$${camel(id)}`).join(', ')}]`,
    ...(input === null ? [] : [isList || isStream ? 'query: [...$query, ...$more]' : `${kind}: $${kind}`]),
    ...(isStream ? ["accept: 'text/event-stream'"] : []),
    ...(method !== 'POST' || isKeyed || isRepeatable ? [] : ['isRepeatable: false']),
    ...(isRaw(operation) ? ['isRaw: true'] : []),
    ...(isKeyed ? ['isKeyed: true', 'idempotencyKey: $idempotencyKey'] : []),
    ...(canWait ? ['waitSeconds: $waitSeconds'] : []),
    'timeoutSeconds: $timeoutSeconds',
    'maxRetries: $maxRetries',
  ]
  const request = `new Request(\n${given.map((each) => `            ${each},\n`).join('')}        )`
  const repeated = `$this->wire, fn (array $more) => ${request}`
  const result = isList
    ? `new Pages(${repeated})`
    : isStream
      ? `new EventStream(${repeated}, $query['after'] ?? null)`
      : `$this->wire->exchange(${request})`
  const annotated = `${text.trim()}\n\n${input === null ? '' : `@param ${inputOf(operation)} $${kind}\n`}@return ${type}`
  return `${doc(annotated, '    ')}    public function ${names.at(-1)}(
${parameters.map((each) => `        ${each},\n`).join('')}    ): ${nativeOf(type)} {
        return ${result};
    }
`
}

/** The type that PHP itself checks. */
function nativeOf(type: string): string {
  const generic = /^(Pages|EventStream)</.exec(type)?.[1]
  if (generic !== undefined) return generic
  const natives = type.split('|').map((each) => (each === 'string' ? 'string' : 'array'))
  return [...new Set(natives)].join('|')
}

function inputOf({ id, body, query }: ClientOperation): string {
  const input = (body ?? query)!
  return input.$ref === undefined ? `${pascal(id)}${body === null ? 'Query' : 'Body'}` : typeOf(input, '')
}

function answerOf(operation: ClientOperation): string {
  const { id, isList, isStream, answers } = operation
  if (isStream) return 'EventStream<Event>'
  if (isList) return `Pages<${typeOf(answers['application/json']!.properties!.data!.items!, '')}>`
  const types = Object.entries(answers).map(([type, schema]) => {
    if (type !== 'application/json') return 'string'
    return ownAnswerOf(operation) === null ? typeOf(schema, '') : `${pascal(id)}Answer`
  })
  return [...new Set(types)].join('|')
}

/** Text → a doc comment and a line break, with lines of at most 120 characters. */
function doc(text: string, indent: string): string {
  const safe = text.replaceAll('*/', '*\\/')
  const lines = safe.split('\n').flatMap((line) => filled(line, 116 - indent.length))
  if (lines.length === 1) return `${indent}/** ${lines[0]} */\n`
  return `${indent}/**\n${lines.map((line) => `${indent} * ${line}`.trimEnd()).join('\n')}\n${indent} */\n`
}

import { literal } from './literal.ts'
import type { ValueType } from './shape.ts'

/** A template and the type of its variables, which is an object. */
export interface TypedTemplate {
  /** Its alias, or its ID if it has none. */
  reference: string
  variables: Extract<ValueType, { kind: 'object' }>
}

/** Templates → a file with declarations for TypeScript. They are global, so that they work with the client and without
 *  it. Names of templates and variables occur only as string literals. */
export function typescriptFile(templates: TypedTemplate[]): string {
  const entries = templates.map(
    ({ reference, variables }) => `  ${literal(reference, 'typescript')}: ${typeText(variables, '  ')}\n`,
  )
  return `${HEAD}interface PostriderTemplates {\n${entries.join('')}}\n${MESSAGE}`
}

const HEAD = `// Written by \`postrider-templates types\`. Changes are lost.

/** The variables of each template. */
`

const MESSAGE = `
/** The fields \`template_id\` and \`variables\` of a message, for programs without the client. */
type PostriderTemplateMessage = {
  [Id in keyof PostriderTemplates]: {} extends PostriderTemplates[Id]
    ? { template_id: Id; variables?: PostriderTemplates[Id] }
    : { template_id: Id; variables: PostriderTemplates[Id] }
}[keyof PostriderTemplates]
`

const PLAIN = {
  text: 'string | number',
  boolean: 'boolean',
  printable: 'string | number | boolean',
  record: '{ [name: string]: unknown }',
  unknown: 'unknown',
}

function typeText(type: ValueType, indent: string): string {
  const text = plainText(type, indent)
  return type.isNullable && type.kind !== 'unknown' ? `${text} | null` : text
}

function plainText(type: ValueType, indent: string): string {
  if (type.kind === 'list') {
    const item = typeText(type.item, indent)
    return `ReadonlyArray<${item}>`
  }
  if (type.kind !== 'object') return PLAIN[type.kind]
  // The compiler would accept every name for a type without any.
  if (type.fields.length === 0) return '{ ""?: never }'
  const inner = `${indent}  `
  const fields = type.fields.map(({ name, type: each, isRequired }) => {
    const shown = typeText(each, inner)
    const may = isRequired || each.kind === 'unknown' ? '' : `${each.isNullable ? '' : ' | null'} | undefined`
    return `${inner}${literal(name, 'typescript')}${isRequired ? '' : '?'}: ${shown}${may}\n`
  })
  return `{\n${fields.join('')}${indent}}`
}

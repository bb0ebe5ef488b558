import { parse } from '@babel/parser'
import type { Command } from 'commander'
import { fromMarkdown } from 'mdast-util-from-markdown'
import { gfmTableFromMarkdown } from 'mdast-util-gfm-table'
import { gfmTable } from 'micromark-extension-gfm-table'

/** A text to check and where it comes from. */
export interface Passage {
  place: string
  text: string
}

/** Stands for code, links and values that the rules should not look at. */
const PLACEHOLDER = 'X'

interface MarkdownNode {
  type: string
  value?: string
  position?: { start: { line: number } } | undefined
  children?: MarkdownNode[]
}

/** Extracts paragraphs, headings and table cells of Markdown; code becomes a placeholder. */
export function fromMarkdownText(place: string, markdown: string): Passage[] {
  const tree = fromMarkdown(markdown, { extensions: [gfmTable()], mdastExtensions: [gfmTableFromMarkdown()] })
  const passages: Passage[] = []
  const visit = (node: MarkdownNode) => {
    if (BLOCKS.has(node.type)) {
      const line = node.position?.start.line ?? 0
      passages.push({ place: `${place}:${line}`, text: plain(node).replaceAll(/\s+/g, ' ').trim() })
    } else for (const child of node.children ?? []) visit(child)
  }
  visit(tree as MarkdownNode)
  return passages.filter(({ text }) => text !== '')
}

const BLOCKS = new Set(['paragraph', 'heading', 'tableCell'])

function plain(node: MarkdownNode): string {
  if (node.type === 'inlineCode' || node.type === 'image' || node.type === 'html') return PLACEHOLDER
  if (node.type === 'text') return withoutCode(node.value ?? '')
  if (node.type === 'break') return ' '
  return (node.children ?? []).map(plain).join('')
}

/** Replaces URLs, paths, addresses, file names, config keys and flags that are not marked as code. */
const withoutCode = (text: string) =>
  text.replaceAll(
    /(?<![\w"'])[\w.+%-]*[_/:@=\\]+[\w./:@%{}=-]*\w|\b\w+_…|\b\w+(?:\.\w+)+(?:-\w+)*|--\w[\w-]*/g,
    PLACEHOLDER,
  )

/** Extracts the descriptions of commands and options. */
export function fromCommands(program: Command, path = 'postrider'): Passage[] {
  const own = [
    { place: path, text: program.description() },
    ...program.options.map(({ long, description }) => ({ place: `${path} ${long}`, text: description })),
    ...program.registeredArguments.map((each) => ({ place: `${path} ${each.name()}`, text: each.description })),
  ]
  const below = program.commands.flatMap((command) => fromCommands(command, `${path} ${command.name()}`))
  return [...own, ...below]
    .filter(({ text }) => text !== '')
    .map(({ place, text }) => ({ ...plainPassage(text), place }))
}

/** A text outside Markdown files, which may mark code with backticks. */
export const plainPassage = (text: string): { text: string } => {
  const withoutMarks = text.replaceAll(/`[^`]*`|<[^<>\s]+>/g, PLACEHOLDER)
  return { text: withoutCode(withoutMarks).replaceAll(/\s+/g, ' ').trim() }
}

/** Extracts descriptions, summaries and titles of an OpenAPI document. */
export function fromOpenApi(document: unknown, path = 'openapi'): Passage[] {
  if (typeof document !== 'object' || document === null) return []
  return Object.entries(document).flatMap(([key, value]) => {
    const place = `${path}.${key}`
    if (key === 'example' || key === 'examples') return []
    const isText = typeof value === 'string' && (key === 'description' || key === 'summary')
    return isText ? fromMarkdownText(place, value) : fromOpenApi(value, place)
  })
}

interface SyntaxNode {
  type: string
  [key: string]: unknown
}

/** Extracts the texts that a source file shows: `isShown` chooses them among its syntax nodes. */
export function fromSource(place: string, source: string, textsOf: (node: SyntaxNode) => unknown[]): Passage[] {
  const { program } = parse(source, {
    sourceType: 'module',
    plugins: place.endsWith('.tsx') ? ['typescript', 'jsx'] : ['typescript'],
  })
  const passages: Passage[] = []
  const visit = (node: unknown) => {
    if (Array.isArray(node)) return node.forEach(visit)
    if (typeof node !== 'object' || node === null || !('type' in node)) return
    const syntax = node as SyntaxNode
    for (const each of textsOf(syntax)) {
      for (const { node, text } of literalsOf(each)) {
        const { start } = node.loc as { start: { line: number } }
        passages.push({ ...plainPassage(text), place: `${place}:${start.line}` })
      }
    }
    for (const [key, value] of Object.entries(syntax)) if (key !== 'loc') visit(value)
  }
  visit(program)
  return passages
}

/** The messages of refusals and of faults in fields. */
export function errorMessages(node: SyntaxNode): unknown[] {
  const { type, callee, key, value } = node as SyntaxNode & { callee?: SyntaxNode; key?: SyntaxNode }
  if (type === 'NewExpression' && callee?.name === 'Refusal') return (node.arguments as unknown[]).slice(1, 2)
  if (type === 'ObjectProperty' && key?.name === 'message') return [value]
  return []
}

/** Every text of several words except SQL: arguments, results, constants and values of properties. */
export function allTexts(node: SyntaxNode): unknown[] {
  switch (node.type) {
    case 'CallExpression':
    case 'NewExpression':
      return (node.arguments as unknown[]).filter(isProse)
    case 'ReturnStatement':
      return [node.argument].filter(isProse)
    case 'ArrowFunctionExpression':
      return [node.body].filter(isProse)
    case 'VariableDeclarator':
      return [node.init].filter(isProse)
    case 'ObjectProperty':
      return [node.value].filter(isProse)
    default:
      return []
  }
}

/** False for SQL, and for a text with fewer than two words beside what is filled in. */
const isProse = (node: unknown): boolean =>
  literalsOf(node).every(({ text }) => !SQL.test(text) && (text.replaceAll(/\bX\b/g, ' ').match(WORD) ?? []).length > 1)

const WORD = /[a-z][a-z-]+/gi
/** SQL is in lower case and starts with its verb, or has a placeholder, a comparison or a clause of a query. */
const SQL =
  /^\s*(?:select|insert|update|delete|pragma|create|begin|vacuum|with|from|where|exists|cross join|group by|and)\b|\?(?! [A-Z[]|$)|[^<]= |<>|\bas [a-z]+[A-Z]|\b(?:indexed by|order by|join|coalesce|nullif|ctid|primary key|rowid)\b/

/** Text between tags, and the attributes and properties that hold labels. */
export function interfaceTexts(node: SyntaxNode): unknown[] {
  const { type, name, key, value } = node as SyntaxNode & { name?: SyntaxNode; key?: SyntaxNode }
  if (type === 'JSXText') return [node]
  if (type === 'JSXExpressionContainer') return [node.expression]
  if (type === 'JSXAttribute' && LABELS.has(String(name?.name))) return [value]
  if (type === 'ObjectProperty' && LABELS.has(String(key?.name))) return [value]
  return []
}

const LABELS = new Set(['label', 'title', 'hint', 'help', 'placeholder', 'description', 'aria-label', 'empty'])

/** Literals of an expression with several words; what is filled in becomes a placeholder. */
function literalsOf(node: unknown): { node: SyntaxNode; text: string }[] {
  if (typeof node !== 'object' || node === null || !('type' in node)) return []
  const syntax = node as SyntaxNode
  const found = (text: string) => (/[a-z] +[a-z]/i.test(text) ? [{ node: syntax, text }] : [])
  switch (syntax.type) {
    case 'JSXText':
    case 'StringLiteral':
      return found(String(syntax.value))
    case 'TemplateLiteral':
      // Each line of an indented table is a text of its own.
      return (syntax.quasis as { value: { cooked: string } }[])
        .map(({ value }) => value.cooked)
        .join(PLACEHOLDER)
        .split(/\n {2,}/)
        .flatMap(found)
    case 'ConditionalExpression':
      return [...literalsOf(syntax.consequent), ...literalsOf(syntax.alternate)]
    case 'LogicalExpression':
      return [...literalsOf(syntax.left), ...literalsOf(syntax.right)]
    default:
      return []
  }
}

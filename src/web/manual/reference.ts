import { toml } from '../../config/example.ts'
import { environmentName, listedIn, root } from '../../config/paths.ts'
import type { Key, OpenSection, Section } from '../../config/schema.ts'
import type { Operation } from '../api/operation.ts'
import { allOperations } from './all-operations.ts'
import { allOf, type Flag, type Node } from './command-tree.ts'

/** The reference pages, as Markdown, from the tables that the program uses: operations, config keys, and its commands. */
export async function referencePages(program: Node): Promise<Record<string, string>> {
  return {
    'api-operations': apiPage(await allOperations()),
    'configuration-reference': configPage(),
    'command-line-reference': commandPage(program),
  }
}

/** Paths without authentication. */
export const OPEN_PATHS: Record<string, string> = {
  '/healthz': 'answers when the process is alive',
  '/livez': 'the same',
  '/readyz':
    'answers when the server can take requests: all listeners are open, the engines run, the store is writable, and the server neither stops nor hands over to other nodes',
  '/health/ready': 'the same',
  '/openapi.json': 'the OpenAPI 3.1 document of all operations and webhooks',
  '/docs': 'the API reference: every operation with examples in six languages and a form that calls it with a test key',
  '/manual/': 'this manual; with `.md` after the path, a page as Markdown',
  '/llms.txt': 'the list of the pages of this manual for language models, with links to their Markdown',
}

export function apiPage(operations: readonly Operation[]): string {
  const groups = Map.groupBy(operations, ({ path }) => path.split('/')[2] ?? '')
  const blocks = [...groups].map(([group, all]) => {
    const rows = all.map(
      ({ method, path, access, summary }) =>
        `| \`${method} ${path}\` | ${access.role === 'operator' ? 'operator' : access.permission} | ${escaped(summary)} |`,
    )
    return [`## ${group}`, table(['Operation', 'Permission', 'What it does'], rows)].join('\n\n')
  })
  const open = Object.entries(OPEN_PATHS).map(([path, about]) => `| \`GET ${path}\` | none | ${about} |`)
  return [
    '# API operations',
    'All operations of the HTTP API and the permission that each needs.',
    'The API reference at `/docs` of your server documents every field, response and error. [Send messages](sending.md) explains the basics, and [Keys and permissions](keys.md) what a key can reach.',
    ...blocks,
    '## Without a key',
    table(['Operation', 'Permission', 'What it does'], open),
    '',
  ].join('\n\n')
}

export function configPage(): string {
  return [
    '# Configuration reference',
    'Every key of the config file, with its default and its environment variable.',
    'Made from the table that the program reads its config with. [Configuration](configuration.md) explains the file, the environment and secrets.',
    ...sectionText(root, []),
    '',
  ].join('\n\n')
}

function sectionText(section: Section | OpenSection, path: string[]): string[] {
  const { keys, sections } = listedIn(section)
  const below = sections.flatMap(([name, node]) => sectionText(node, [...path, name]))
  const head = path.length === 0 ? ['## Top level'] : [`## \\[${path.join('.')}\\]`, escaped(section.about)]
  return [...head, ...keys.flatMap(([name, key]) => keyText(name, key, path)), ...below]
}

function keyText(name: string, key: Key, path: string[]): string[] {
  const full = [...path, name].join('.')
  const facts = [`Expected: ${escaped(key.kind.expected)}${key.unit ? `, ${key.unit}` : ''}.`]
  facts.push(key.fallback === undefined ? 'Required.' : `Default: \`${toml(key.fallback)}\`.`)
  if (key.isSecret) facts.push(`A secret: \`${name}_file\` reads it from a file.`)
  facts.push(`Environment: \`${environmentName(full)}\`.`)
  return [`### ${full.replaceAll('_', '\\_')}`, escaped(key.about), facts.join(' ')]
}

export function commandPage(program: Node): string {
  const sections = program.children.map((command) => {
    const leaves = allOf(command).filter(({ children }) => children.length === 0)
    const isGroup = command.children.length > 0
    const head = isGroup ? [`## ${command.name}`, sentence(command.about)] : []
    return [...head, ...leaves.flatMap((leaf) => commandText(leaf, isGroup ? '###' : '##'))].join('\n\n')
  })
  return [
    '# Command-line reference',
    'Every command of the program with its options.',
    'Made from the commands themselves; `--help` prints the same. [Command line](command-line.md) explains exit codes, users and output.',
    ...sections,
    '',
  ].join('\n\n')
}

function commandText({ path, about, options, operands }: Node, level: string): string[] {
  const own = options.filter(({ names }) => !names.includes('--help'))
  const lines = own.map((option) => `| \`${option.flags.replaceAll('|', '\\|')}\` | ${optionText(option)} |`)
  return [
    `${level} ${path}`,
    sentence(about),
    `    postrider ${[path, ...operands].join(' ')}${own.length > 0 ? ' [options]' : ''}`,
    ...(own.length === 0 ? [] : [table(['Option', 'Meaning'], lines)]),
  ]
}

function optionText({ about, isRequired, value, fallback, environment }: Flag): string {
  const words = [sentence(about)]
  if (value !== null && value.choices.length > 0) words.push(`One of ${value.choices.join(', ')}.`)
  if (isRequired) words.push('Required.')
  if (fallback !== '') words.push(`Default: ${escaped(fallback)}.`)
  if (environment !== '') words.push(`Also from \`${environment}\`.`)
  return words.join(' ')
}

const table = (heads: readonly string[], rows: readonly string[]) =>
  [`| ${heads.join(' | ')} |`, `|${'---|'.repeat(heads.length)}`, ...rows].join('\n')

const sentence = (text: string) =>
  escaped(`${text.charAt(0).toUpperCase()}${text.slice(1)}${/[.!?]$/.test(text) ? '' : '.'}`)

/** Plain text, possibly with code in backticks, → Markdown that displays it. */
function escaped(text: string): string {
  return text
    .replaceAll(/\s+/g, ' ')
    .trim()
    .split('`')
    .map((part, at) => (at % 2 === 1 ? part : part.replaceAll(/[\\<*_[\]]/g, '\\$&')))
    .join('`')
    .replaceAll('|', '\\|')
}

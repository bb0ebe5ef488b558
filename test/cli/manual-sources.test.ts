import { expect, test } from 'bun:test'
import { Command, Option } from 'commander'
import { commandPage } from '../../src/cli/manual/command-page.ts'
import { configPage } from '../../src/cli/manual/config-page.ts'
import { SHELLS, type Shell } from '../../src/cli/manual/generated.ts'
import { title } from '../../src/cli/manual/roff.ts'
import { treeOf } from '../../src/cli/manual/tree.ts'
import { createProgram } from '../../src/cli/program.ts'
import { EVENT_TYPES } from '../../src/model/event.ts'
import { allOf } from '../../src/web/manual/command-tree.ts'
import * as reference from '../../src/web/manual/reference.ts'

/** Sources of man pages, reference pages and completion scripts, of a small program with every kind of command, option and operand.
 *  test/service/manual.test.ts runs those of the real program in shells and groff. */

function smallProgram(): Command {
  const program = new Command('post').description("Sends [a] post's mail: now").version('1.2.3')
  program
    .command('send')
    .description('send one message')
    .requiredOption('-t, --to <address>', 'recipient (repeatable)')
    .addOption(new Option('--mode <mode>', 'live or test').choices(['live', 'test']).default('live'))
    .addOption(new Option('-c, --config <file>', 'the config file.').env('POST_CONFIG'))
    .option('--out <folder>', 'where to write', '.')
    .option('--wait', 'wait for the result!')
  const key = program.command('key').description('keys: those of programs')
  key.command('revoke').description('end a key').argument('<id>', 'its ID').argument('[rest...]', 'further IDs')
  key.command('hidden', { hidden: true }).description('hidden').argument('[id]')
  return program
}

const tree = treeOf(smallProgram())

test('the man page of a program has every command, option and default', () => {
  expect(commandPage(tree, '1.2.3')).toMatchSnapshot()
})

test.each(Object.keys(SHELLS) as Shell[])('the completion for %s has every command, option and value', (shell) => {
  expect(SHELLS[shell](tree)).toMatchSnapshot()
})

test('man pages of section 5 are about file formats', () => {
  expect(title('A-B', 5, '1')).toBe('.TH "A\\-B" 5 "" "Postrider 1" "File formats"')
  expect(title('A', 1, '1')).toBe('.TH "A" 1 "" "Postrider 1" "User commands"')
})

test('the man page of the config says what a key expects, its unit, default, secret file and environment variable', () => {
  const page = configPage('1')
  const entryOf = (name: string) => new RegExp(`^\\.TP\\n\\\\fB${name}\\\\fR\\n(.*)$`, 'm').exec(page)?.[1]
  expect(entryOf('hostname')).toEndWith(
    'Expected: a hostname such as mail.example.com. Required. Environment variable: POSTRIDER_HOSTNAME.',
  )
  expect(entryOf('smarthost')).toEndWith(
    'Default: "". Secret: to read it from a file, set smarthost_file. Environment variable: POSTRIDER_DELIVERY_SMARTHOST.',
  )
  expect(entryOf('hsts_seconds')).toEndWith(', seconds. Default: 0. Environment variable: POSTRIDER_HTTP_HSTS_SECONDS.')
})

test('the reference of commands has every command, option and default', () => {
  expect(reference.commandPage(tree)).toMatchSnapshot()
})

test('the reference of operations groups them by their path and names the permission', () => {
  const operation = (method: string, path: string, summary: string, role = 'viewer') =>
    ({ method, path, access: { permission: 'manage', role }, summary }) as unknown as Parameters<
      typeof reference.apiPage
    >[0][number]
  const page = reference.apiPage([
    operation('GET', '/v1/keys', 'Lists <all> keys'),
    operation('POST', '/v1/keys', 'Creates a key', 'operator'),
    operation('GET', '/v1/domains', 'Lists domains'),
  ])
  expect(page.split('\n\n').slice(3, 8)).toEqual([
    '## keys',
    '| Operation | Permission | What it does |\n|---|---|---|\n| `GET /v1/keys` | manage | Lists \\<all> keys |\n| `POST /v1/keys` | operator | Creates a key |',
    '## domains',
    '| Operation | Permission | What it does |\n|---|---|---|\n| `GET /v1/domains` | manage | Lists domains |',
    '## Without a key',
  ])
})

test('the reference of the config has the same facts', () => {
  const blocks = reference.configPage().split('\n\n')
  const factsOf = (key: string) => blocks[blocks.indexOf(`### ${key.replaceAll('_', '\\_')}`) + 2]
  expect(factsOf('hostname')).toBe(
    'Expected: a hostname such as mail.example.com. Required. Environment: `POSTRIDER_HOSTNAME`.',
  )
  expect(factsOf('delivery.smarthost')).toEndWith(
    'Default: `""`. A secret: `smarthost_file` reads it from a file. Environment: `POSTRIDER_DELIVERY_SMARTHOST`.',
  )
  expect(factsOf('http.hsts_seconds')).toEndWith(', seconds. Default: `0`. Environment: `POSTRIDER_HTTP_HSTS_SECONDS`.')
  const sections = blocks.filter((block) => block.startsWith('## '))
  expect(sections.slice(0, 2)).toEqual(['## Top level', expect.stringMatching(/^## \\\[\w+\\\]$/)])
  expect(new Set(sections).size).toBe(sections.length)
})

/** The contract of the API has the event types already. */
const withoutEventTypes = (text: string) =>
  text.replace(EVENT_TYPES.join(', '), 'the event types').replace(EVENT_TYPES.join(' or '), 'the event types')

test('numbers have the ranges that they had', () => {
  const commands = (command: Command): Command[] => [command, ...command.commands.flatMap(commands)]
  const rangeOf = ({ parseArg }: Option) => {
    try {
      parseArg?.('x', undefined)
    } catch (error) {
      return (error as Error).message
    }
    return null
  }
  const lines = commands(createProgram(() => {})).flatMap((command) =>
    command.options.flatMap((option) => {
      const range = rangeOf(option)
      if (range === null) return []
      return [`${command.parent?.name()} ${command.name()} ${option.flags}: ${withoutEventTypes(range)}`]
    }),
  )
  expect(lines.join('\n')).toMatchSnapshot()
})

test('commands have the operands, options and defaults that they had', () => {
  // Scripts of operators rely on them. A deliberate change renews the snapshot with `bun test -u`.
  const lines = allOf(treeOf(createProgram(() => {}))).flatMap(({ path, operands, options }) => [
    ['postrider', path, ...operands].join(' '),
    ...options.map(({ flags, isRequired, value, fallback, environment }) =>
      [
        `  ${flags}`,
        isRequired ? 'required' : '',
        withoutEventTypes((value?.choices ?? []).join(' or ')),
        fallback && `default ${fallback}`,
        environment,
      ]
        .filter(Boolean)
        .join('; '),
    ),
  ])
  expect(lines.join('\n')).toMatchSnapshot()
})

import { expect, test } from 'bun:test'
import { Command, Option } from 'commander'
import { commandPage } from '../../src/cli/manual/command-page.ts'
import { configPage } from '../../src/cli/manual/config-page.ts'
import { SHELLS, type Shell } from '../../src/cli/manual/print.ts'
import { title } from '../../src/cli/manual/roff.ts'
import { treeOf } from '../../src/cli/manual/tree.ts'

/** Sources of man pages and completion scripts, of a small program with every kind of command, option and operand.
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

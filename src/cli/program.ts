import { Command, CommanderError } from 'commander'
import { VERSION } from '../version.ts'
import { addBackup } from './commands/backup.ts'
import { addCare } from './commands/care.ts'
import { addConfig } from './commands/config.ts'
import { addDns } from './commands/dns.ts'
import { addDoctor } from './commands/doctor.ts'
import { addDomains } from './commands/domain.ts'
import { addImport } from './commands/import.ts'
import { addKeys } from './commands/key.ts'
import { addLinks } from './commands/link.ts'
import { addListen } from './commands/listen.ts'
import { addLoginLink } from './commands/login-link.ts'
import { addManual } from './commands/manual.ts'
import { addMessages } from './commands/message.ts'
import { addOrganizations } from './commands/org.ts'
import { addSend } from './commands/send.ts'
import { addService } from './commands/service.ts'
import { addStart } from './commands/start.ts'
import { addSuppressions } from './commands/suppression.ts'
import { addWebhooks } from './commands/webhook.ts'
import { EXIT, toFailure } from './failure.ts'
import { complain } from './print.ts'

/** Arguments (without program and script) → what the process ends with. Prints what is to be said; never rejects.
 *  A command's file is loaded when it is called for: `version` should not wait for the SMTP server of `try`. */
export async function runCommand(args: readonly string[]): Promise<number> {
  let code: number = EXIT.done
  const program = createProgram((result) => {
    code = result
  })
  try {
    await program.parseAsync(args, { from: 'user' })
    return code
  } catch (thrown) {
    if (thrown instanceof CommanderError) return thrown.exitCode === 0 ? EXIT.done : EXIT.usage
    const failure = toFailure(thrown)
    complain(failure?.message ?? `postrider: this is a bug: ${thrown instanceof Error ? thrown.stack : String(thrown)}`)
    return failure?.code ?? EXIT.failed
  }
}

/** The whole command line. `end` is told what the process should end with, by commands that end otherwise than well. */
export function createProgram(end: (code: number) => void): Command {
  const program = new Command('postrider')
    .description('Transactional email you own: HTTP in, signed mail out, signed webhooks back.')
    .version(VERSION, '-V, --version')
    .exitOverride()
    .enablePositionalOptions() // what stands behind a command is that command's, also where commands have commands
    .showSuggestionAfterError()
    .addHelpText('after', '\nLook at it without installing anything: postrider try\nOn a server: postrider init --help')

  program.commandsGroup('Begin:')
  addStart(program, end)
  program.commandsGroup('Who sends, and from where:')
  addOrganizations(program)
  addDomains(program, end)
  addDns(program, end)
  addKeys(program)
  addLoginLink(program)
  program.commandsGroup('Mail, and what became of it:')
  addSend(program, end)
  addMessages(program)
  addListen(program, end)
  addWebhooks(program)
  addSuppressions(program)
  addImport(program, end)
  program.commandsGroup('The machine and its data:')
  addDoctor(program, end)
  addLinks(program)
  addService(program, end)
  addConfig(program)
  addBackup(program)
  addCare(program)
  program.commandsGroup('This program:')
  program.helpCommand('help [command]', 'what a command does, and its options')
  addManual(program)
  program
    .command('version')
    .description('version, commit and runtime')
    .option('--json', 'print one JSON object')
    .action(async (options) => (await import('./version.ts')).version(options))
  return program
}

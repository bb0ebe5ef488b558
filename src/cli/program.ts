import { Command, CommanderError, type ErrorOptions, type Option } from 'commander'
import { VERSION } from '../version.ts'
import { addAddresses } from './commands/address.ts'
import { addAlerts } from './commands/alert.ts'
import { addBackup } from './commands/backup.ts'
import { addCanaries } from './commands/canary.ts'
import { addConfig } from './commands/config.ts'
import { addDns } from './commands/dns.ts'
import { addDoctor } from './commands/doctor.ts'
import { addDomains } from './commands/domain.ts'
import { addImport } from './commands/import.ts'
import { addKeys } from './commands/key.ts'
import { addLinks } from './commands/link.ts'
import { addListen } from './commands/listen.ts'
import { addLoginLink } from './commands/login-link.ts'
import { addMaintenance } from './commands/maintenance.ts'
import { addManual } from './commands/manual.ts'
import { addMessages } from './commands/message.ts'
import { addMigrate } from './commands/migrate.ts'
import { addNodes } from './commands/node.ts'
import { addOrganizations } from './commands/org.ts'
import { addRecipients } from './commands/recipient.ts'
import { addRelays } from './commands/relay.ts'
import { addRoutes } from './commands/route.ts'
import { addSend } from './commands/send.ts'
import { addService } from './commands/service.ts'
import { addStart } from './commands/start.ts'
import { addStats } from './commands/stats.ts'
import { addSuppressions } from './commands/suppression.ts'
import { addTemplates } from './commands/template.ts'
import { addUpgrade } from './commands/upgrade.ts'
import { addUsers } from './commands/user.ts'
import { addWebhooks } from './commands/webhook.ts'
import { EXIT, toFailure } from './failure.ts'
import { printError } from './print.ts'

/** Runs a command line (without program and script) and returns the exit code. Prints errors; never rejects. Loads the
 *  module of a command only when it runs, so that `version` does not load the SMTP server of `try`. */
export async function runCommand(args: readonly string[]): Promise<number> {
  if (process.env.POSTRIDER_URL === '') delete process.env.POSTRIDER_URL // as if it were not set
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
    printError(
      failure?.message ??
        `postrider: internal error, please report it: ${thrown instanceof Error ? thrown.stack : String(thrown)}`,
    )
    return failure?.code ?? EXIT.failed
  }
}

/** A command that reports an unknown option before a missing one: `--form` may be the `--from` that is missing. It also
 *  suggests an option that begins alike, and lists its commands where commander has no suggestion. commander calls
 *  unknownOption and missingMandatoryOptionValue; its types do not have them. */
class CommandWithOptions extends Command {
  #unknown: string | undefined
  declare unknownOption: (flag: string) => void

  override createCommand(name?: string): Command {
    return new CommandWithOptions(name)
  }

  override parseOptions(args: string[]): ReturnType<Command['parseOptions']> {
    const parsed = super.parseOptions(args)
    this.#unknown = parsed.unknown.find((each) => each.startsWith('-'))
    return parsed
  }

  missingMandatoryOptionValue(option: Option): void {
    if (this.#unknown !== undefined) this.unknownOption(this.#unknown)
    this.error(`error: required option '${option.flags}' not specified`)
  }

  override error(message: string, options?: ErrorOptions): never {
    super.error(message.includes('(Did you mean ') ? message : message + this.#hintFor(message, options?.code), options)
  }

  #hintFor(message: string, code: string | undefined): string {
    const help = this.createHelp()
    if (code === 'commander.unknownCommand') {
      if (this.parent === null) return `\nAll commands: ${this.name()} --help`
      return `\nCommands: ${help
        .visibleCommands(this)
        .map((each) => each.name())
        .join(', ')}`
    }
    const flag = code === 'commander.unknownOption' ? /'(--\w[\w-]{2,})/.exec(message)?.[1] : undefined
    if (flag === undefined) return ''
    const known = help.visibleOptions(this).map(({ long }) => long ?? '')
    const meant = known.find((each) => each.length > 4 && (each.startsWith(flag) || flag.startsWith(each)))
    return meant === undefined ? '' : `\n(Did you mean ${meant}?)`
  }
}

/** Builds the command line. A command passes its exit code to `end` if it can fail without throwing. */
export function createProgram(end: (code: number) => void): Command {
  const program = new CommandWithOptions('postrider')
    .description('Self-hosted transactional email: HTTP and SMTP in, DKIM-signed mail out, signed webhooks back.')
    .version(VERSION, '-V, --version')
    .exitOverride()
    .enablePositionalOptions() // options after a subcommand belong to the subcommand
    .showSuggestionAfterError()
    .addHelpText('after', '\nTry it without installing anything: postrider try\nSet up a server: postrider init --help')

  program.commandsGroup('Get started:')
  addStart(program, end)
  program.commandsGroup('Organizations, domains and keys:')
  addOrganizations(program)
  addDomains(program, end)
  addDns(program, end)
  addKeys(program)
  addUsers(program)
  addLoginLink(program)
  program.commandsGroup('Messages and events:')
  addSend(program, end)
  addTemplates(program)
  addMessages(program)
  addStats(program)
  addListen(program, end)
  addWebhooks(program)
  addRoutes(program)
  addSuppressions(program)
  addRecipients(program)
  addImport(program, end)
  program.commandsGroup('Server and data:')
  addDoctor(program, end)
  addLinks(program)
  addService(program, end)
  addNodes(program)
  addAddresses(program)
  addAlerts(program, end)
  addCanaries(program)
  addRelays(program, end)
  addConfig(program)
  addBackup(program)
  addUpgrade(program, end)
  addMigrate(program)
  addMaintenance(program)
  program.commandsGroup('Help:')
  program.helpCommand('help [command]', 'show help for a command')
  addManual(program)
  program
    .command('version')
    .description('print version, commit and runtime')
    .option('--json', 'print one JSON object')
    .action(async (options) => (await import('./version.ts')).version(options))
  return program
}

import { Command, CommanderError, InvalidArgumentError, Option } from 'commander'
import { VERSION } from '../version.ts'
import { addBackup } from './commands/backup.ts'
import { addDns } from './commands/dns.ts'
import { addDoctor } from './commands/doctor.ts'
import { addImport } from './commands/import.ts'
import { addListen } from './commands/listen.ts'
import { addLoginLink } from './commands/login-link.ts'
import { addMessages } from './commands/message.ts'
import { addService } from './commands/service.ts'
import { addWebhooks } from './commands/webhook.ts'
import { EXIT, toFailure } from './failure.ts'
import { gather, MODES, port, seconds, whole, withConfig, withRecords } from './options.ts'
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

  program
    .command('try')
    .description('run everything on loopback in a throw-away folder; nothing leaves this machine')
    .option('--once', 'send one message, tell each stage, exit 0 when mail and event arrived with valid signatures')
    .option('--json', 'print one JSON object')
    .option('--port <number>', 'port of the API on 127.0.0.1 (8025, or another when that is taken)', port)
    .addOption(
      new Option('--forward-to <url>', 'hand each webhook call on to a server of yours, and give back its answer')
        .argParser(localUrl)
        .conflicts('once'),
    )
    .action(async (options) => end(await (await import('./try/try.ts')).tryOut(options)))

  withConfig(program.command('serve'))
    .description('run the appliance until SIGTERM or SIGINT; SIGHUP reads the log level again')
    .option('--behind-proxy', 'all requests come through a TLS proxy of yours (http.behind_proxy)')
    .action(async (options) => end(await (await import('./serve.ts')).serve(options)))

  withConfig(program.command('init'))
    .description('look at the machine; write a config where none is; make store, organization, domain and an admin key')
    .option('--domain <name>', 'the domain to send from; asked for on a terminal')
    .option('--org <name>', 'name of the organization (default: the domain)')
    .option('--hostname <name>', 'public name of this machine (default: mail.<domain>)')
    .option('--data-dir <folder>', 'where the data are kept (default: /var/lib/postrider)')
    .option('--contact <address>', 'whom the readers of reports may write to')
    .option('--smarthost <url>', 'send by this relay: smtp://user:password@host:587; - reads it from standard input')
    .option('--skip-checks', 'do not look at machine and DNS first')
    .option('--dry-run', 'look, and say what would be written; change nothing')
    .option('--no-input', 'ask nothing, also on a terminal')
    .option('--json', 'print one JSON object')
    .action(async (options) => (await import('./init.ts')).init(options))

  const config = program.command('config').description('the config file')
  withConfig(config.command('check'))
    .description('tell everything that is wrong with it; exit code 2 if anything is')
    .action(async (options) => (await import('./config.ts')).checkConfig(options))
  withRecords(config.command('print'))
    .description('tell what is set, and where; secrets are not shown')
    .option('--effective', 'every key, with its value in effect')
    .action(async (options) => (await import('./config.ts')).printSettings(options))
  config
    .command('example')
    .description('print a config file with every key, its meaning and its default')
    .action(async () => (await import('./config.ts')).printExample())

  addOrganizations(program)
  addDomains(program, end)
  addKeys(program)
  addLoginLink(program)
  addListen(program, end)
  addMessages(program)
  addWebhooks(program)

  withRecords(program.command('audit'))
    .description('who managed what: keys, domains, webhooks, templates, routes, suppressions, plans')
    .option('--org <org>', 'only what concerns this organization')
    .option('--limit <number>', 'how many entries, the newest', (text) => whole(text, 1, 10_000, 'number'), 50)
    .action(async (options) => (await import('./audit.ts')).showAuditLog(options))

  addDns(program, end)
  addDoctor(program, end)
  addImport(program, end)
  addService(program, end)
  addBackup(program)

  const seal = program.command('seal').description('the key that secrets are sealed with on the disk')
  withRecords(seal.command('rotate'))
    .description('seal everything with a new key; the server must be stopped')
    .action(async (options) => (await import('./seal.ts')).rotateSeal(options))

  withRecords(program.command('send'))
    .description('hand in one message; it waits for the server if none runs')
    .requiredOption('--from <address>', 'a@d or "Name <a@d>"')
    .requiredOption('--to <address>', 'can be given more than once', gather)
    .requiredOption('--subject <text>', 'subject')
    .option('--text <text>', 'plain text body')
    .addOption(new Option('--html <html>', 'HTML body').conflicts('htmlFile'))
    .option('--html-file <file>', 'HTML body from a file')
    .addOption(
      new Option('--mode <mode>', 'test: an outcome is made up, nothing leaves').choices(MODES).default('live'),
    )
    .option('--wait <seconds>', 'wait so long for the outcome', seconds)
    .addOption(
      new Option('--follow', 'show each step until every recipient is final; Ctrl-C ends the looking').conflicts(
        'wait',
      ),
    )
    .action(async (options) => end(await (await import('./send.ts')).send(options)))

  program
    .command('version')
    .description('version, commit and runtime')
    .option('--json', 'print one JSON object')
    .action(async (options) => (await import('./version.ts')).version(options))
  return program
}

function addOrganizations(program: Command): void {
  const org = program.command('org').description('organizations: who owns domains, keys and messages')
  withRecords(org.command('create <name>'))
    .description('create an organization')
    .option('--plan <plan>', 'one of the plans in the config', 'free')
    .action(async (name, options) => (await import('./org.ts')).createOrganization(name, options))
  withRecords(org.command('list'))
    .description('list organizations')
    .action(async (options) => (await import('./org.ts')).listOrganizations(options))
  withRecords(org.command('set-plan <org> <plan>'))
    .description('give an organization (id or name) another plan')
    .action(async (name, plan, options) => (await import('./org.ts')).setPlan(name, plan, options))
}

function addDomains(program: Command, end: (code: number) => void): void {
  const domain = program.command('domain').description('sending domains, and what to publish for them in DNS')
  withRecords(domain.command('add <name>'))
    .description('add a sending domain with two DKIM keys')
    .option('--org <org>', 'id or name of its organization (needed when there are several)')
    .action(async (name, options) => (await import('./domain.ts')).addDomain(name, options))
  withRecords(domain.command('list'))
    .description('list sending domains')
    .option('--org <org>', 'only those of this organization')
    .action(async (options) => (await import('./domain.ts')).listDomains(options))
  withRecords(domain.command('show <name>'))
    .description('one domain, its DNS records and what DNS last said of them')
    .action(async (name, options) => (await import('./domain.ts')).showDomain(name, options))
  withRecords(domain.command('verify <name>'))
    .description('ask DNS now; exit code 0 only when the domain is verified')
    .action(async (name, options) => end(await (await import('./domain.ts')).verify(name, options)))
  withRecords(domain.command('rotate-dkim <name>'))
    .description('make new DKIM keys; they sign once their records are seen')
    .action(async (name, options) => (await import('./domain.ts')).rotateDkim(name, options))
}

function addKeys(program: Command): void {
  const key = program.command('key').description('API keys')
  withRecords(key.command('create'))
    .description('create a key; its value is shown this once')
    .requiredOption('--domain <name>', 'the domain it is bound to')
    .addOption(
      new Option('--permission <permission>', 'send, read, manage or admin; can be given more than once')
        .argParser(gather)
        .makeOptionMandatory(),
    )
    .addOption(new Option('--mode <mode>', 'live sends, test pretends').choices(MODES).default('live'))
    .option('--name <label>', 'what it is for', 'made at the command line')
    .option('--expires <time>', 'ISO 8601 time after which it is refused')
    .action(async (options) => (await import('./key.ts')).createKey(options))
  withRecords(key.command('list'))
    .description('list keys, without their values')
    .option('--domain <name>', 'only those of this domain')
    .action(async (options) => (await import('./key.ts')).listKeys(options))
  withRecords(key.command('revoke <id>'))
    .description('refuse a key from now on')
    .action(async (id, options) => (await import('./key.ts')).revokeKey(id, options))
}

/** What the try-out may reach: this machine, in clear. */
function localUrl(text: string): URL {
  const url = URL.parse(text)
  if (url?.protocol === 'http:' && LOOPBACK.test(url.hostname)) return url
  throw new InvalidArgumentError('Expected an address on this machine, such as http://localhost:3000/webhooks.')
}

const LOOPBACK = /^(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])$/

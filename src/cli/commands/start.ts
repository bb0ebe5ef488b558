import { type Command, InvalidArgumentError, Option } from 'commander'
import { port, withConfig } from '../options.ts'

const DATABASE = 'PostgreSQL, instead of SQLite: postgres://user:password@host/database; - reads it from standard input'

/** `try`, `serve`, `init` and `join`. */
export function addStart(program: Command, end: (code: number) => void): void {
  program
    .command('try')
    .description('run everything on loopback in a temporary folder; nothing leaves this machine')
    .option(
      '--once',
      'send one message, print each stage and exit, with 0 if mail and event arrive with valid signatures',
    )
    .option('--json', 'print one JSON object')
    .option('--port <number>', 'API port on 127.0.0.1 (default: 8025, or any free port if 8025 is in use)', port)
    .addOption(
      new Option('--forward-to <url>', 'forward each webhook request to your server and return its response')
        .argParser(localUrl)
        .conflicts('once'),
    )
    .action(async (options) => end(await (await import('../try/try.ts')).tryOut(options)))

  withConfig(program.command('serve'))
    .description(
      'run the server until SIGTERM or SIGINT; SIGHUP reloads the log level, certificates and relay passwords',
    )
    .option('--behind-proxy', 'all requests come through your own TLS proxy (sets http.behind_proxy)')
    .action(async (options) => end(await (await import('../serve.ts')).serve(options)))

  withConfig(program.command('init'))
    .description('check the machine, then create the config, database, organization, domain and an admin key')
    .option('--domain <name>', 'sending domain (prompted for in a terminal)')
    .option('--org <name>', 'organization name (default: the domain)')
    .option('--hostname <name>', 'public hostname of this machine (default: mail.<domain>)')
    .option('--data-dir <folder>', 'data directory (default: /var/lib/postrider)')
    .option('--contact <address>', 'contact address for recipients of DMARC and TLS reports')
    .option(
      '--smarthost <url>',
      'relay for outgoing mail: smtp://user:password@host:587; - reads it from standard input',
    )
    .option('--database <url>', DATABASE)
    .option('--database-ca <file>', 'PEM file of the CA of the PostgreSQL servers')
    .option('--https', "serve HTTPS with a Let's Encrypt certificate (you agree to its terms); uses ports 80 and 443")
    .option('--dns <provider>', 'publish the records at this DNS provider, as lexicon calls it')
    .option('--skip-checks', 'skip the checks of the machine and DNS')
    .option('--dry-run', 'run the checks and show the planned files; change nothing')
    .option('--no-input', 'never prompt')
    .option('--json', 'print one JSON object')
    .action(async (options) => end(await (await import('../init.ts')).init(options)))

  withConfig(program.command('join'))
    .description('prepare this machine as a further node of an installation on PostgreSQL')
    .option('--database <url>', DATABASE)
    .option('--database-ca <file>', 'PEM file of the CA of the PostgreSQL servers')
    .requiredOption('--seal-key <file>', 'copy of seal.key from the data directory of another node')
    .option('--hostname <name>', 'public hostname of this machine')
    .option('--data-dir <folder>', 'data directory (default: /var/lib/postrider)')
    .option('--contact <address>', 'contact address for recipients of DMARC and TLS reports')
    .option('--smarthost <url>', 'relay for outgoing mail; - reads it from standard input')
    .option('--https', "serve HTTPS with a Let's Encrypt certificate (you agree to its terms); uses ports 80 and 443")
    .option('--skip-checks', 'skip the checks of the machine')
    .option('--dry-run', 'run the checks and show the planned files; change nothing')
    .option('--json', 'print one JSON object')
    .action(async (options) => (await import('../join.ts')).join(options))
}

/** The try-out forwards only to plain HTTP on this machine. */
function localUrl(text: string): URL {
  const url = URL.parse(text)
  if (url?.protocol === 'http:' && LOOPBACK.test(url.hostname)) return url
  throw new InvalidArgumentError('Expected a URL on this machine, such as http://localhost:3000/webhooks.')
}

const LOOPBACK = /^(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])$/

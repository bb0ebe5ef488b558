import { type Command, InvalidArgumentError, Option } from 'commander'
import { port, withConfig } from '../options.ts'

/** Looking at it, setting it up, and running it. */
export function addStart(program: Command, end: (code: number) => void): void {
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
    .action(async (options) => end(await (await import('../try/try.ts')).tryOut(options)))

  withConfig(program.command('serve'))
    .description('run the server until SIGTERM or SIGINT; SIGHUP reads log level and certificates again')
    .option('--behind-proxy', 'all requests come through a TLS proxy of yours (http.behind_proxy)')
    .action(async (options) => end(await (await import('../serve.ts')).serve(options)))

  withConfig(program.command('init'))
    .description('look at the machine; write a config where none is; make store, organization, domain and an admin key')
    .option('--domain <name>', 'the domain to send from; asked for on a terminal')
    .option('--org <name>', 'name of the organization (default: the domain)')
    .option('--hostname <name>', 'public name of this machine (default: mail.<domain>)')
    .option('--data-dir <folder>', 'where the data are kept (default: /var/lib/postrider)')
    .option('--contact <address>', 'whom the readers of reports may write to')
    .option('--smarthost <url>', 'send by this relay: smtp://user:password@host:587; - reads it from standard input')
    .option(
      '--https',
      "HTTPS with a certificate from Let's Encrypt, to whose terms you agree; takes the ports 80 and 443",
    )
    .option('--skip-checks', 'do not look at machine and DNS first')
    .option('--dry-run', 'look, and say what would be written; change nothing')
    .option('--no-input', 'ask nothing, also on a terminal')
    .option('--json', 'print one JSON object')
    .action(async (options) => (await import('../init.ts')).init(options))
}

/** What the try-out may reach: this machine, in clear. */
function localUrl(text: string): URL {
  const url = URL.parse(text)
  if (url?.protocol === 'http:' && LOOPBACK.test(url.hostname)) return url
  throw new InvalidArgumentError('Expected an address on this machine, such as http://localhost:3000/webhooks.')
}

const LOOPBACK = /^(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])$/

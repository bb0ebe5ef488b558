import { type Command, InvalidArgumentError, Option } from 'commander'
import { EVENT_TYPES } from '../../model/event.ts'
import { withRecords } from '../options.ts'

/** `postrider listen`. */
export function addListen(program: Command, end: (code: number) => void): void {
  withRecords(program.command('listen'))
    .description('show events as they happen, and post them to a server of yours; Ctrl-C ends it')
    .option('--forward-to <url>', 'post each event to this address, signed as a webhook is: http://localhost:3000/hook')
    .addOption(new Option('--events <types>', 'only these, with commas').argParser(eventTypes))
    .option('--after <id>', 'begin behind this event; "" begins with the oldest that is kept')
    .option('--secret <secret>', 'sign with this one (whsec_…), not with a new one')
    .option('--org <org>', 'id or name of the organization (needed when there are several)')
    .addOption(
      new Option('--url <url>', 'a server elsewhere, asked over HTTP instead of its config')
        .env('POSTRIDER_URL')
        .argParser(serverUrl),
    )
    .addOption(new Option('--api-key <key>', 'for --url; better in the environment').env('POSTRIDER_API_KEY'))
    .addHelpText(
      'after',
      [
        '',
        'Beside a server it reads the store, and needs no key. Elsewhere:',
        '  POSTRIDER_API_KEY=svc_live_… postrider listen --url https://mail.example.com --forward-to http://localhost:3000',
        'Five attempts are made to post an event, 1, 2, 4 and 8 seconds apart.',
      ].join('\n'),
    )
    .action(async (options) => end(await (await import('../listen/listen.ts')).listen(options)))
}

function eventTypes(text: string): string[] {
  const types = text.split(',').map((type) => type.trim())
  if (types.every((type) => (EVENT_TYPES as readonly string[]).includes(type))) return types
  throw new InvalidArgumentError(`Expected some of ${EVENT_TYPES.join(', ')}, with commas.`)
}

function serverUrl(text: string): URL {
  const url = URL.parse(text)
  if (url !== null && /^https?:$/.test(url.protocol) && url.username === '' && url.search === '') return url
  throw new InvalidArgumentError('Expected the address of a server, such as https://mail.example.com.')
}

import { type Command, InvalidArgumentError, Option } from 'commander'
import { EVENT_TYPES } from '../../model/event.ts'
import { isOneOf } from '../../os/records.ts'
import { ORG, withRecords } from '../options.ts'
import { serverOptions } from '../server-access.ts'

/** `postrider listen`. */
export function addListen(program: Command, end: (code: number) => void): void {
  const command = withRecords(program.command('listen'))
    .description('show events live and optionally post them to your server; Ctrl-C stops it')
    .option(
      '--forward-to <url>',
      'post each event to this URL, signed like a webhook, for example http://localhost:3000/hook',
    )
    .addOption(new Option('--events <types>', 'only these event types, comma-separated').argParser(eventTypes))
    .option('--after <id>', 'start after this event; "" starts with the oldest stored event')
    .option('--secret <secret>', 'signing secret (whsec_…); default: a new one')
    .addOption(ORG)
  for (const option of serverOptions()) command.addOption(option)
  command
    .addHelpText(
      'after',
      [
        '',
        'On the server itself, the command reads the database and needs no API key. From another machine:',
        '  POSTRIDER_API_KEY=svc_live_… postrider listen --url https://mail.example.com --forward-to http://localhost:3000',
        'A failed post is retried after 1, 2, 4 and 8 seconds: five attempts in total.',
      ].join('\n'),
    )
    .action(async (options) => {
      // As for other commands, a config on the command line means the local store.
      const isLocal = command.getOptionValueSource('config') === 'cli' && command.getOptionValueSource('url') === 'env'
      end(await (await import('../listen/listen.ts')).listen(isLocal ? { ...options, url: undefined } : options))
    })
}

function eventTypes(text: string): string[] {
  const types = text.split(',').map((type) => type.trim())
  if (types.every((type) => isOneOf(EVENT_TYPES, type))) return types
  throw new InvalidArgumentError(`Expected a comma-separated list of: ${EVENT_TYPES.join(', ')}.`)
}

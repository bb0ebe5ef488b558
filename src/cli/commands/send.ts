import { type Command, Option } from 'commander'
import { gather, LOCALE, MODES, seconds, VARIABLES, withRecords } from '../options.ts'
import { withServer } from '../server-access.ts'

/** `postrider send`. */
export function addSend(program: Command, end: (code: number) => void): void {
  const command = withServer(withRecords(program.command('send')))
    .description('send one message (queued until the server runs)')
    .requiredOption('--from <address>', 'sender: ann@example.com or "Ann <ann@example.com>"')
    .requiredOption('--to <address>', 'recipient; repeatable', gather)
    .option('--cc <address>', 'recipient of a copy; repeatable', gather)
    .option('--bcc <address>', 'recipient of a copy that others cannot see; repeatable', gather)
    .option('--reply-to <address>', 'address for replies; repeatable', gather)
    .option('--replies <route>', 'ID or name of an inbound route that receives the replies')
    .option('--reply-to-name <name>', 'with --replies: display name of the address for replies')
    .option('--subject <text>', 'subject line; required unless the template has one')
    .addOption(new Option('--text <text>', 'plain text body').conflicts('textFile'))
    .option('--text-file <file>', 'plain text body from a file')
    .addOption(new Option('--html <html>', 'HTML body').conflicts('htmlFile'))
    .option('--html-file <file>', 'HTML body from a file')
    .option('--template <template>', 'id or alias of a template, instead of text and HTML')
  for (const option of [...VARIABLES, LOCALE]) command.addOption(option)
  command
    .option('--attach <file>', 'attachment: a file, or an https:// URL to download now; repeatable', gather)
    .option('--header <header>', 'additional header: "Name: value"; repeatable', gather)
    .option('--tag <tag>', 'tag for lists and statistics; repeatable', gather)
    .option('--schedule <time>', 'send at this time (ISO 8601), at most 30 days ahead')
    .addOption(
      new Option('--mode <mode>', 'test simulates the delivery and sends nothing').choices(MODES).default('live'),
    )
    .option('--wait <seconds>', 'wait at most this long for the final status', seconds)
    .addOption(
      new Option(
        '--follow',
        'show each step until every recipient has a final status; Ctrl-C stops watching, not sending',
      ).conflicts('wait'),
    )
    .action(async (options) => end(await (await import('../send.ts')).send(options)))
}

import { type Command, Option } from 'commander'
import { gather, MODES, seconds, withRecords } from '../options.ts'

/** `postrider send`. */
export function addSend(program: Command, end: (code: number) => void): void {
  withRecords(program.command('send'))
    .description('send one message (queued until the server runs)')
    .requiredOption('--from <address>', 'sender: ann@example.com or "Ann <ann@example.com>"')
    .requiredOption('--to <address>', 'recipient; repeatable', gather)
    .requiredOption('--subject <text>', 'subject line')
    .option('--text <text>', 'plain text body')
    .addOption(new Option('--html <html>', 'HTML body').conflicts('htmlFile'))
    .option('--html-file <file>', 'HTML body from a file')
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

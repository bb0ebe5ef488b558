import { type Command, Option } from 'commander'
import { gather, MODES, seconds, withRecords } from '../options.ts'

export function addSend(program: Command, end: (code: number) => void): void {
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
    .action(async (options) => end(await (await import('../send.ts')).send(options)))
}

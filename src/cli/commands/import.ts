import { type Command, Option } from 'commander'
import { LIST_KINDS, PROVIDER_NAMES } from '../../sending/suppressions/providers.ts'
import { ORG, withRecords } from '../options.ts'
import { withServer } from '../server-access.ts'

/** `import suppressions`. */
export function addImport(program: Command, end: (code: number) => void): void {
  const parent = program.command('import').description('import data from another email service')
  withServer(withRecords(parent.command('suppressions <file>')))
    .description('import suppressions exported from Resend, Postmark, SendGrid, Mailgun, SES, Postal or Postrider')
    .addOption(ORG)
    .addOption(
      new Option('--from <service>', 'service that made the export (default: detected from its columns)').choices(
        PROVIDER_NAMES,
      ),
    )
    .addOption(
      new Option('--reason <reason>', 'suppression reason, if neither the records nor the file name give one').choices(
        LIST_KINDS,
      ),
    )
    .option('--stream <stream>', 'stream of entries that name none, except hard bounces (default: every stream)')
    .option('--dry-run', 'count only; write nothing')
    .addHelpText(
      'after',
      '\nAccepts CSV and JSON; - reads standard input. Importing twice is safe: existing suppressions do not change.',
    )
    .action(async (file, options) =>
      end(await (await import('../import-suppressions.ts')).importSuppressions(file, options)),
    )
}

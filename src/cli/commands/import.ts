import { type Command, Option } from 'commander'
import { LIST_KINDS, PROVIDER_NAMES } from '../../suppressions/providers.ts'
import { withRecords } from '../options.ts'

/** What is brought along from elsewhere. */
export function addImport(program: Command, end: (code: number) => void): void {
  const parent = program.command('import').description('bring along what another service knows')
  withRecords(parent.command('suppressions <file>'))
    .description('suppress the addresses of an export of Resend, Postmark, SendGrid or Mailgun, or of our own')
    .option('--org <org>', 'id or name of the organization (needed when there are several)')
    .addOption(
      new Option('--from <service>', 'whose export it is (default: told by its columns)').choices(PROVIDER_NAMES),
    )
    .addOption(
      new Option('--reason <reason>', 'what it is a list of, when neither records nor file name say it').choices(
        LIST_KINDS,
      ),
    )
    .option('--dry-run', 'only count; nothing is written')
    .addHelpText('after', '\nCSV or JSON. Run it as often as you like: what is suppressed already stays as it is.')
    .action(async (file, options) =>
      end(await (await import('../import-suppressions.ts')).importSuppressions(file, options)),
    )
}

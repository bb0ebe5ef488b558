import { type Command, Option } from 'commander'
import { SUPPRESSION_REASONS } from '../../model/suppression.ts'
import { whole, withRecords } from '../options.ts'

/** `postrider suppression …`. */
export function addSuppressions(program: Command): void {
  const parent = program.command('suppression').description('addresses that get no mail, and why')
  const add = (words: string) =>
    withRecords(parent.command(words)).option(
      '--org <org>',
      'id or name of the organization (needed when there are several)',
    )

  add('list')
    .description('list suppressed addresses, newest first')
    .option('--email <address>', 'only this one')
    .addOption(new Option('--reason <reason>', 'only those').choices(SUPPRESSION_REASONS))
    .option('--limit <number>', 'how many', (text) => whole(text, 1, 100, 'number'), 25)
    .action(async (options) => (await import('../suppression.ts')).listSuppressions(options))
  add('remove <address>')
    .description('have an address get mail again; by id only that one suppression goes')
    .action(async (address, options) => (await import('../suppression.ts')).removeSuppression(address, options))
}

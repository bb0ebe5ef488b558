import { type Command, Option } from 'commander'
import { SUPPRESSION_REASONS } from '../../model/suppression.ts'
import { whole, withOrganization } from '../options.ts'

/** `postrider suppression …`. */
export function addSuppressions(program: Command): void {
  const parent = program.command('suppression').description('manage suppressed addresses')
  const add = (words: string) => withOrganization(parent.command(words))

  add('list')
    .description('list suppressed addresses, newest first')
    .option('--email <address>', 'only this address')
    .addOption(new Option('--reason <reason>', 'only suppressions with this reason').choices(SUPPRESSION_REASONS))
    .option('--stream <stream>', 'only suppressions of this stream, without those of every stream')
    .option('--limit <number>', 'number of entries', (text) => whole(text, 1, 100, 'number'), 25)
    .action(async (options) => (await import('../suppression.ts')).listSuppressions(options))
  add('add <address>')
    .description('suppress an address, for all domains and streams of the organization or for one')
    .option('--domain <name>', 'only for mail from this domain')
    .option('--stream <stream>', 'only for mail of this stream')
    .addOption(new Option('--reason <reason>', 'reason to record').choices(SUPPRESSION_REASONS).default('manual'))
    .action(async (address, options) => (await import('../suppression.ts')).addSuppression(address, options))
  add('remove <address>')
    .description('remove all suppressions of an address, or one suppression by its id')
    .action(async (address, options) => (await import('../suppression.ts')).removeSuppression(address, options))
}

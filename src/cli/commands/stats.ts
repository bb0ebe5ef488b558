import { type Command, Option } from 'commander'
import { INTERVALS } from '../../model/period.ts'
import { STATS_GROUPINGS } from '../../model/stats.ts'
import { MODES, withOrganization } from '../options.ts'

/** `postrider stats`. */
export function addStats(program: Command): void {
  withOrganization(program.command('stats'))
    .description('show how many recipients got, bounced, opened or reported mail, by hour, day or month')
    .option('--domain <name>', 'only mail from this domain')
    .option('--from <time>', 'ISO 8601, rounded down to a period in UTC (default: 30 days before the end)')
    .option('--to <time>', 'ISO 8601, exclusive, rounded up (default: now)')
    .addOption(new Option('--interval <interval>', 'length of a period').choices(INTERVALS).default('day'))
    .option('--tag <tag>', 'only messages with this tag')
    .addOption(new Option('--stream <stream>', 'only messages of this stream').conflicts('tag'))
    .addOption(new Option('--group-by <group>', 'show groups instead of periods').choices(STATS_GROUPINGS))
    .addOption(new Option('--mode <mode>', 'live or test messages').choices(MODES).default('live'))
    .action(async (options) => (await import('../stats.ts')).showStats(options))
}

import { type Command, Option } from 'commander'
import { gather, MODES, withRecords } from '../options.ts'

export function addKeys(program: Command): void {
  const key = program.command('key').description('API keys')
  withRecords(key.command('create'))
    .description('create a key; its value is shown this once')
    .requiredOption('--domain <name>', 'the domain it is bound to')
    .addOption(
      new Option('--permission <permission>', 'send, read, manage or admin; can be given more than once')
        .argParser(gather)
        .makeOptionMandatory(),
    )
    .addOption(new Option('--mode <mode>', 'live sends, test pretends').choices(MODES).default('live'))
    .option('--name <label>', 'what it is for', 'made at the command line')
    .option('--expires <time>', 'ISO 8601 time after which it is refused')
    .addOption(
      new Option('--network <cidr>', 'usable from this network only; can be given more than once').argParser(gather),
    )
    .action(async (options) => (await import('../key.ts')).createKey(options))
  withRecords(key.command('list'))
    .description('list keys, without their values')
    .option('--domain <name>', 'only those of this domain')
    .action(async (options) => (await import('../key.ts')).listKeys(options))
  withRecords(key.command('revoke <id>'))
    .description('refuse a key from now on')
    .action(async (id, options) => (await import('../key.ts')).revokeKey(id, options))
}

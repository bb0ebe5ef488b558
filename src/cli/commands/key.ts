import { type Command, Option } from 'commander'
import { gather, MODES, withRecords } from '../options.ts'

/** `postrider key …`. */
export function addKeys(program: Command): void {
  const key = program.command('key').description('manage API keys')
  withRecords(key.command('create'))
    .description('create a key; its value is shown only once')
    .requiredOption('--domain <name>', 'domain that the key is bound to')
    .addOption(
      new Option('--permission <permission>', 'send, read, manage or admin; repeatable')
        .argParser(gather)
        .makeOptionMandatory(),
    )
    .addOption(new Option('--mode <mode>', 'live keys send mail, test keys simulate it').choices(MODES).default('live'))
    .option('--name <label>', 'label of the key', 'created at the command line')
    .option('--expires <time>', 'ISO 8601 time when the key expires')
    .addOption(new Option('--network <cidr>', 'allow requests from this network only; repeatable').argParser(gather))
    .action(async (options) => (await import('../key.ts')).createKey(options))
  withRecords(key.command('list'))
    .description('list keys without their values')
    .option('--domain <name>', 'only keys of this domain')
    .action(async (options) => (await import('../key.ts')).listKeys(options))
  withRecords(key.command('revoke <id>'))
    .description('revoke a key immediately')
    .action(async (id, options) => (await import('../key.ts')).revokeKey(id, options))
}

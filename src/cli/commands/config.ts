import type { Command } from 'commander'
import { withConfig, withRecords } from '../options.ts'

/** `config check`, `config print` and `config example`. */
export function addConfig(program: Command): void {
  const config = program.command('config').description('check, print or create the config file')
  withConfig(config.command('check'))
    .description('report every error in the config; exits with 2 if there is any')
    .action(async (options) => (await import('../config.ts')).checkConfig(options))
  withRecords(config.command('print'))
    .description('print the keys that are set and their source; secrets are hidden')
    .option('--effective', 'print every key with its effective value')
    .action(async (options) => (await import('../config.ts')).printSettings(options))
  config
    .command('example')
    .description('print an example config with every key, its description and its default')
    .action(async () => (await import('../config.ts')).printExample())
}

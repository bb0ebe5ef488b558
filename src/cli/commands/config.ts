import type { Command } from 'commander'
import { withConfig, withRecords } from '../options.ts'

export function addConfig(program: Command): void {
  const config = program.command('config').description('the config file')
  withConfig(config.command('check'))
    .description('tell everything that is wrong with it; exit code 2 if anything is')
    .action(async (options) => (await import('../config.ts')).checkConfig(options))
  withRecords(config.command('print'))
    .description('tell what is set, and where; secrets are not shown')
    .option('--effective', 'every key, with its value in effect')
    .action(async (options) => (await import('../config.ts')).printSettings(options))
  config
    .command('example')
    .description('print a config file with every key, its meaning and its default')
    .action(async () => (await import('../config.ts')).printExample())
}

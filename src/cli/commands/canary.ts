import type { Command } from 'commander'
import { withRecords } from '../options.ts'

/** `postrider canary …`. */
export function addCanaries(program: Command): void {
  const canary = program.command('canary').description('show whether mail of this server arrives, and try it')
  withRecords(canary.command('list'))
    .description('list the last canary messages to each mailbox')
    .action(async (options) => (await import('../canary.ts')).listCanaries(options))
  withRecords(canary.command('run'))
    .description('send a canary mail to every mailbox now')
    .action(async (options) => (await import('../canary.ts')).runCanaries(options))
}

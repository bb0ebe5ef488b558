import type { Command } from 'commander'
import { withRecords } from '../options.ts'

export function addLinks(program: Command): void {
  const link = program.command('link').description('click targets of tracked links that are blocked')
  withRecords(link.command('block <target>'))
    .description('answer 410 to clicks that lead to this host or URL, in mail of every organization')
    .option('--reason <text>', 'why, for the audit of the operator', 'abuse')
    .action(async (target, options) => (await import('../blocked-link.ts')).blockLink(target, options))
  withRecords(link.command('unblock <target>'))
    .description('send clicks on again; by target or id')
    .action(async (target, options) => (await import('../blocked-link.ts')).unblockLink(target, options))
  withRecords(link.command('list'))
    .description('list blocked targets')
    .action(async (options) => (await import('../blocked-link.ts')).listBlockedLinks(options))
}

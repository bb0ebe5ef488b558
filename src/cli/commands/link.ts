import type { Command } from 'commander'
import { withRecords } from '../options.ts'

/** `postrider link …`. */
export function addLinks(program: Command): void {
  const link = program.command('link').description('block targets of tracked links')
  withRecords(link.command('block <target>'))
    .description('answer 410 to clicks on links to this host or URL, for all organizations')
    .option('--reason <text>', 'reason, stored with the block', 'abuse')
    .action(async (target, options) => (await import('../blocked-link.ts')).blockLink(target, options))
  withRecords(link.command('unblock <target>'))
    .description('redirect clicks again; takes a target or an id')
    .action(async (target, options) => (await import('../blocked-link.ts')).unblockLink(target, options))
  withRecords(link.command('list'))
    .description('list blocked targets')
    .action(async (options) => (await import('../blocked-link.ts')).listBlockedLinks(options))
}

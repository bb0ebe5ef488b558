import type { Command } from 'commander'
import { withRecords } from '../options.ts'

/** `postrider login-link`. */
export function addLoginLink(program: Command): void {
  withRecords(program.command('login-link'))
    .description('print a link that signs you in to the dashboard: once, within 30 minutes')
    .option('--remove-password', 'take the operator’s password away, and end all sessions')
    .action(async (options) => (await import('../login-link.ts')).loginLink(options))
}

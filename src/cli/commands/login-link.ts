import type { Command } from 'commander'
import { withRecords } from '../options.ts'

/** `postrider login-link`. */
export function addLoginLink(program: Command): void {
  withRecords(program.command('login-link').alias('login'))
    .description('print a dashboard sign-in link; it works once and expires after 30 minutes')
    .option('--user <email>', 'the operator to sign in (email or id); needed if there are several')
    .option('--remove-password', "remove the operator's password and end the operator's sessions")
    .action(async (options) => (await import('../login-link.ts')).loginLink(options))
}

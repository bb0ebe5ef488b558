import type { Command } from 'commander'
import { withRecords } from '../options.ts'

/** `migrate`. */
export function addMigrate(program: Command): void {
  withRecords(program.command('migrate'))
    .description('move the data from SQLite to PostgreSQL, or back; to PostgreSQL, repeat it with --finish')
    .option(
      '--to <url>',
      'postgres://user:password@host/database, or an empty directory for SQLite once all nodes have ended',
    )
    .option('--to-file <file>', 'file with that URL, so that the process list does not show the password')
    .option('--ca-file <file>', 'PEM file of the CA certificates of the PostgreSQL servers')
    .option('--finish', 'move the rest, compare both sides, and mark the data directory as moved')
    .action(async (options) => (await import('../migrate/migrate.ts')).migrate(options))
}

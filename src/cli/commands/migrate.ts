import type { Command } from 'commander'
import { withRecords } from '../options.ts'

/** `migrate`. */
export function addMigrate(program: Command): void {
  withRecords(program.command('migrate'))
    .description('move the data from SQLite to PostgreSQL; repeat it with --finish once the server has stopped')
    .option('--to <url>', 'PostgreSQL 15 or newer: postgres://user:password@host/database')
    .option('--to-file <file>', 'file with that URL, so that the process list does not show the password')
    .option('--ca-file <file>', 'PEM file of the CA certificates of the PostgreSQL servers')
    .option('--finish', 'move the rest, compare both sides, and mark the data directory as moved')
    .action(async (options) => (await import('../migrate/migrate.ts')).migrate(options))
}

import { type Command, InvalidArgumentError, Option } from 'commander'
import { whole, withRecords } from '../options.ts'

/** `backup`, `restore`, `restore adopt` and `restore release`. */
export function addBackup(program: Command): void {
  withRecords(program.command('backup [to]'))
    .description(
      'back up the database, keys and config to a file, a folder, either at s3://bucket/, or standard output (-); safe while the server runs. Without a target, to the folder backup.to of the config',
    )
    .option('--without-key', 'omit seal.key; a restore then requires --seal-key')
    .option('--keep <number>', 'with a folder: keep this many of the newest backups and delete the rest', (text) =>
      whole(text, 1, 10_000, 'number'),
    )
    .addOption(
      new Option(
        '--if-network <needed>',
        'do nothing unless the backup needs the network, for a bucket or PostgreSQL (yes), or needs none (no); for services',
      ).choices(['yes', 'no']),
    )
    .option('--dump', 'with PostgreSQL: include the database, as pg_dump writes it (up to some ten gigabytes)')
    .action(async (to, { withoutKey, ...options }) =>
      (await import('../backup/make.ts')).backup(to, { ...options, key: !withoutKey }),
    )

  const restore = withRecords(program.command('restore'))
    .enablePositionalOptions() // options after `release` belong to it
    .argument('<from>', 'backup file, also at s3://bucket/, or - for standard input')
    .description('replace the data directory with a backup; queued mail stays on hold until you release it')
    .option('--verify', 'check the whole backup and change nothing')
    .option(
      '--to <folder>',
      'data directory to restore to (default: data_dir of the config; a missing config is restored too)',
    )
    .option('--replace', 'allow a data directory that is not empty; the old one is renamed and kept')
    .option('--seal-key <file>', 'encryption key, for a backup made with --without-key')
    .option(
      '--signed-by <key>',
      'accept only a backup with this signature: the key that `backup` printed, or a file with such keys (default: the key of the data directory)',
    )
    .option('--unauthenticated', 'accept a backup without checking who made it')
    .addOption(
      new Option('--send-queued', 'send queued mail; messages that were sent after the backup arrive twice').conflicts(
        'discardQueued',
      ),
    )
    .option('--discard-queued', 'cancel queued mail')
    .action(async (from, options) => (await import('../backup/restore.ts')).restore(from, options))
  withRecords(restore.command('adopt'))
    .description(
      'with PostgreSQL: accept a database that is a copy or went back, and hold what waits in it; end all nodes first',
    )
    .action(async (options) => (await import('../backup/adopt.ts')).adopt(options))
  withRecords(restore.command('release'))
    .description('release or discard mail that a restore put on hold; without options, show the counts')
    .option('--all', 'send everything; messages that were sent after the backup arrive twice')
    .option(
      '--due-after <time>',
      'release only deliveries due after this ISO 8601 time; use the time the old server stopped',
      time,
    )
    .option('--posts', 'release or discard only webhook and inbound deliveries')
    .option('--discard', 'cancel instead of sending')
    .action(async (options) => (await import('../backup/release.ts')).release(options))
}

function time(text: string): number {
  const at = Date.parse(text)
  if (Number.isFinite(at)) return at
  throw new InvalidArgumentError('Expected an ISO 8601 time such as 2026-11-21T12:00:00Z.')
}

import { type Command, InvalidArgumentError, Option } from 'commander'
import { whole, withRecords } from '../options.ts'

/** `backup`, `restore` and `restore release`. */
export function addBackup(program: Command): void {
  withRecords(program.command('backup <to>'))
    .description('copy database, keys and config into one file, beside the running server; - is standard output')
    .option('--without-key', 'leave out seal.key: what is sealed cannot be opened from the file alone')
    .option('--keep <number>', 'into a folder: keep the newest so many, remove the others', (text) =>
      whole(text, 1, 10_000, 'number'),
    )
    .action(async (to, { withoutKey, ...options }) =>
      (await import('../backup/make.ts')).backup(to, { ...options, key: !withoutKey }),
    )

  const restore = withRecords(program.command('restore'))
    .enablePositionalOptions() // what stands behind `release` is its own
    .argument('<from>', 'a backup; - is standard input')
    .description('put a backup in place of the data directory; what waited in it is held until released')
    .option('--verify', 'only look at all of it, change nothing')
    .option('--to <folder>', 'the data directory (default: that of the config, which is restored where there is none)')
    .option('--replace', 'also when the data directory is not empty; it is kept beside')
    .option('--seal-key <file>', 'the key, for a backup made without it')
    .addOption(new Option('--send-queued', 'what waited is sent, some of it perhaps twice').conflicts('discardQueued'))
    .option('--discard-queued', 'what waited is cancelled')
    .action(async (from, options) => (await import('../backup/restore.ts')).restore(from, options))
  withRecords(restore.command('release'))
    .description('say what becomes of what a restore holds; without an option tell what it is')
    .option('--all', 'send it; what was sent after the backup arrives twice')
    .option('--due-after <time>', 'only what was due later: when the old server stopped (ISO 8601)', time)
    .option('--posts', 'only webhook and inbound posts')
    .option('--discard', 'cancel it')
    .action(async (options) => (await import('../backup/release.ts')).release(options))
}

function time(text: string): number {
  const at = Date.parse(text)
  if (Number.isFinite(at)) return at
  throw new InvalidArgumentError('Expected a time as 2026-11-21T12:00:00Z.')
}

import type BetterSqlite from 'better-sqlite3'

/** The only import of the driver. Each platform's addon has its own sub-path, and the compiled binary must contain
 *  just one, so the choice uses literals that the bundler can fold for its target; `POSTRIDER_LIBC` is defined by
 *  scripts/build.ts. */
const Database: typeof BetterSqlite =
  process.platform === 'darwin'
    ? process.arch === 'arm64'
      ? require('better-sqlite3/darwin-arm64')
      : require('better-sqlite3/darwin-x64')
    : process.env.POSTRIDER_LIBC === 'musl'
      ? process.arch === 'arm64'
        ? require('better-sqlite3/linuxmusl-arm64')
        : require('better-sqlite3/linuxmusl-x64')
      : process.arch === 'arm64'
        ? require('better-sqlite3/linux-arm64')
        : require('better-sqlite3/linux-x64')

/** The row of a statement that always has one, such as a count. Throws if there is none. */
export function one<Row>(statement: BetterSqlite.Statement<unknown[], Row>, ...values: unknown[]): Row {
  const row = statement.get(...values)
  if (row === undefined) throw new Error(`no row for: ${statement.source}`)
  return row
}

/** sqlite.org/pragma.html#pragma_auto_vacuum */
const INCREMENTAL = 2

/** `+?` in a statement is deliberate: SQLite notes which bound values a plan may depend on (a limit, a column with
 *  several indexes) and prepares the statement again, in 5 to 40 µs, for each different value. A value behind a plus
 *  is not noted. test/storage/prepared.test.ts checks this for the statements of the mail path. */
export type Connection = BetterSqlite.Database

/** Path → an open connection with our pragmas; for tests `:memory:`, or the bytes of a database, which is then in memory.
 *  Throws what the driver throws. */
export function connect(file: string | Buffer, options: { busyTimeoutMs: number; readonly?: boolean }): Connection {
  const db = new Database(file, { timeout: options.busyTimeoutMs, readonly: options.readonly ?? false })
  // The file may come from an untrusted backup: its triggers, views and expressions may not call functions with side
  // effects, and a cell that points outside its page is an error at once. sqlite.org/security.html
  db.pragma('trusted_schema = off')
  db.pragma('cell_size_check = on')
  db.pragma('mmap_size = 0') // an unreadable page is an error then, not a signal
  if (!options.readonly) {
    // First, because it only takes effect on an empty file: lets retention return space in small steps. Not repeated,
    // because that would write to the file.
    if (db.pragma('auto_vacuum', { simple: true }) !== INCREMENTAL) db.pragma('auto_vacuum = incremental')
    db.pragma('journal_mode = wal')
    // Without this line WAL uses NORMAL, and a power cut would undo acknowledged mail.
    db.pragma('synchronous = full')
    // Erases deleted mail; `fast` would leave it in free pages until they are vacuumed.
    db.pragma('secure_delete = on')
  }
  db.pragma('foreign_keys = on')
  db.pragma('temp_store = memory')
  // 16 MiB of pages: the due indexes and the ends of all tables stay in memory; the rest is in the system's cache.
  db.pragma('cache_size = -16384')
  // SQLite's own lower() supports ASCII only.
  db.function('fold_case', { deterministic: true }, (text: string) => text.toLowerCase())
  return db
}

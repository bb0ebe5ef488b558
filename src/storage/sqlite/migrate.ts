import { closeSync, existsSync, fsyncSync, openSync, readdirSync, renameSync, rmSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { checksumOf, type Done, type Migration, requireKnown, SQLITE_MIGRATIONS } from '../migrations.ts'
import type { Connection } from './driver.ts'

/** Connection → its schema upgraded to this binary's, each step recorded with the checksum of its text: one transaction
 *  per step, or a single one for a new store. An interrupted transaction leaves nothing and runs again. A store that was
 *  in use is copied first, to `<file>.before-schema-<number>`; an existing copy stays, because it was made before an
 *  interrupted upgrade. The newest three are kept. Returns the names of the steps that upgraded a store in use; none for
 *  a new one. Throws StoreMismatch, without changes, if the file is newer than this binary or a recorded step has another
 *  text here. */
export function migrate(db: Connection, now: number, migrations: readonly Migration[] = SQLITE_MIGRATIONS): string[] {
  db.exec(
    'create table if not exists migrations (number integer primary key, name text not null, checksum text not null, applied_at integer not null) strict',
  )
  const done = requireKnownSchema(db, migrations)
  if (done > 0 && done < migrations.length) copyBefore(db, done + 1)
  const isDone = db.prepare('select 1 from migrations where number = ?')
  const record = db.prepare('insert into migrations (number, name, checksum, applied_at) values (?, ?, ?, ?)')
  const steps = () =>
    migrations.slice(done).forEach((migration, at) => {
      const number = done + at + 1
      const step = db.transaction(() => {
        if (isDone.get(number) !== undefined) return // another process came first
        record.run(number, migration.name, checksumOf(migration), now)
        db.exec(migration.sql)
      })
      step.immediate()
    })
  if (done === 0) db.transaction(steps).immediate()
  else steps()
  return done === 0 ? [] : migrations.slice(done).map(({ name }) => name)
}

/** Connection to a store → the number of its schema steps, all known to this binary; 0 for a new one whose table of
 *  steps was just created. Throws StoreMismatch. */
export function requireKnownSchema(db: Connection, migrations: readonly Migration[] = SQLITE_MIGRATIONS): number {
  const done = db.prepare<unknown[], Done>('select number, name, checksum from migrations order by number').all()
  return requireKnown(done, migrations, 'data directory')
}

/** A copy gets its final name only once it is complete. */
function copyBefore(db: Connection, number: number): void {
  const copy = `${db.name}.before-schema-${number}`
  if (db.memory || existsSync(copy)) return
  const part = `${copy}.part`
  rmSync(part, { force: true })
  const file = openSync(part, 'wx', 0o600) // SQLite fills it and keeps its mode
  try {
    db.prepare('vacuum into ?').run(part)
    fsyncSync(file)
  } finally {
    closeSync(file)
  }
  renameSync(part, copy)
  dropOldCopies(db.name)
}

/** Copies kept of earlier upgrades; each is as large as the database was. */
const COPIES = 3

function dropOldCopies(file: string): void {
  const begins = `${basename(file)}.before-schema-`
  const numbers = readdirSync(dirname(file))
    .filter((name) => name.startsWith(begins) && /^\d+$/.test(name.slice(begins.length)))
    .map((name) => Number(name.slice(begins.length)))
    .sort((a, b) => b - a)
  for (const number of numbers.slice(COPIES)) rmSync(join(dirname(file), begins + number))
}

import { createHash } from 'node:crypto'
import { closeSync, existsSync, fsyncSync, openSync, readdirSync, renameSync, rmSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { StoreMismatch } from '../errors.ts'
import schema from '../schema.sql' with { type: 'text' }
import type { Connection } from './driver.ts'
import tables from './tables.sql' with { type: 'text' }
import { schemaToSqlite } from './translate-schema.ts'

export interface Migration {
  name: string
  sql: string
}

/** In order; never edited after a release. The number is the position in the list, from 1. */
export const MIGRATIONS: readonly Migration[] = [{ name: '0001_schema', sql: schemaToSqlite(schema) + tables }]

/** Connection → its schema upgraded to this binary's, each step recorded with the checksum of its text: one transaction
 *  per step, or a single one for a new store. An interrupted transaction leaves nothing and runs again. A store that was
 *  in use is copied first, to `<file>.before-schema-<number>`; an existing copy stays, because it was made before an
 *  interrupted upgrade. The newest three are kept. Returns the names of the steps that upgraded a store in use; none for
 *  a new one. Throws StoreMismatch, without changes, if the file is newer than this binary or a recorded step has another
 *  text here. */
export function migrate(db: Connection, now: number, migrations: readonly Migration[] = MIGRATIONS): string[] {
  db.exec(
    'create table if not exists migrations (number integer primary key, name text not null, checksum text not null, applied_at integer not null) strict',
  )
  const done = requireKnownSchema(db, migrations)
  if (done > 0 && done < migrations.length) copyBefore(db, done + 1)
  const isDone = db.prepare('select 1 from migrations where number = ?')
  const record = db.prepare('insert into migrations (number, name, checksum, applied_at) values (?, ?, ?, ?)')
  const steps = () =>
    migrations.slice(done).forEach(({ name, sql }, at) => {
      const number = done + at + 1
      const step = db.transaction(() => {
        if (isDone.get(number) !== undefined) return // another process came first
        record.run(number, name, checksumOf(sql), now)
        db.exec(sql)
      })
      step.immediate()
    })
  if (done === 0) db.transaction(steps).immediate()
  else steps()
  return done === 0 ? [] : migrations.slice(done).map(({ name }) => name)
}

/** Connection to a store → the number of its schema steps, all known to this binary; 0 for a new one whose table of
 *  steps was just created. Throws StoreMismatch. */
export function requireKnownSchema(db: Connection, migrations: readonly Migration[] = MIGRATIONS): number {
  const done = db
    .prepare<unknown[], { number: number; name: string; checksum: string }>(
      'select number, name, checksum from migrations order by number',
    )
    .all()
  for (const { number, name, checksum } of done) {
    const known = migrations[number - 1]
    if (known !== undefined && checksum !== checksumOf(known.sql)) {
      throw new StoreMismatch(
        `schema step ${number} (${name}) of the data directory differs from the one in this version. Run the version that wrote it.`,
      )
    }
  }
  const newest = done.at(-1)
  if (newest !== undefined && newest.number > migrations.length) {
    throw new StoreMismatch(
      `a newer Postrider wrote the data directory (schema ${newest.number} ${newest.name}, this version has ${migrations.length}). Run that version, or restore a backup made before the upgrade.`,
    )
  }
  return done.length
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

function checksumOf(sql: string): string {
  return createHash('sha256').update(sql).digest('hex')
}

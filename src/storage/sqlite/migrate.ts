import { createHash } from 'node:crypto'
import { closeSync, existsSync, fsyncSync, openSync, readdirSync, renameSync, rmSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { StoreMismatch } from '../errors.ts'
import type { Connection } from './driver.ts'
import start from './migrations/0001_start.sql' with { type: 'text' }
import ownership from './migrations/0002_ownership.sql' with { type: 'text' }
import planLimits from './migrations/0003_plan_limits.sql' with { type: 'text' }
import forwardTargets from './migrations/0004_forward_targets.sql' with { type: 'text' }
import keyNetworks from './migrations/0005_key_networks.sql' with { type: 'text' }
import queues from './migrations/0006_queues.sql' with { type: 'text' }
import waits from './migrations/0007_waits.sql' with { type: 'text' }
import users from './migrations/0008_users.sql' with { type: 'text' }
import factors from './migrations/0009_factors.sql' with { type: 'text' }
import singleSignOn from './migrations/0011_single_sign_on.sql' with { type: 'text' }
import templateSamples from './migrations/0013_template_samples.sql' with { type: 'text' }
import suppressionSearch from './migrations/0014_suppression_search.sql' with { type: 'text' }
import policyReports from './migrations/0015_policy_reports.sql' with { type: 'text' }
import sendingAddresses from './migrations/0016_sending_addresses.sql' with { type: 'text' }
import warmup from './migrations/0017_warmup.sql' with { type: 'text' }
import alerts from './migrations/0018_alerts.sql' with { type: 'text' }
import addressRests from './migrations/0019_address_rests.sql' with { type: 'text' }
import templateParts from './migrations/0020_template_parts.sql' with { type: 'text' }
import dkimStates from './migrations/0021_dkim_states.sql' with { type: 'text' }
import erasure from './migrations/0022_erasure.sql' with { type: 'text' }
import canaries from './migrations/0023_canaries.sql' with { type: 'text' }
import relays from './migrations/0024_relays.sql' with { type: 'text' }
import canaryIndex from './migrations/0028_canary_index.sql' with { type: 'text' }
import dkimRotation from './migrations/0029_dkim_rotation.sql' with { type: 'text' }
import erasurePlaces from './migrations/0030_erasure_places.sql' with { type: 'text' }
import searchWords from './migrations/0031_search_words.sql' with { type: 'text' }
import verifiedAddresses from './migrations/0032_verified_addresses.sql' with { type: 'text' }
import makerRole from './migrations/0033_maker_role.sql' with { type: 'text' }
import suppressionStreams from './migrations/0034_suppression_streams.sql' with { type: 'text' }
import operators from './migrations/0035_operators.sql' with { type: 'text' }
import endpointHeaders from './migrations/0036_endpoint_headers.sql' with { type: 'text' }
import qualityCounts from './migrations/0037_quality_counts.sql' with { type: 'text' }

export interface Migration {
  name: string
  sql: string
}

/** In order; never edited after a release. The number is the position in the list, from 1. */
export const MIGRATIONS: readonly Migration[] = [
  { name: '0001_start', sql: start },
  { name: '0002_ownership', sql: ownership },
  { name: '0003_plan_limits', sql: planLimits },
  { name: '0004_forward_targets', sql: forwardTargets },
  { name: '0005_key_networks', sql: keyNetworks },
  { name: '0006_queues', sql: queues },
  { name: '0007_waits', sql: waits },
  { name: '0008_users', sql: users },
  { name: '0009_factors', sql: factors },
  { name: '0013_template_samples', sql: templateSamples },
  { name: '0011_single_sign_on', sql: singleSignOn },
  { name: '0014_suppression_search', sql: suppressionSearch },
  { name: '0015_policy_reports', sql: policyReports },
  { name: '0016_sending_addresses', sql: sendingAddresses },
  { name: '0017_warmup', sql: warmup },
  { name: '0018_alerts', sql: alerts },
  { name: '0019_address_rests', sql: addressRests },
  { name: '0020_template_parts', sql: templateParts },
  { name: '0021_dkim_states', sql: dkimStates },
  { name: '0022_erasure', sql: erasure },
  { name: '0023_canaries', sql: canaries },
  { name: '0024_relays', sql: relays },
  { name: '0028_canary_index', sql: canaryIndex },
  { name: '0029_dkim_rotation', sql: dkimRotation },
  { name: '0030_erasure_places', sql: erasurePlaces },
  { name: '0031_search_words', sql: searchWords },
  { name: '0032_verified_addresses', sql: verifiedAddresses },
  { name: '0033_maker_role', sql: makerRole },
  { name: '0034_suppression_streams', sql: suppressionStreams },
  { name: '0035_operators', sql: operators },
  { name: '0036_endpoint_headers', sql: endpointHeaders },
  { name: '0037_quality_counts', sql: qualityCounts },
]

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
  const newest = done.at(-1)
  if (newest !== undefined && newest.number > migrations.length) {
    throw new StoreMismatch(
      `a newer Postrider wrote the data directory (schema ${newest.number} ${newest.name}, this version has ${migrations.length}). Run that version, or restore a backup made before the upgrade.`,
    )
  }
  for (const { number, name, checksum } of done) {
    const known = migrations[number - 1]
    if (known === undefined || checksum !== checksumOf(known.sql)) {
      throw new StoreMismatch(
        `schema step ${number} (${name}) of the data directory differs from the one in this version`,
      )
    }
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

import { createHash } from 'node:crypto'
import { StoreMismatch } from '../errors.ts'
import { type Connection, Refused } from './connection.ts'
import start from './migrations/0001_start.sql' with { type: 'text' }
import certificates from './migrations/0002_certificates.sql' with { type: 'text' }
import collision from './migrations/0002_collision.sql' with { type: 'text' }
import folding from './migrations/0002_folding.sql' with { type: 'text' }
import follows from './migrations/0002_follows.sql' with { type: 'text' }
import leases from './migrations/0002_leases.sql' with { type: 'text' }
import rates from './migrations/0002_rates.sql' with { type: 'text' }
import nodes from './migrations/0010_nodes.sql' with { type: 'text' }
import instance from './migrations/0020_instance.sql' with { type: 'text' }
import history from './migrations/0021_history.sql' with { type: 'text' }
import schemas from './migrations/0022_schemas.sql' with { type: 'text' }
import destinations from './migrations/0040_destinations.sql' with { type: 'text' }
import users from './migrations/0050_users.sql' with { type: 'text' }
import factors from './migrations/0051_factors.sql' with { type: 'text' }
import singleSignOn from './migrations/0053_single_sign_on.sql' with { type: 'text' }
import templateSamples from './migrations/0055_template_samples.sql' with { type: 'text' }
import suppressionSearch from './migrations/0056_suppression_search.sql' with { type: 'text' }
import policyReports from './migrations/0057_policy_reports.sql' with { type: 'text' }
import sendingAddresses from './migrations/0058_sending_addresses.sql' with { type: 'text' }
import warmup from './migrations/0059_warmup.sql' with { type: 'text' }
import alerts from './migrations/0060_alerts.sql' with { type: 'text' }
import addressRests from './migrations/0061_address_rests.sql' with { type: 'text' }
import placement from './migrations/0062_placement.sql' with { type: 'text' }
import templateParts from './migrations/0063_template_parts.sql' with { type: 'text' }
import dkimStates from './migrations/0064_dkim_states.sql' with { type: 'text' }
import erasure from './migrations/0065_erasure.sql' with { type: 'text' }
import canaries from './migrations/0066_canaries.sql' with { type: 'text' }
import relays from './migrations/0067_relays.sql' with { type: 'text' }
import canaryIndex from './migrations/0071_canary_index.sql' with { type: 'text' }
import dkimRotation from './migrations/0072_dkim_rotation.sql' with { type: 'text' }
import erasurePlaces from './migrations/0073_erasure_places.sql' with { type: 'text' }
import verifiedAddresses from './migrations/0074_verified_addresses.sql' with { type: 'text' }
import makerRole from './migrations/0075_maker_role.sql' with { type: 'text' }
import suppressionStreams from './migrations/0076_suppression_streams.sql' with { type: 'text' }
import suppressionReaches from './migrations/0077_suppression_reaches.sql' with { type: 'text' }
import endpointHeaders from './migrations/0078_endpoint_headers.sql' with { type: 'text' }

export interface Migration {
  name: string
  sql: string
  /** True if versions that do not have this step cannot run with it: it waits until every live node has it, and so do the
   *  steps behind it, so that this version runs without them. Other steps add tables, columns with defaults, or indexes. */
  isNarrow?: boolean
}

/** In order; never edited after a release. The number is the position in the list, from 1. */
export const MIGRATIONS: readonly Migration[] = [
  { name: '0001_start', sql: start },
  { name: '0002_collision', sql: collision },
  { name: '0002_leases', sql: leases },
  { name: '0002_folding', sql: folding },
  { name: '0002_rates', sql: rates },
  { name: '0002_follows', sql: follows },
  { name: '0002_certificates', sql: certificates },
  { name: '0010_nodes', sql: nodes },
  { name: '0020_instance', sql: instance },
  { name: '0021_history', sql: history },
  { name: '0022_schemas', sql: schemas },
  { name: '0040_destinations', sql: destinations },
  { name: '0050_users', sql: users },
  { name: '0051_factors', sql: factors },
  { name: '0055_template_samples', sql: templateSamples },
  { name: '0053_single_sign_on', sql: singleSignOn },
  { name: '0056_suppression_search', sql: suppressionSearch },
  { name: '0057_policy_reports', sql: policyReports },
  { name: '0058_sending_addresses', sql: sendingAddresses },
  { name: '0059_warmup', sql: warmup },
  { name: '0060_alerts', sql: alerts },
  { name: '0061_address_rests', sql: addressRests },
  { name: '0062_placement', sql: placement },
  { name: '0063_template_parts', sql: templateParts },
  { name: '0064_dkim_states', sql: dkimStates },
  { name: '0065_erasure', sql: erasure },
  { name: '0066_canaries', sql: canaries },
  { name: '0067_relays', sql: relays },
  { name: '0071_canary_index', sql: canaryIndex },
  { name: '0072_dkim_rotation', sql: dkimRotation },
  { name: '0073_erasure_places', sql: erasurePlaces },
  { name: '0074_verified_addresses', sql: verifiedAddresses },
  { name: '0075_maker_role', sql: makerRole },
  { name: '0076_suppression_streams', sql: suppressionStreams },
  { name: '0078_endpoint_headers', sql: endpointHeaders },
  // Last of its version, because the steps behind a narrow one wait with it.
  { name: '0077_suppression_reaches', sql: suppressionReaches, isNarrow: true },
]

const STEPS = `create table if not exists migrations (
  number int primary key, name text not null, checksum text not null, applied_at bigint not null)`
/** Any number, the same in every version: of two nodes that start, one migrates. While a step waits for a
 *  table, nobody else can use that table, so the wait is short and is repeated. */
const BEGIN = `begin; set local statement_timeout = 0; set local lock_timeout = '2s'`
const LOCK = 'select pg_advisory_xact_lock(7233185)'
const LOCK_NOT_AVAILABLE = new Set(['55P03', '40P01'])
const ATTEMPTS = 30
const PAUSE_MS = 250
/** A step that writes every row. */
const STEP_MS = 60 * 60_000
const IS_OLDER = 'select 1 from nodes where ended_at is null and schema < $1 limit 1'
const DONE = 'select number, name, checksum from migrations order by number'
const RECORD = 'insert into migrations (number, name, checksum, applied_at) values ($1, $2, $3, $4)'

/** Connection → its schema upgraded to this binary's, one transaction per step, each recorded with the checksum of its
 *  text. An interrupted step leaves nothing and runs again. Steps that an older live node cannot serve wait. Returns the
 *  names of the steps that upgraded a schema in use; none for a new one. Throws StoreMismatch, without changes, if the
 *  schema is newer than this binary, or if a recorded step has another text here. */
export async function migrate(
  connection: Connection,
  now: number,
  migrations: readonly Migration[] = MIGRATIONS,
): Promise<string[]> {
  const before = await inTransaction(connection, async () => {
    await connection.query(STEPS)
    return knownSteps(connection, migrations)
  })
  const upgraded: string[] = []
  for (const [at, { name, sql, isNarrow = false }] of migrations.entries()) {
    if (at < before) continue
    const done = await inTransaction(connection, async () => {
      if ((await knownSteps(connection, migrations)) > at) return 'by others'
      if (isNarrow && (await connection.query(IS_OLDER, [at + 1])).length > 0) return 'later'
      await connection.query(sql, [], STEP_MS)
      await connection.run(RECORD, [at + 1, name, checksumOf(sql), now])
      return 'here'
    })
    if (done === 'later') break
    if (done === 'here' && before > 0) upgraded.push(name)
  }
  return upgraded
}

/** Number of steps, all known to this binary. */
async function knownSteps(connection: Connection, migrations: readonly Migration[]): Promise<number> {
  const done = await connection.query<{ number: number; name: string; checksum: string }>(DONE)
  const newest = done.at(-1)
  if (newest !== undefined && newest.number > migrations.length) {
    throw new StoreMismatch(
      `a newer Postrider wrote the database (schema ${newest.number} ${newest.name}, this version has ${migrations.length}). Run that version.`,
    )
  }
  for (const { number, name, checksum } of done) {
    const known = migrations[number - 1]
    if (known === undefined || checksum !== checksumOf(known.sql)) {
      throw new StoreMismatch(`schema step ${number} (${name}) of the database differs from the one in this version`)
    }
  }
  return done.length
}

/** Repeats it if a lock is taken. */
async function inTransaction<T>(connection: Connection, work: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    await connection.query(BEGIN)
    try {
      await connection.query(LOCK)
      const value = await work()
      await connection.query('commit')
      return value
    } catch (error) {
      await connection.query('rollback')
      const isTaken = error instanceof Refused && LOCK_NOT_AVAILABLE.has(error.code)
      if (!isTaken || attempt === ATTEMPTS) throw error
      await new Promise((resolve) => setTimeout(resolve, PAUSE_MS))
    }
  }
}

/** True if steps of this version are still to be run. */
export async function isUpgradePending({ query }: Pick<Connection, 'query'>): Promise<boolean> {
  return (await query(DONE)).length < MIGRATIONS.length
}

function checksumOf(sql: string): string {
  return createHash('sha256').update(sql).digest('hex')
}

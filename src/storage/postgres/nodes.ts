import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { writePrivately } from '../../os/private-file.ts'
import { isRecord } from '../../os/records.ts'
import { NEWEST_SCHEMA } from '../migrations.ts'
import type { Connection } from './connection.ts'
import { createPlaces, type Places } from './places.ts'
import type { Queries } from './transactions.ts'

// Serial with changes of settings, which wait for every node that was there before.
const LOCK = 'select version::float8 as version from configuration for update'
const REGISTER = `insert into nodes (key, name, hostname, version, key_name, handles_mail, passed, configuration_version,
    schema, placement)
  values ($1, $2, $3, $4, $5, $6, coalesce((select max(passed) from nodes), 0), $7, $8, $9) returning id`
const REPLACE = `update nodes set is_forgotten = true
  where name = $1 and handles_mail and not is_forgotten and ended_at is not null`
const END = `with ended as (
    update nodes set ended_at = clock_timestamp() where key = $1 and ended_at is null returning id)
  update lanes set ended_at = clock_timestamp() where ended_at is null and node_id in (select id from ended)`
const ADD_LANE = 'insert into lanes (node_id, seat) values ($1, $2) returning id'
/** The first seat that no live lane has, and the highest place that any node reached. */
const SEAT = `select (select min(free) from generate_series(0, 127) free
      where not exists (select 1 from lanes where seat = free and ended_at is null))::int as seat,
    greatest((select max(written_to) from lanes), (select max(passed) from nodes))::float8 as highest`

/** A process that serves an installation, registered in the database. */
export interface Node {
  id: number
  /** Also in node.json of the data directory. */
  key: string
  /** The changes of settings up to here were made before it registered: it reads them with the rest. */
  configurationVersion: number
}

/** A node with its lanes. */
export interface Registered {
  node: Node
  /** For changes of settings, and for large contents. */
  settingsLane: number
  contentsLane: number
  /** For mail and its events. */
  mailLane: { laneId: number; places: Places }
}

/** Registers this process as a node. With `dataDir`, it is the one that handles mail with this data directory: an earlier
 *  one has ended, and its node is ended too. Without, it is a command beside it. `now`: ms UTC. */
export async function registerNode(
  connection: Connection,
  options: {
    dataDir: string | null
    key: string
    name: string
    hostname: string
    version: string
    keyName: string
    /** As PlacementOptions.published. */
    placement: string | null
    now: () => number
  },
): Promise<Registered> {
  const { dataDir, key, name, hostname, version, keyName, placement, now } = options
  if (dataDir !== null) await replaceEarlier(connection, join(dataDir, 'node.json'), key)
  await connection.query('begin')
  try {
    const [configuration] = await connection.query<{ version: number }>(LOCK)
    const configurationVersion = configuration?.version ?? 0
    const about = [key, name, hostname, version, keyName]
    const values = [...about, dataDir !== null, configurationVersion, NEWEST_SCHEMA, placement]
    if (dataDir !== null) await connection.run(REPLACE, [name])
    const { id } = await added(connection, REGISTER, values)
    const registered = {
      node: { id, key, configurationVersion },
      settingsLane: (await added(connection, ADD_LANE, [id, null])).id,
      contentsLane: (await added(connection, ADD_LANE, [id, null])).id,
      mailLane: await addMailLane(connection, id, now),
    }
    await connection.query('commit')
    return registered
  } catch (error) {
    await connection.query('rollback')
    throw error
  }
}

/** Ends a node: its lanes write nothing more. */
export async function endNode(connection: Pick<Queries, 'query'>, key: string): Promise<void> {
  await connection.query(END, [key])
}

/** Adds a lane that writes events. */
async function addMailLane(
  connection: Connection,
  nodeId: number,
  now: () => number,
): Promise<{ laneId: number; places: Places }> {
  const [row] = await connection.query<{ seat: number | null; highest: number | null }>(SEAT)
  if (row === undefined || row.seat === null) throw new Error('there are too many writing lanes')
  const { id } = await added(connection, ADD_LANE, [nodeId, row.seat])
  return { laneId: id, places: createPlaces(now, row.seat, row.highest ?? 0) }
}

/** Runs a statement that adds a row → its ID. */
async function added(connection: Connection, text: string, values: readonly unknown[]): Promise<{ id: number }> {
  const [row] = await connection.query<{ id: number }>(text, values)
  if (row === undefined) throw new Error('a row was not added')
  return row
}

async function replaceEarlier(connection: Connection, file: string, key: string): Promise<void> {
  const earlier = keyIn(file)
  if (earlier !== null) await endNode(connection, earlier)
  await writePrivately(file, `${JSON.stringify({ key })}\n`)
}

/** Key in a node.json; null if the file is missing or unreadable. */
function keyIn(file: string): string | null {
  try {
    const content: unknown = JSON.parse(readFileSync(file, 'utf8'))
    return isRecord(content) && typeof content.key === 'string' ? content.key : null
  } catch {
    return null
  }
}

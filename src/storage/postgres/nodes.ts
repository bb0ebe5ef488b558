import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { writePrivately } from '../../os/private-file.ts'
import { isRecord } from '../../os/records.ts'
import { NEWEST_SCHEMA } from '../migrations.ts'
import { type Connection, inTransaction } from './connection.ts'
import { LANES } from './lanes.ts'
import type { Queries } from './transactions.ts'

// Serial with changes of settings, which wait for every node that was there before.
const LOCK = 'select version::float8 as version from configuration for update'
const REGISTER = `insert into nodes (key, name, hostname, version, key_name, handles_mail, configuration_version, schema,
    placement, settings)
  values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10) returning id`
const REPLACE = `update nodes set is_forgotten = true
  where name = $1 and handles_mail and not is_forgotten and ended_at is not null`
const END = `with ended as (
    update nodes set ended_at = clock_timestamp(), is_restarted = $2 where key = $1 and ended_at is null returning id)
  update lanes set ended_at = clock_timestamp() where ended_at is null and node_id in (select id from ended)`
const ADD_LANE = 'insert into lanes (node_id) values ($1) returning id'

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
  /** Rows of `lanes`, one for each connection that writes. */
  lanes: number[]
}

/** Registers this process as a node. With `dataDir`, it is the one that handles mail with this data directory: an earlier
 *  one has ended, and its node is ended too. Without, it is a command beside it. */
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
    /** NodeRecord.settings; null: this process is no node. */
    settings: Readonly<Record<string, string>> | null
  },
): Promise<Registered> {
  const { dataDir, key, name, hostname, version, keyName, placement, settings } = options
  if (dataDir !== null) await replaceEarlier(connection, join(dataDir, 'node.json'), key)
  return inTransaction(connection, async () => {
    const [configuration] = await connection.query<{ version: number }>(LOCK)
    const configurationVersion = configuration?.version ?? 0
    const about = [key, name, hostname, version, keyName]
    const values = [
      ...about,
      dataDir !== null,
      configurationVersion,
      NEWEST_SCHEMA,
      placement,
      settings && JSON.stringify(settings),
    ]
    if (dataDir !== null) await connection.run(REPLACE, [name])
    const { id } = await added(connection, REGISTER, values)
    return { node: { id, key, configurationVersion }, lanes: await addLanes(connection, id) }
  })
}

/** Ends a node: its lanes write nothing more. `isRestarted`: its data directory is that of this process, which has its
 *  notes of what was sent, and ends its leases then (workers.ts). */
export async function endNode(connection: Pick<Queries, 'query'>, key: string, isRestarted = false): Promise<void> {
  await connection.query(END, [key, isRestarted])
}

async function addLanes(connection: Connection, nodeId: number): Promise<number[]> {
  const ids: number[] = []
  for (const _ of LANES) ids.push((await added(connection, ADD_LANE, [nodeId])).id)
  return ids
}

/** Runs a statement that adds a row → its ID. */
async function added(connection: Connection, text: string, values: readonly unknown[]): Promise<{ id: number }> {
  const [row] = await connection.query<{ id: number }>(text, values)
  if (row === undefined) throw new Error('a row was not added')
  return row
}

async function replaceEarlier(connection: Connection, file: string, key: string): Promise<void> {
  const earlier = keyIn(file)
  if (earlier !== null) await endNode(connection, earlier, true)
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

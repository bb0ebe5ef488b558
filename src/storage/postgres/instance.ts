import { randomBytes } from 'node:crypto'
import { StoreMoved } from '../errors.ts'
import type { Connection } from './connection.ts'

const PLACE = `(select system_identifier::text from pg_control_system()) as "systemIdentifier",
  (select oid::bigint::text from pg_database where datname = current_database()) as "databaseOid"`
const READ = `select i.id, i.state, i.adoptions,
    i.system_identifier = here."systemIdentifier" and i.database_oid::text = here."databaseOid" as "isHere"
  from instance i cross join (select ${PLACE}) here`
const ADD = `insert into instance (one, id, system_identifier, database_oid, state)
  select 1, $1, "systemIdentifier", "databaseOid"::bigint, $2 from (select ${PLACE}) here on conflict do nothing`
const SET_STATE = 'update instance set state = $1'
const SERVE = `update instance set state = 'serving', adoptions = adoptions + $1, system_identifier = "systemIdentifier",
  database_oid = "databaseOid"::bigint from (select ${PLACE}) here`

// Events are read in the order of the transactions that wrote them. Those of another server may begin lower.
const MOVE_ON = `update instance set position_offset = needed.value
  from (select max(position) - pg_current_xact_id()::text::bigint as value from events) needed
  where needed.value > position_offset returning position_offset::text as offset`
/** It reads all events. */
const MOVE_ON_MS = 60 * 60_000

/** `filling`: a move writes into the database. `moved`: its data is in a data directory. `went_back`: a node found commits
 *  missing that it knows of. */
export type InstanceState = 'serving' | 'filling' | 'moved' | 'went_back'

export interface Instance {
  /** Stays when the installation moves. */
  id: string
  state: InstanceState
  /** How often the operator accepted that it is a copy, or went back. */
  adoptions: number
  /** False for a copy in another server, or in another database of it. */
  isHere: boolean
}

/** Null before the first start. */
export async function readInstance(connection: Pick<Connection, 'query'>): Promise<Instance | null> {
  return (await connection.query<Instance>(READ))[0] ?? null
}

export async function addInstance(
  connection: Connection,
  { id, state }: Pick<Instance, 'id' | 'state'>,
): Promise<void> {
  await connection.run(ADD, [id, state])
}

export async function setInstanceState(connection: Pick<Connection, 'run'>, state: InstanceState): Promise<void> {
  await connection.run(SET_STATE, [state])
}

/** Nodes may serve it, here. `isAdopted`: the operator accepted what was lost. In a transaction. */
export async function serveHere(connection: Connection, { isAdopted }: { isAdopted: boolean }): Promise<void> {
  await connection.run(SERVE, [isAdopted ? 1 : 0])
  const [row] = await connection.query<{ offset: string }>(MOVE_ON, [], MOVE_ON_MS)
  // A default has no parameters; the offset is a number that this database computed.
  if (row !== undefined) {
    const text = `pg_current_xact_id()::text::bigint + ${BigInt(row.offset)}`
    await connection.query(`alter table events alter column position set default ${text}`)
  }
}

/** Reads the instance before a node or a command uses the database, and adds it at the first start. Throws StoreMoved if
 *  the data is incomplete, has moved to another database, or is a copy. */
export async function requireServing(connection: Connection): Promise<Instance> {
  const known = await readInstance(connection)
  if (known === null) {
    await addInstance(connection, { id: randomBytes(8).toString('hex'), state: 'serving' })
    return requireServing(connection)
  }
  const fault = faultOf(known)
  if (fault !== null) throw new StoreMoved(fault)
  return known
}

const ADOPT = 'Nothing is sent from it until you end all nodes, and run: postrider restore adopt'

/** Why nobody may use the database; null = it serves. */
export function faultOf({ state, isHere }: Pick<Instance, 'state' | 'isHere'>): string | null {
  switch (state) {
    case 'filling':
      return 'the database is not complete. Stop the server of the data directory, and run: postrider migrate --finish'
    case 'moved':
      return 'its data moved to a data directory. Remove database.url from the config of that directory.'
    case 'went_back':
      return `the database went back to an earlier state: commits are missing that a node knows of. ${ADOPT}`
    case 'serving':
      return isHere ? null : `the database is a copy of one in another server or database. ${ADOPT}`
  }
}

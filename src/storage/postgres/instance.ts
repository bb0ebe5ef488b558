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

/** Nodes may serve it, here. `isAdopted`: the operator accepted what was lost. */
export async function serveHere(connection: Connection, { isAdopted }: { isAdopted: boolean }): Promise<void> {
  await connection.run(SERVE, [isAdopted ? 1 : 0])
}

/** Before a node or a command uses the database → the instance, which is added at the first start. Throws StoreMoved if
 *  its data is not complete, is elsewhere, or is a copy. */
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

import { randomBytes } from 'node:crypto'
import { StoreMoved } from '../errors.ts'
import type { Connection } from './connection.ts'

const READ = 'select id, state from instance'
const ADD = `insert into instance (one, id, system_identifier, database_oid, state)
  select 1, $1, system_identifier::text, (select oid::bigint from pg_database where datname = current_database()), $2
  from pg_control_system() on conflict do nothing`
const SET_STATE = 'update instance set state = $1'

/** `filling`: a move writes into the database. `moved`: its data is in a data directory. */
export type InstanceState = 'serving' | 'filling' | 'moved'

export interface Instance {
  id: string
  state: InstanceState
}

/** Null before the first start. */
export async function readInstance(connection: Connection): Promise<Instance | null> {
  return (await connection.query<Instance>(READ))[0] ?? null
}

export async function addInstance(connection: Connection, { id, state }: Instance): Promise<void> {
  await connection.run(ADD, [id, state])
}

export async function setInstanceState(connection: Connection, state: InstanceState): Promise<void> {
  await connection.run(SET_STATE, [state])
}

/** Before a node or a command uses the database. Throws StoreMoved if its data is not complete or is elsewhere. */
export async function requireServing(connection: Connection): Promise<void> {
  const known = await readInstance(connection)
  if (known === null) await addInstance(connection, { id: randomBytes(8).toString('hex'), state: 'serving' })
  else if (known.state === 'filling') {
    throw new StoreMoved(
      'the database is not complete. Stop the server of the data directory, and run: postrider migrate --finish',
    )
  } else if (known.state === 'moved') {
    throw new StoreMoved('its data moved to a data directory. Remove database.url from the config of that directory.')
  }
}

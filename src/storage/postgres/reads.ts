import { StoreUnavailable } from '../errors.ts'
import { type Connection, NoAnswer } from './connection.ts'
import { storeError } from './refusals.ts'
import type { Queries } from './transactions.ts'

/** Reads of a node, over a few connections that they share. */
export interface Reads extends Queries {
  close(): void
}

/** Connections of a node for reading. */
const CONNECTIONS = 4
const ATTEMPTS = 3

/** `connect` opens a connection → Reads, which open theirs when they need them. A read whose connection broke is
 *  repeated on another one; it rejects with StoreUnavailable if that breaks too, or if the
 *  server has no resources or ends the statement. */
export function createReads(connect: () => Promise<Connection>): Reads {
  const places: (Promise<Connection> | null)[] = Array.from({ length: CONNECTIONS }, () => null)
  let turn = 0

  const query = async <Row>(text: string, values?: readonly unknown[]): Promise<Row[]> => {
    for (let attempt = 1; ; attempt++) {
      const place = turn++ % CONNECTIONS
      const opening = places[place] ?? connect()
      places[place] = opening
      try {
        return await (await opening).query<Row>(text, values)
      } catch (error) {
        if (!(error instanceof NoAnswer)) throw storeError(error)
        if (places[place] === opening) places[place] = null
        if (attempt === ATTEMPTS) throw new StoreUnavailable('the database does not respond', { cause: error })
      }
    }
  }
  return {
    query,
    close: () => {
      for (const opening of places) opening?.then((connection) => connection.close()).catch(() => {})
      places.fill(null)
    },
  }
}

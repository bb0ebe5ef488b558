import { StoreUnavailable } from '../errors.ts'
import { type Connection, NoAnswer } from './connection.ts'
import { storeError } from './refusals.ts'
import type { Queries } from './transactions.ts'
import { PATIENCE_MS } from './write-lane.ts'

/** Reads of a node, over a few connections that they share. */
export interface Reads extends Queries {
  close(): void
}

/** Connections of a node for reading. */
const CONNECTIONS = 4
/** Pauses between attempts: the first one may have met a session that had ended. */
const PAUSES_MS = [0, 50, 100, 250, 500]

/** `connect` opens a connection → Reads, which open theirs when they need them. A read whose connection broke is
 *  repeated on another one for `patienceMs`; then it rejects with StoreUnavailable, or at once if the server has no
 *  resources, ends the statement, or `close` was called. */
export function createReads(connect: () => Promise<Connection>, patienceMs = PATIENCE_MS): Reads {
  const places: (Promise<Connection> | null)[] = Array.from({ length: CONNECTIONS }, () => null)
  let turn = 0
  let isClosed = false

  const query = async <Row>(text: string, values?: readonly unknown[]): Promise<Row[]> => {
    const givesUpAt = performance.now() + patienceMs
    for (let attempt = 0; ; attempt++) {
      const place = turn++ % CONNECTIONS
      const opening = places[place] ?? connect()
      places[place] = opening
      try {
        return await (await opening).query<Row>(text, values)
      } catch (error) {
        if (!(error instanceof NoAnswer)) throw storeError(error)
        if (places[place] === opening) places[place] = null
        const pauseMs = PAUSES_MS[attempt] ?? PAUSES_MS.at(-1)!
        if (isClosed || performance.now() + pauseMs > givesUpAt)
          throw new StoreUnavailable('the database does not respond', { cause: error })
        await Bun.sleep(pauseMs)
      }
    }
  }
  return {
    query,
    close: () => {
      isClosed = true
      for (const opening of places) opening?.then((connection) => connection.close()).catch(() => {})
      places.fill(null)
    },
  }
}

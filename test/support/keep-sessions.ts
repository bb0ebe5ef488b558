import { mock } from 'bun:test'
import * as connections from '../../src/storage/postgres/connection.ts'

const { NoAnswer } = connections
type Connection = connections.Connection

/** Sessions that nobody uses, by the options of their connection; null: one that has ended. */
const idle = new Map<string, Promise<Connection | null>[]>()

/** As after the end of a session. */
const RELEASE = 'rollback; select pg_advisory_unlock_all()'

/** From now on, the stores of this test file hand their sessions of PostgreSQL to those that are opened later, instead of
 *  ending them: a new session reads the catalog and plans every statement again, which takes most of the CPU time of a
 *  short test. */
export function keepSessions(): void {
  const open = connections.connect
  const connect: typeof open = async (options) => {
    const key = JSON.stringify(options)
    const others = idle.get(key) ?? []
    idle.set(key, others)
    const connection = (await others.pop()) ?? (await open(options))
    return lend(connection, () => {
      const released = connection.query(RELEASE)
      others.push(released.then(() => connection, () => null)) // biome-ignore format: one step
    })
  }
  mock.module('../../src/storage/postgres/connection.ts', () => ({ ...connections, connect }))
}

/** `keep` is called when the connection is closed, unless a statement runs or has had no answer. */
function lend(connection: Connection, keep: () => void): Connection {
  let isClosed = false
  let unanswered = 0
  const ask = async <Answer>(statement: () => Promise<Answer>): Promise<Answer> => {
    if (isClosed) throw new NoAnswer('the connection is closed')
    unanswered++
    return statement().then(
      (answer) => {
        unanswered--
        return answer
      },
      (error) => {
        if (!(error instanceof NoAnswer)) unanswered--
        throw error
      },
    )
  }
  return {
    query: (text, values, deadlineMs) => ask(() => connection.query(text, values, deadlineMs)),
    run: (text, values) => ask(() => connection.run(text, values)),
    close: () => {
      if (isClosed) return
      isClosed = true
      if (unanswered > 0) connection.close()
      else keep()
    },
  }
}

import type { Connection } from './connection.ts'
import { CONNECT_LIMITS } from './limits.ts'

/** Connections that wait for the next request to the same place; the caller names the place by `key`. */
export function createIdleConnections() {
  const byKey = new Map<string, Connection[]>()
  /** All of them, the longest unused first. */
  const kept = new Map<Connection, { key: string; timer: ReturnType<typeof setTimeout> }>()
  let isClosed = false

  const remove = (connection: Connection) => {
    const entry = kept.get(connection)
    if (entry === undefined) return
    clearTimeout(entry.timer)
    kept.delete(connection)
    const left = (byKey.get(entry.key) ?? []).filter((other) => other !== connection)
    if (left.length > 0) byKey.set(entry.key, left)
    else byKey.delete(entry.key)
  }

  return {
    /** Returns the one used last, so that the others can time out. */
    take: (key: string): Connection | null => {
      const connection = byKey.get(key)?.at(-1) ?? null
      if (connection !== null) remove(connection)
      return connection
    },
    keep: (key: string, connection: Connection) => {
      if (isClosed) return connection.close()
      const timer = setTimeout(connection.close, CONNECT_LIMITS.idleMs)
      timer.unref()
      connection.onUnusable = () => remove(connection)
      kept.set(connection, { key, timer })
      byKey.set(key, [...(byKey.get(key) ?? []), connection])
      const [oldest] = kept.keys()
      if (kept.size > CONNECT_LIMITS.idleConnections) oldest?.close()
    },
    close: () => {
      isClosed = true
      for (const connection of [...kept.keys()]) connection.close()
    },
  }
}

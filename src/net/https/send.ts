import type tls from 'node:tls'
import type { PostTarget } from '../webhook-url.ts'
import type { Answer } from './answer-reader.ts'
import { type Connection, type Exchanged, openConnection, type WireRequest } from './connection.ts'
import { CONNECT_LIMITS } from './limits.ts'

/** One request, and whom the certificate must name. */
export interface SendRequest extends WireRequest {
  target: Pick<PostTarget, 'host' | 'port'>
}

/** `not_connected`: no byte of the request has gone out, another address may be tried. */
export type Outcome =
  | { kind: 'answered'; answer: Answer }
  | { kind: 'no_answer'; error: string }
  | { kind: 'not_connected'; error: string }

export interface Sender {
  /** Never rejects. */
  send(ip: string, request: SendRequest, connectMs: number): Promise<Outcome>
  /** Closes the connections that wait for a request; those under way close after it. */
  close(): void
}

/** Trust (null: in clear) → Sender. With `keepsAlive` a connection is kept for the next request to the same host at the same
 *  address. A kept connection that the peer closes before a byte of the answer is replaced once by a fresh one: RFC 9110
 *  §9.2.2 leaves that to us, and our receivers must expect a POST twice anyway. */
export function createSender(trust: tls.SecureContext | null, keepsAlive: boolean): Sender {
  const idle = createIdle()

  const over = async (connection: Connection, key: string, request: SendRequest): Promise<Exchanged> => {
    const exchanged = await connection.exchange(request)
    if (connection.isUsable()) {
      if (keepsAlive) idle.keep(key, connection)
      else connection.close()
    }
    return exchanged
  }

  return {
    send: async (ip, request, connectMs) => {
      const { target, signal } = request
      const key = `${target.host} ${ip} ${target.port}`
      const kept = idle.take(key)
      if (kept !== null) {
        const exchanged = await over(kept, key, request)
        if (exchanged.kind !== 'closed_unused') return exchanged
      }
      const opened = await openConnection({ ip, port: target.port, host: target.host, trust }, connectMs, signal)
      if (opened.kind !== 'open') return opened
      const exchanged = await over(opened.connection, key, request)
      return exchanged.kind === 'closed_unused' ? { kind: 'no_answer', error: 'connection closed' } : exchanged
    },
    close: idle.close,
  }
}

/** Connections without a request. */
function createIdle() {
  const byKey = new Map<string, Connection[]>()
  /** All of them, the longest unused first. */
  const kept = new Map<Connection, { key: string; timer: ReturnType<typeof setTimeout> }>()
  let isClosed = false

  const remove = (connection: Connection) => {
    const entry = kept.get(connection)
    if (entry === undefined) return
    clearTimeout(entry.timer)
    kept.delete(connection)
    const left = byKey.get(entry.key)!.filter((other) => other !== connection)
    if (left.length > 0) byKey.set(entry.key, left)
    else byKey.delete(entry.key)
  }

  return {
    /** The one used last: the others may then end. */
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
      if (kept.size > CONNECT_LIMITS.idleConnections) kept.keys().next().value!.close()
    },
    close: () => {
      isClosed = true
      for (const connection of [...kept.keys()]) connection.close()
    },
  }
}

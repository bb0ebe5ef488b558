import { connect, createServer, type Socket } from 'node:net'

/** Which bytes a proxy passes on; the others wait, as on a network that repeats them later. Without one of the directions
 *  PostgreSQL ends its sessions, as its keepalives would: a half request holds its locks, and no other timeout applies. */
export type Passing = 'both' | 'none' | 'to server' | 'to client'

/** A TCP proxy between one node and one PostgreSQL server. */
export interface NodeProxy {
  port: number
  pass(what: Passing): void
  /** Cuts the next answer to a connection of this application, in both directions, after so many bytes of its next
   *  transaction. Resolves once it is cut. */
  cutAnswer(application: string, afterBytes: number): Promise<void>
  /** Bytes that the server answered in the last whole transaction of a connection of this application. */
  lastAnswerBytes(application: string): number
  stop(): void
}

/** When keepalives end a session (storage/postgres/connection.ts). */
const KEPT_ALIVE_MS = 9_000
/** The end of an answer outside of a transaction: ReadyForQuery with status I (PostgreSQL manual 55.7). */
const IDLE = Buffer.from('Z\0\0\0\x05I')

export async function startProxy(target: number): Promise<NodeProxy> {
  const sockets = new Set<Socket>()
  const directions = new Set<{ from: Socket; isToServer: boolean }>()
  const lastBytes = new Map<string, number>()
  let passing: Passing = 'both'
  let silence: ReturnType<typeof setTimeout> | undefined
  let cut: { application: string; left: number; client: Socket | null; done: () => void } | null = null

  const endSessions = () => {
    for (const { from, isToServer } of directions) if (!isToServer) from.destroy()
  }
  const isPassed = (isToServer: boolean) => passing === 'both' || passing === (isToServer ? 'to server' : 'to client')
  const server = createServer({ noDelay: true }, (client) => {
    const upstream = connect({ port: target, host: '127.0.0.1', noDelay: true })
    const both = [client, upstream]
    // As a connection that the server refuses.
    upstream.once('error', () => client.resetAndDestroy())
    const end = () => {
      for (const socket of both) socket.destroy()
    }
    let application = ''
    let isIdle = false
    let answered = 0
    for (const socket of both) {
      sockets.add(socket)
      const direction = { from: socket, isToServer: socket === client }
      directions.add(direction)
      if (!isPassed(direction.isToServer)) socket.pause()
      socket.on('error', end).on('close', () => {
        sockets.delete(socket)
        directions.delete(direction)
        end()
      })
    }
    client.on('data', (bytes) => {
      if (application === '') application = /application_name\0([^\0]*)\0/.exec(bytes.toString('latin1'))?.[1] ?? '?'
      upstream.write(bytes)
    })
    upstream.on('data', (bytes: Buffer) => {
      if (cut?.application === application && (isIdle || cut.client === client)) {
        cut.client = client
        if (bytes.length > cut.left) {
          client.write(bytes.subarray(0, cut.left), end)
          cut.done()
          cut = null
          return
        }
        cut.left -= bytes.length
      }
      answered += bytes.length
      isIdle = bytes.length >= IDLE.length && bytes.subarray(-IDLE.length).equals(IDLE)
      if (isIdle) {
        lastBytes.set(application, answered)
        answered = 0
      }
      client.write(bytes)
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    port: (server.address() as { port: number }).port,
    pass: (what) => {
      passing = what
      clearTimeout(silence)
      if (what !== 'both') silence = setTimeout(endSessions, KEPT_ALIVE_MS)
      for (const { from, isToServer } of directions) {
        if (isPassed(isToServer)) from.resume()
        else from.pause()
      }
    },
    cutAnswer: (application, afterBytes) =>
      new Promise((done) => {
        cut = { application, left: afterBytes, client: null, done }
      }),
    lastAnswerBytes: (application) => lastBytes.get(application) ?? 0,
    stop: () => {
      clearTimeout(silence)
      for (const socket of sockets) socket.destroy()
      server.close()
    },
  }
}

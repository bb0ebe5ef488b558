import { connect, type Socket } from 'node:net'

/** Connections that each send the beginning of a request and wait: for its response, or to be closed. */
export interface HeldConnections {
  /** Resolves when each has sent what it sends, or was closed before. */
  sent: Promise<unknown>
  /** How many have been answered or closed. */
  over(): number
  /** Closes them, twenty at a time. Resolves when all are closed. */
  close(): Promise<unknown>
}

/** Opens `count` connections to a port of this machine, and later closes them: the next twenty when the server has
 *  answered another request. Bun handles everything that has arrived before it does anything else (1.4.5), and over the
 *  loopback, more arrives meanwhile than over any network. */
export function holdConnections(port: number, count: number, beginning: Buffer): HeldConnections {
  const all: Held[] = []
  let over = 0
  const answerOther = async () => (await fetch(`http://127.0.0.1:${port}/healthz`)).text()
  const open = async () => {
    while (all.length < count) {
      const some = Array.from({ length: AT_ONCE }, () => hold(port, beginning, () => void over++))
      all.push(...some)
      await Promise.all(some.map(({ sent }) => sent))
      await answerOther()
    }
  }
  return {
    sent: open(),
    over: () => over,
    close: async () => {
      for (let some = all.splice(0, AT_ONCE); some.length > 0; some = all.splice(0, AT_ONCE)) {
        for (const { socket } of some) socket.destroy()
        await Promise.all(some.map(({ closed }) => closed))
        await answerOther()
      }
    },
  }
}

const AT_ONCE = 20

interface Held {
  socket: Socket
  sent: Promise<void>
  closed: Promise<void>
}

function hold(port: number, beginning: Buffer, onOver: () => void): Held {
  const sent = Promise.withResolvers<void>()
  const closed = Promise.withResolvers<void>()
  let isOver = false
  const end = () => {
    if (!isOver) onOver()
    isOver = true
  }
  const socket = connect({ port, host: '127.0.0.1' }, () => socket.write(beginning, () => sent.resolve()))
  socket.on('error', () => {})
  socket.once('data', end)
  socket.on('close', () => {
    end()
    sent.resolve()
    closed.resolve()
  })
  return { socket, sent: sent.promise, closed: closed.promise }
}

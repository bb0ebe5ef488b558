import { createServer, type Socket } from 'node:net'
import type { ObjectPlace } from '../../src/storage/objects/objects.ts'
import { flood } from './imap-server.ts'

/** What a service sends for every request; `endless` again and again. */
export interface HostileAnswer {
  first?: string | Uint8Array
  endless?: string
  /** Closes the connection behind `first`. */
  ends?: boolean
}

/** A service that answers every request the same way. */
export interface HostileS3 {
  place: ObjectPlace
  /** Heads and bodies of the requests. */
  requests: string[]
  /** Bytes that clients took. */
  written(): number
  open(): number
  stop(): void
}

export async function startHostileS3({ first = '', endless, ends = false }: HostileAnswer): Promise<HostileS3> {
  const sockets = new Set<Socket>()
  const requests: string[] = []
  const server = createServer((socket) => {
    sockets.add(socket)
    socket.on('error', () => {})
    socket.on('data', (bytes) => {
      requests.push(bytes.toString('latin1'))
      socket.write(first)
      if (endless !== undefined) flood(socket, endless)
      else if (ends) socket.end()
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as { port: number }
  return {
    place: {
      bucket: 'mail',
      prefix: 'test/',
      endpoint: `http://127.0.0.1:${port}`,
      region: '',
      accessKeyId: 'an id',
      secretAccessKey: 'a secret',
    },
    requests,
    written: () =>
      [...sockets].reduce((sum, { bytesWritten, writableLength }) => sum + bytesWritten - writableLength, 0),
    open: () => [...sockets].filter(({ destroyed }) => !destroyed).length,
    stop: () => {
      for (const socket of sockets) socket.destroy()
      server.close()
    },
  }
}

/** A complete answer. */
export const answer = (status: string, body = '', headers = ''): HostileAnswer => ({
  first: `HTTP/1.1 ${status}\r\nContent-Length: ${Buffer.byteLength(body)}\r\n${headers}\r\n${body}`,
})

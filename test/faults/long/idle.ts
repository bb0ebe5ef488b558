import { connect, type Socket } from 'node:net'
import { freePort } from '../../support/free-port.ts'
import { exitOf, makeTestInstallation } from '../setup.ts'
import { look } from './ask.ts'
import { type Fault, unless } from './fault.ts'
import { residentMb } from './process.ts'

const MOST_MORE_MB = 40
const MOST_GREETING_MS = 250
const AT_ONCE = 50

/** Idle connections after a request, half of them SMTP, half HTTP: they hold little memory, and the next one gets
 *  its greeting at once. */
export const idle: Fault = {
  name: 'idle',
  needs: [],
  rounds: { long: 1_000, short: 200 },
  run: async ({ rounds: count, program }) => {
    const port = await freePort()
    const limits = 'max_connections = 5000\nmax_connections_per_address = 5000'
    const installation = await makeTestInstallation({
      program,
      smtp: `[smtp]\n${limits}\n[smtp.inbound]\nlisten = "127.0.0.1:${port}"`,
    })
    const sockets: Socket[] = []
    const open = async (to: number, says: string, answer: RegExp) => {
      const socket = connect({ port: to, host: '127.0.0.1' })
      sockets.push(socket)
      socket.on('error', () => {})
      if (to === port) await report(socket, '', /^220 /)
      if (says !== '') await report(socket, says, answer)
    }
    const both = async () => {
      await open(port, 'EHLO client.example\r\n', /^250 /m)
      await open(installation.port, 'GET /healthz HTTP/1.1\r\nHost: a\r\n\r\n', /200 OK/)
    }
    try {
      const server = await installation.serve()
      for (let i = 0; i < 10; i++) await both() // what the first connection of each kind loads
      const before = residentMb(server.pid!)
      for (let i = 0; i < count; i += AT_ONCE) {
        await Promise.all(Array.from({ length: Math.min(AT_ONCE, count - i) }, both))
      }
      const more = residentMb(server.pid!) - before
      const beganAt = performance.now()
      await open(port, '', /^220 /)
      const greetedMs = performance.now() - beganAt
      const last = await look(installation, '/readyz')
      for (const socket of sockets) socket.destroy()
      server.kill('SIGTERM')
      const code = await exitOf(server)
      return {
        figures: `${count} SMTP and ${count} HTTP: ${more.toFixed(0)} MB more, the next greeting after ${greetedMs.toFixed(0)} ms`,
        broken: [
          ...unless(more <= MOST_MORE_MB, `at most ${MOST_MORE_MB} MB more`),
          ...unless(last.status === 200 && code === 0, 'ready, and exit code 0'),
        ],
        slow: unless(greetedMs <= MOST_GREETING_MS, `greeting within ${MOST_GREETING_MS} ms`),
      }
    } finally {
      for (const socket of sockets) socket.destroy()
      await installation.close()
    }
  },
}

/** Resolves with the response; sends its line at once. Rejects when the connection ends first. */
function report(socket: Socket, says: string, answer: RegExp): Promise<void> {
  return new Promise((resolve, reject) => {
    let text = ''
    const hear = (chunk: Buffer) => {
      text += chunk
      if (!answer.test(text)) return
      socket.off('data', hear)
      resolve()
    }
    socket.on('data', hear)
    socket.on('close', () => reject(new Error(`closed before ${answer}: ${text}`)))
    if (says !== '') socket.write(says)
  })
}

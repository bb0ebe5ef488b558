import { readFileSync } from 'node:fs'
import { connect } from 'node:net'
import { bodies } from './bodies.ts'
import { type Figure, median } from './figures.ts'
import { listenAsPeer } from './mail-peer.ts'
import type { Part } from './part.ts'
import { sleep, until } from './process.ts'
import { openServer, type Server } from './server.ts'

/** One mail on an idle system: from its 202 to the final dot at the peer. Peer and client are this process, so one
 *  clock measures both times; the peer answers each command in about ten microseconds. A mail that arrives before
 *  its 202 counts as 0. */
export const latency: Part = {
  name: 'latency',
  measure: async ({ scratch, note }, binary) => {
    const seen: number[] = []
    const sinkPort = await listenAsPeer({ onMail: () => seen.push(performance.now()) }, '127.0.0.1')
    const server = await openServer(binary.file, { scratch, sinkPort })
    const post = await keptClient(server, readFileSync(bodies.mail(scratch)))
    const tookMs: number[] = []
    for (let mail = 0; mail < WARM_UP + MAILS; mail++) {
      const acceptedAt = await post()
      await until(() => seen.length > mail)
      tookMs.push(Math.max(0, seen[mail]! - acceptedAt))
      await sleep(PAUSE_MS)
    }
    const measured = tookMs.slice(WARM_UP).toSorted((a, b) => a - b)
    note(binary, MEDIAN, median(measured))
    note(binary, P99, measured[Math.floor(measured.length * 0.99)]!)
    await server.stop()
  },
}

const WARM_UP = 20
const MAILS = 200
const PAUSE_MS = 20
const MEDIAN: Figure = { what: 'one mail on an idle system, accepted to delivered, median', unit: 'ms' }
const P99: Figure = {
  what: 'one mail on an idle system, accepted to delivered, p99',
  unit: 'ms',
  goal: { atMost: 15 },
}

/** A kept connection → a function that posts the body once and returns when its 202 was read. */
async function keptClient({ http, key }: Server, body: Buffer): Promise<() => Promise<number>> {
  const [host, port] = http.split(':')
  const socket = connect({ host: host!, port: Number(port), noDelay: true })
  await new Promise((resolve) => socket.once('connect', resolve))
  const head =
    `POST /v1/messages/send HTTP/1.1\r\nHost: ${http}\r\nAuthorization: Bearer ${key}\r\n` +
    `Content-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n`
  const request = Buffer.concat([Buffer.from(head), body])
  return () =>
    new Promise((resolve, reject) => {
      socket.once('data', (answer: Buffer) => {
        if (answer.toString('latin1', 0, 12) === 'HTTP/1.1 202') resolve(performance.now())
        else reject(new Error(answer.toString('latin1', 0, 300)))
      })
      socket.write(request)
    })
}

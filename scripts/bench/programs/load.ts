/** The sending application: `bun scripts/bench/programs/load.ts HOST:PORT KEY CONNECTIONS COUNT BODY_FILE
 *  [idempotent|rate=N]` posts the body COUNT times over that many keep-alive connections, one request at a time on
 *  each, at most N a second, and prints the rate and the latencies as JSON. Raw sockets and prepared bytes keep the
 *  generator far cheaper than the server. */
import { readFileSync } from 'node:fs'
import { connect } from 'node:net'

const [target, key, connectionsText, countText, bodyFile, extra = ''] = process.argv.slice(2)
const [host, port] = target!.split(':')
const connections = Number(connectionsText)
const count = Number(countText)
const isIdempotent = extra === 'idempotent'
const perSecond = extra.startsWith('rate=') ? Number(extra.slice('rate='.length)) : Number.POSITIVE_INFINITY
const body = readFileSync(bodyFile!)
const path = body[0] === 0x7b && body.includes('"messages":[') ? '/v1/messages/batch' : '/v1/messages/send'

const head = (field: string) =>
  Buffer.from(
    `POST ${path} HTTP/1.1\r\nHost: ${target}\r\nAuthorization: Bearer ${key}\r\nContent-Type: application/json\r\n` +
      `${field}Content-Length: ${body.length}\r\n\r\n`,
  )
const plain = Buffer.concat([head(''), body])

let sent = 0
let failed = 0
const latenciesMs: number[] = []

function client(): Promise<void> {
  return new Promise((resolve, reject) => {
    const socket = connect({ host: host!, port: Number(port), noDelay: true })
    let startedAt = 0
    let received = ''
    const next = () => {
      if (sent >= count) {
        socket.end()
        return resolve()
      }
      const waitMs = beganAt + (sent++ * 1000) / perSecond - performance.now()
      if (waitMs > 0) setTimeout(post, waitMs)
      else post()
    }
    const post = () => {
      startedAt = performance.now()
      socket.write(
        isIdempotent ? Buffer.concat([head(`Idempotency-Key: bench-${process.pid}-${sent}\r\n`), body]) : plain,
      )
    }
    socket.setEncoding('latin1')
    socket.on('connect', next)
    socket.on('error', reject)
    socket.on('data', (chunk: string) => {
      received += chunk
      const headEnd = received.indexOf('\r\n\r\n')
      if (headEnd < 0) return
      const length = Number(/content-length: (\d+)/i.exec(received)?.[1] ?? 0)
      if (received.length < headEnd + 4 + length) return
      latenciesMs.push(performance.now() - startedAt)
      if (!received.startsWith('HTTP/1.1 202')) {
        failed++
        if (failed === 1) console.error(received.slice(0, 600))
      }
      received = ''
      next()
    })
  })
}

const beganAt = performance.now()
await Promise.all(Array.from({ length: Math.min(connections, count) }, client))
const seconds = (performance.now() - beganAt) / 1000
latenciesMs.sort((a, b) => a - b)
const at = (share: number) => Number((latenciesMs[Math.floor(latenciesMs.length * share)] ?? 0).toFixed(2))
console.log(
  JSON.stringify({ perSecond: Math.round(count / seconds), seconds, failed, p50Ms: at(0.5), p99Ms: at(0.99) }),
)

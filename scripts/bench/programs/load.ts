/** The sending application: `bun scripts/bench/programs/load.ts HOST:PORT KEY CONNECTIONS COUNT BODY_FILE` posts the body
 *  COUNT times over that many keep-alive connections, one request at a time on each, and prints the rate and the failed
 *  ones as JSON. Raw sockets and prepared bytes keep the generator far cheaper than the server. */
import { readFileSync } from 'node:fs'
import { connect } from 'node:net'

const [target, key, connectionsText, countText, bodyFile] = process.argv.slice(2)
const [host, port] = target!.split(':')
const count = Number(countText)
const body = readFileSync(bodyFile!)
const request = Buffer.concat([
  Buffer.from(
    `POST /v1/messages/send HTTP/1.1\r\nHost: ${target}\r\nAuthorization: Bearer ${key}\r\n` +
      `Content-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n`,
  ),
  body,
])

let sent = 0
let failed = 0

function client(): Promise<void> {
  return new Promise((resolve, reject) => {
    const socket = connect({ host: host!, port: Number(port), noDelay: true })
    let received = ''
    const next = () => {
      if (sent >= count) {
        socket.end()
        return resolve()
      }
      sent++
      socket.write(request)
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
      if (!received.startsWith('HTTP/1.1 202') && ++failed === 1) console.error(received.slice(0, 600))
      received = ''
      next()
    })
  })
}

const startedAt = performance.now()
await Promise.all(Array.from({ length: Math.min(Number(connectionsText), count) }, client))
const perSecond = Math.round((count / (performance.now() - startedAt)) * 1000)
console.log(JSON.stringify({ perSecond, failed }))

/** `bun scripts/bench/programs/probe.ts HOST:PORT PID` sends cheap requests on one kept connection until its standard input
 *  ends; then prints the p99 of the round trips, and the longest one without the time in which the main thread of the
 *  process, or this one, was ready to run but other processes had the cores. */
import { readFileSync } from 'node:fs'
import { connect } from 'node:net'
import { quantile } from '../figures.ts'

/** Between two requests: long enough to cost little, short enough to detect a block of ten milliseconds. */
const PAUSE_MS = 2
const WARM_UP = 200

const [http, pid] = process.argv.slice(2)
const [host, port] = http!.split(':')
const socket = connect({ host: host!, port: Number(port), noDelay: true })
const tripsMs: number[] = []
const waitsMs: number[] = []
let isEnding = false
process.stdin.on('end', () => {
  isEnding = true
})
process.stdin.resume()

for (let trip = 0; !isEnding; trip++) {
  if (trip === WARM_UP) console.log('{}')
  const [startedAt, delayedAt] = [performance.now(), withoutCoreMs()]
  await new Promise<void>((resolve) => {
    socket.once('data', () => resolve())
    socket.write(`GET /healthz HTTP/1.1\r\nHost: ${http}\r\n\r\n`)
  })
  const tripMs = performance.now() - startedAt
  if (trip >= WARM_UP) {
    tripsMs.push(tripMs)
    waitsMs.push(tripMs - (withoutCoreMs() - delayedAt))
    await Bun.sleep(PAUSE_MS)
  }
}
console.log(JSON.stringify({ p99Ms: quantile(tripsMs, 0.99), longestMs: Math.max(...waitsMs) }))
process.exit()

/** How long either main thread was ready to run without a core, since its start (proc(5), schedstat). */
function withoutCoreMs(): number {
  const delayNs = (of: string) => Number(readFileSync(`/proc/${of}/schedstat`, 'utf8').split(' ')[1])
  return (delayNs(`${pid}/task/${pid}`) + delayNs('thread-self')) / 1e6
}

/** `bun scripts/bench/programs/probe.ts HOST:PORT` asks for what costs nothing, again and again on one kept connection,
 *  until its standard input ends; then prints the round trips as JSON. */
import { connect } from 'node:net'
import type { Stalls } from '../size/stalls.ts'

/** Between two probes: long enough to cost nobody anything, short enough to meet what takes ten milliseconds. */
const PAUSE_MS = 2

async function probe(http: string): Promise<void> {
  const [host, port] = http.split(':')
  const socket = connect({ host: host!, port: Number(port), noDelay: true })
  const request = `GET /healthz HTTP/1.1\r\nHost: ${http}\r\n\r\n`
  const timesMs: number[] = []
  let isEnding = false
  const ask = () =>
    new Promise<void>((resolve) => {
      const startedAt = performance.now()
      socket.once('data', () => {
        timesMs.push(performance.now() - startedAt)
        resolve()
      })
      socket.write(request)
    })
  process.stdin.on('end', () => {
    isEnding = true
  })
  process.stdin.resume()
  for (let warm = 0; warm < 200; warm++) await ask()
  timesMs.length = 0
  console.log('{"begun":1}')
  while (!isEnding) {
    await ask()
    await new Promise((resolve) => setTimeout(resolve, PAUSE_MS))
  }
  socket.destroy()
  timesMs.sort((a, b) => a - b)
  const at = (share: number) => timesMs[Math.min(timesMs.length - 1, Math.floor(timesMs.length * share))] ?? 0
  const over25 = timesMs.filter((time) => time > 25).length
  const stalls: Stalls = {
    probes: timesMs.length,
    p50Ms: at(0.5),
    p99Ms: at(0.99),
    p999Ms: at(0.999),
    worstMs: at(1),
    over25,
  }
  console.log(JSON.stringify(stalls))
}

await probe(process.argv[2]!)
process.exit()

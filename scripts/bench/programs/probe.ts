/** `bun scripts/bench/programs/probe.ts HOST:PORT PID` sends cheap requests repeatedly on one kept connection, until
 *  its standard input ends; then prints the round trips as JSON, and what the process was doing during long ones. */
import { connect } from 'node:net'
import type { Stalls } from '../size/stalls.ts'
import { watchWaits } from '../size/waits.ts'

/** Between two probes: long enough to cost little, short enough to detect a block of ten milliseconds. */
const PAUSE_MS = 2
/** After this time the process is inspected, and again at this interval. */
const LOOK_MS = 3
/** The goal. */
const LONG_MS = 25

async function probe(http: string, pid: number): Promise<void> {
  const [host, port] = http.split(':')
  const socket = connect({ host: host!, port: Number(port), noDelay: true })
  const request = `GET /healthz HTTP/1.1\r\nHost: ${http}\r\n\r\n`
  const waits = watchWaits(pid, LOOK_MS)
  const timesMs: number[] = []
  const causes = new Map<string, { times: number; worstMs: number }>()
  let isEnding = false
  const ask = () =>
    new Promise<void>((resolve) => {
      const startedAt = performance.now()
      waits.begin()
      socket.once('data', () => {
        const tookMs = performance.now() - startedAt
        timesMs.push(tookMs)
        const cause = waits.end(tookMs)
        if (tookMs > LONG_MS) {
          const { times, worstMs } = causes.get(cause) ?? { times: 0, worstMs: 0 }
          causes.set(cause, { times: times + 1, worstMs: Math.max(worstMs, tookMs) })
        }
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
  causes.clear()
  console.log('{"begun":1}')
  while (!isEnding) {
    await ask()
    await new Promise((resolve) => setTimeout(resolve, PAUSE_MS))
  }
  socket.destroy()
  timesMs.sort((a, b) => a - b)
  const at = (share: number) => timesMs[Math.min(timesMs.length - 1, Math.floor(timesMs.length * share))] ?? 0
  const stalls: Stalls = {
    probes: timesMs.length,
    p50Ms: at(0.5),
    p99Ms: at(0.99),
    p999Ms: at(0.999),
    worstMs: at(1),
    causes: Object.fromEntries([...causes].sort(([, a], [, b]) => b.worstMs - a.worstMs)),
  }
  console.log(JSON.stringify(stalls))
}

await probe(process.argv[2]!, Number(process.argv[3]))
process.exit()

import { bodies } from '../bodies.ts'
import { type Figure, median } from '../figures.ts'
import type { Bench, Part } from '../part.ts'
import { load, startSink } from '../peers.ts'
import { sleep, until } from '../process.ts'
import { openServer, type Server } from '../server.ts'
import { limitCpu } from './quota.ts'
import { createDatabase, withDatabase } from './stores.ts'

const WARM_UP = 2_000
/** Of a core, for each node: PostgreSQL, the generators and whatever else runs there have the rest. */
const SHARE = 0.15
const MAILS = 200
const PAUSE_MS = 20

/** Two nodes of the program on one PostgreSQL: at equal CPU quotas beside one of them, and how soon a node sees what the
 *  other wrote. */
export const nodes: Part = {
  name: 'cluster.nodes',
  measure: (bench, binary) =>
    withDatabase(async (postgres) => {
      const { scratch } = bench
      const sink = await startSink()
      const databaseUrl = await createDatabase(postgres)
      const settings = { scratch, databaseUrl, sinkPort: sink.port, mayScheduleAll: true }
      const first = await openServer(binary.file, settings)
      const second = await openServer(binary.file, { ...settings, beside: first })
      const both = [first, second]
      for (const node of both) await load(node, 50, WARM_UP, bodies.held(scratch))
      await visible(bench, both)
      const lifts = both.map(({ pid }) => limitCpu(pid, SHARE))
      if (lifts.includes(null)) console.error('cluster.nodes: no control group for CPU, quotas are skipped')
      else await atQuotas(bench, both)
      for (const node of both) await node.stop()
      for (const lift of lifts) lift?.()
      sink.end()
    }),
}

async function atQuotas({ scratch, messages, note }: Bench, [first, second]: Server[]): Promise<void> {
  const held = bodies.held(scratch)
  const count = Math.round(messages / 5)
  const rate = async (nodes: Server[]) => {
    const startedAt = performance.now()
    await Promise.all(nodes.map((node) => load(node, 25, count, held)))
    return ((nodes.length * count) / (performance.now() - startedAt)) * 1000
  }
  const one = [await rate([first!]), await rate([second!])]
  const two = await rate([first!, second!])
  note(null, ALONE, median(one))
  note(null, TOGETHER, two)
  note(null, RATIO, two / ((one[0]! + one[1]!) / 2))
}

/** Messages by the first node, one after the other → when the second one has each of their events. */
async function visible({ note }: Bench, [first, second]: Server[]): Promise<void> {
  const tookMs: number[] = []
  for (let mail = 0; mail < MAILS; mail++) {
    const body = { from: 'bench@bench.example', to: 'ann@sink.example', subject: 'Hello', text: 'Hello' }
    const { id } = await ask(first!, 'POST', '/v1/messages/send', body)
    const startedAt = performance.now()
    await until(async () => (await ask(second!, 'GET', `/v1/messages/${id}/events`)).data.length > 0)
    tookMs.push(performance.now() - startedAt)
    await sleep(PAUSE_MS)
  }
  const sorted = tookMs.toSorted((a, b) => a - b)
  note(null, SEEN, median(sorted))
  note(null, SEEN_P99, sorted[Math.floor(0.99 * sorted.length)]!)
}

async function ask({ http, key }: Server, method: string, path: string, body?: object) {
  const response = await fetch(`http://${http}${path}`, {
    method,
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: body === undefined ? null : JSON.stringify(body),
  })
  return (await response.json()) as { id: string; data: unknown[] }
}

const ALONE: Figure = { what: 'accepted per second by one node with 0.15 of a core' }
const TOGETHER: Figure = { what: 'accepted per second by two such nodes' }
const RATIO: Figure = { what: 'two nodes at equal CPU quotas, as a multiple of one', goal: { atLeast: 1.7 } }
const SEEN: Figure = { what: 'accepted by one node, delivered event read from the other, median', unit: 'ms' }
const SEEN_P99: Figure = {
  what: 'accepted by one node, delivered event read from the other, p99',
  unit: 'ms',
  goal: { atMost: 250 },
}

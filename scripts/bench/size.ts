import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { connect } from '../../src/storage/sqlite/driver.ts'
import { openStore } from '../../src/storage/sqlite/open.ts'
import { claimDue } from '../../test/support/claim.ts'
import { bodies } from './bodies.ts'
import { type Figure, median, quantile } from './figures.ts'
import type { Bench, Binary, Part } from './part.ts'
import { load } from './peers.ts'
import { sleep, startProgram } from './process.ts'
import { openServer, type Server } from './server.ts'
import { DAY_MS, scaled } from './size/dataset.ts'
import { timeLists } from './size/lists.ts'
import { type Seeded, seed } from './size/seed.ts'

/** A million queued messages and ten million past events in the folder of `--data`, which is filled if it is empty (five
 *  minutes, twelve gigabytes) and used again otherwise. Fill a new one after a day, because its messages become due. Each
 *  part takes up to two minutes; `size.retention` removes the oldest day. */
export const size: Part[] = [
  { name: 'size.start', isOnce: true, measure: start },
  { name: 'size.claim', isOnce: true, measure: claim },
  { name: 'size.lists', isOnce: true, measure: lists },
  { name: 'size.load', isOnce: true, measure: accepting },
  { name: 'size.retention', isOnce: true, measure: retention },
]

const STARTS = 5
const CLAIMS = 200

async function start(bench: Bench, binary: Binary): Promise<void> {
  for (let round = 0; round < STARTS; round++) {
    await served(bench, binary, {}, async (server) => {
      await sleep(3_000)
      bench.note(binary, ms('start to ready', 1_000), server.readyMs)
      bench.note(binary, memory('idle'), server.residentMb())
    })
  }
}

/** The store in this process: claims of one delivery, commit included, when a fifth of the queue is due and half of the
 *  destinations have no capacity. The claimed deliveries are returned. */
async function claim(bench: Bench, binary: Binary): Promise<void> {
  const { dataDir, seeded } = await filled(bench, binary)
  const store = await openStore({ dataDir, now: Date.now() })
  const now = seeded.seededAt + 3 * DAY_MS
  const freeFor = (queue: string) => (queue.length % 2 === 0 ? 0 : 20)
  const timesMs: number[] = []
  const claims = []
  for (let round = 0; round < CLAIMS; round++) {
    const startedAt = performance.now()
    claims.push(...(await claimDue(store.deliveries, { now, limit: 1, worker: 'bench', freeFor })))
    timesMs.push(performance.now() - startedAt)
  }
  const claimed = claims.map(({ delivery: { id, attempts } }) => ({ id, attempt: attempts, worker: 'bench' }))
  await store.deliveries.release(claimed, now)
  await store.close()
  if (claims.length === 0) throw new Error('nothing is due')
  bench.note(binary, ms('claim, median', 1), median(timesMs))
  bench.note(binary, ms('claim, p95'), quantile(timesMs, 0.95))
}

async function lists(bench: Bench, binary: Binary): Promise<void> {
  const { seeded } = await filled(bench, binary)
  await served(bench, binary, {}, async (server) => {
    for (const [kind, p95Ms] of await timeLists(server.http, seeded)) bench.note(binary, ms(`${kind}, p95`, 50), p95Ms)
    bench.note(binary, memory('after all lists'), server.residentMb())
  })
}

/** Statistics, checkpoints and the search index while mail is accepted. */
async function accepting(bench: Bench, binary: Binary): Promise<void> {
  await served(bench, binary, { mayScheduleAll: true }, async (server) => {
    const held = bodies.held(bench.scratch)
    await load(server, 10, 2_000, held)
    await watch(bench, binary, server, 'while accepting on 10 connections', () => load(server, 10, 30_000, held))
    // Accepted mail is indexed and merged while the server is idle.
    await watch(bench, binary, server, 'while indexing the accepted mail', () => sleep(25_000))
    bench.note(binary, memory('after accepting'), server.residentMb())
  })
}

/** Removing the oldest day, which starts a minute after the start. */
async function retention(bench: Bench, binary: Binary): Promise<void> {
  const { dataDir } = await filled(bench, binary)
  const db = connect(join(dataDir, 'postrider.db'), { busyTimeoutMs: 5_000, readonly: true })
  const oldest = db.prepare('select min(created_at) from messages').pluck().get() as number // not empty
  db.close()
  const retentionDays = Math.round((Date.now() - oldest) / DAY_MS) - 1
  await served(bench, binary, { retentionDays }, async (server) => {
    await sleep(58_000)
    await watch(bench, binary, server, 'while retention removes a day', () => sleep(80_000))
  })
}

/** How long the main thread keeps cheap requests waiting during `work`. */
async function watch(bench: Bench, binary: Binary, server: Server, when: string, work: () => Promise<unknown>) {
  const probe = await startProgram('probe', server.http, String(server.pid))
  await work()
  probe.end()
  const { p99Ms, longestMs } = await probe.next()
  bench.note(binary, ms(`response ${when}, p99`), p99Ms!)
  bench.note(binary, ms(`longest wait ${when}`, 25), longestMs!)
}

/** The folder of `--data`, filled. */
async function filled({ data, share }: Bench, binary: Binary): Promise<{ dataDir: string; seeded: Seeded }> {
  if (data === null) throw new Error('missing --data: a folder, which is filled if it is empty')
  const file = join(data, 'seeded.json')
  if (!existsSync(file)) await seed(binary.file, data, scaled(share))
  return { dataDir: join(data, 'data'), seeded: JSON.parse(readFileSync(file, 'utf8')) }
}

async function served(
  bench: Bench,
  binary: Binary,
  settings: { mayScheduleAll?: boolean; retentionDays?: number },
  work: (server: Server) => Promise<void>,
): Promise<void> {
  const { dataDir, seeded } = await filled(bench, binary)
  const existing = { dataDir, key: seeded.big.key }
  const server = await openServer(binary.file, { scratch: bench.scratch, existing, ...settings })
  try {
    await work(server)
  } finally {
    await server.stop()
  }
}

function ms(what: string, atMost?: number): Figure {
  return { what: `a million queued: ${what}`, unit: 'ms', ...(atMost !== undefined && { goal: { atMost } }) }
}

function memory(when: string): Figure {
  return { what: `a million queued: memory, ${when}`, unit: 'MB', goal: { atMost: 300 } }
}

import { join } from 'node:path'
import { connect } from '../../src/storage/sqlite/driver.ts'
import { bodies } from './bodies.ts'
import type { Figure } from './figures.ts'
import type { Bench, Binary, Part } from './part.ts'
import { load, startSink } from './peers.ts'
import { startProgram, until } from './process.ts'
import { acceptAll, dueMessage, seeding } from './seed.ts'
import { type Home, openServer } from './server.ts'
import { TROUBLED_ZONE, troubledAddresses } from './trouble.ts'

/** Healthy mail alone, then beside 100,000 due deliveries to failing destinations (trouble.ts): first as fast as
 *  possible, then 200 a second, whose time from acceptance to the first attempt is read from the store afterwards. */
export const isolation: Part = {
  name: 'isolation',
  measure: async (bench, binary) => {
    const alone = await healthyMail(bench, binary, 0)
    const beside = await healthyMail(bench, binary, BACKLOG)
    bench.note(binary, ALONE, alone.perSecond)
    bench.note(binary, BESIDE, beside.perSecond)
    bench.note(binary, KEPT, beside.perSecond / alone.perSecond)
    bench.note(binary, P99_ALONE, alone.p99Ms)
    bench.note(binary, P99_BESIDE, beside.p99Ms)
  },
}

const BACKLOG = 100_000
const WARM_UP = 500
const PACED = 1_000
const LIMIT_MS = 20_000
const ALONE: Figure = { what: 'healthy mail sent per second, alone' }
const BESIDE: Figure = {
  what: 'healthy mail sent per second beside 100,000 due to dead, slow and deferring destinations',
}
const KEPT: Figure = { what: 'the same as a share of alone', goal: { atLeast: 0.9 } }
const P99_ALONE: Figure = { what: 'p99 from accepted to first attempt, 200 per second, alone', unit: 'ms' }
const P99_BESIDE: Figure = {
  what: 'p99 from accepted to first attempt, 200 per second, beside the 100,000',
  unit: 'ms',
  goal: { atMost: 2_000 },
}

async function healthyMail({ scratch, messages }: Bench, binary: Binary, backlog: number) {
  const sink = await startSink()
  const badPeers = await startProgram('bad-peers', String(sink.port))
  let waitedMs: number[] = []
  const server = await openServer(binary.file, {
    scratch,
    sinkPort: sink.port,
    zone: TROUBLED_ZONE,
    seed: (home) => seedBacklog(home, backlog),
    autopsy: (dataDir) => {
      waitedMs = lastWaits(dataDir)
    },
  })
  const mail = bodies.mail(scratch)
  /** Sends mails → ms until the last of them is out; after a limit, only the mails so far count. */
  const sent = async (connections: number, count: number, extra = '') => {
    const before = await sink.mails()
    const startedAt = performance.now()
    const accepted = load(server, connections, count, mail, extra)
    const past = () => performance.now() - startedAt
    await until(async () => (await sink.mails()) >= before + count || past() > LIMIT_MS)
    const tookMs = past()
    await accepted
    return (((await sink.mails()) - before) / tookMs) * 1000
  }
  await sent(20, WARM_UP)
  const perSecond = await sent(20, messages)
  await sent(20, PACED, 'rate=200')
  await server.stop('SIGKILL') // otherwise it waits for the peers that never answer
  sink.end()
  badPeers.end()
  return { perSecond, p99Ms: waitedMs[Math.floor(waitedMs.length * 0.99)]! }
}

async function seedBacklog(home: Home, count: number): Promise<void> {
  if (count === 0) return
  const now = Date.now()
  const addresses = troubledAddresses(count)
  const messages = Array.from({ length: Math.ceil(count / 50) }, (_, at) =>
    dueMessage(home, at, addresses.slice(at * 50, at * 50 + 50), now),
  )
  await seeding(home.dataDir, now, (store) => acceptAll(store, home.organizationId, messages))
}

/** Of the paced mails, ms from acceptance to the first attempt, sorted; a waiting one counts until now. */
function lastWaits(dataDir: string): number[] {
  const db = connect(join(dataDir, 'postrider.db'), { busyTimeoutMs: 1_000 })
  try {
    return db
      .prepare(
        `select coalesce(attempts.started_at, ?) - messages.created_at as waited_ms from messages
           join deliveries on deliveries.message_number = messages.number
           left join attempts on attempts.delivery_number = deliveries.number and attempts.number = 1
         where deliveries.email like '%@sink.example' order by messages.number desc limit ?`,
      )
      .pluck()
      .all(Date.now(), PACED)
      .map(Number)
      .sort((a, b) => a - b)
  } finally {
    db.close()
  }
}

import { bodies } from './bodies.ts'
import type { Figure } from './figures.ts'
import type { Bench, Binary, Part } from './part.ts'
import { load, startSink } from './peers.ts'
import { startProgram, until } from './process.ts'
import { acceptAll, dueMessage, seeding } from './seed.ts'
import { type Home, openServer } from './server.ts'
import { TROUBLED_ZONE, troubledAddresses } from './trouble.ts'

/** Healthy mail alone, then beside 100,000 due deliveries to failing destinations (trouble.ts). */
export const backlog: Part = {
  name: 'backlog',
  measure: async (bench, binary) => {
    const alone = await healthyMail(bench, binary, 0)
    const beside = await healthyMail(bench, binary, BACKLOG)
    bench.note(binary, BESIDE, beside)
    bench.note(binary, SHARE, beside / alone)
  },
}

const BACKLOG = 100_000
const WARM_UP = 500
const LIMIT_MS = 20_000
const BESIDE: Figure = { what: 'healthy mail sent per second beside 100,000 due to failing destinations' }
const SHARE: Figure = { what: 'the same as a share of alone', goal: { atLeast: 0.9 } }

/** → mails per second. */
async function healthyMail({ scratch, messages }: Bench, binary: Binary, failing: number): Promise<number> {
  const sink = await startSink()
  const badPeers = await startProgram('bad-peers', String(sink.port))
  const server = await openServer(binary.file, {
    scratch,
    sinkPort: sink.port,
    zone: TROUBLED_ZONE,
    seed: (home) => seedBacklog(home, failing),
  })
  const mail = bodies.mail(scratch)
  /** → mails per second until the last of them is out; after a limit, only those so far count. */
  const send = async (count: number) => {
    const before = await sink.mails()
    const startedAt = performance.now()
    const accepted = load(server, 20, count, mail)
    const pastMs = () => performance.now() - startedAt
    await until(async () => (await sink.mails()) >= before + count || pastMs() > LIMIT_MS)
    const tookMs = pastMs()
    await accepted
    return (((await sink.mails()) - before) / tookMs) * 1000
  }
  await send(WARM_UP)
  const perSecond = await send(messages)
  await server.stop('SIGKILL') // otherwise it waits for the peers that never answer
  sink.end()
  badPeers.end()
  return perSecond
}

async function seedBacklog({ dataDir, organizationId, domainId }: Home, count: number): Promise<void> {
  const now = Date.now()
  const addresses = troubledAddresses(count)
  const messages = Array.from({ length: Math.ceil(count / 50) }, (_, at) =>
    dueMessage({ organizationId, domainId }, at, addresses.slice(at * 50, at * 50 + 50), now),
  )
  await seeding(dataDir, now, (store) => acceptAll(store, organizationId, messages))
}

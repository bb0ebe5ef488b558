import { bodies } from '../bodies.ts'
import type { Figure } from '../figures.ts'
import type { Bench, Part } from '../part.ts'
import { load, startReceiver, startSink, subscribe } from '../peers.ts'
import { until } from '../process.ts'
import { openServer, type Server, type Settings } from '../server.ts'
import { createDatabase, STORES, withDatabase } from './stores.ts'

const WARM_UP = 5_000

/** The program as one node, with each store: accepting by HTTP, and sending end to end. */
export const server: Part = {
  name: 'cluster.server',
  measure: (bench, binary) =>
    withDatabase(async (postgres) => {
      const values: Record<string, number[]> = {}
      for (const name of STORES) {
        const open = async (settings: Settings) => {
          const databaseUrl = name === 'PostgreSQL' ? { databaseUrl: await createDatabase(postgres) } : {}
          return openServer(binary.file, { ...settings, ...databaseUrl, mayScheduleAll: true })
        }
        const measured = [...(await accepting(bench, open)), ...(await sending(bench, open))]
        for (const [figure, value] of measured) {
          bench.note({ name }, figure, value)
          values[figure.what] = [...(values[figure.what] ?? []), value]
        }
      }
      for (const [what, share] of Object.entries(SHARES)) {
        const [sqlite = Number.NaN, postgresql = Number.NaN] = values[what] ?? []
        bench.note(null, share, postgresql / sqlite)
      }
    }),
}

type Open = (settings: Settings) => Promise<Server>
type Measured = [Figure, number][]

async function accepting({ scratch, messages }: Bench, open: Open): Promise<Measured> {
  const server = await open({ scratch })
  const held = bodies.held(scratch)
  await load(server, 50, 2 * WARM_UP, held) // until the runtime has compiled the hot code
  const one = await load(server, 1, messages / 5, held)
  const fifty = await load(server, 50, messages, held)
  const measured: Measured = [
    [READY, server.readyMs],
    [ONE, one.perSecond],
    [FIFTY, fifty.perSecond],
    [MEMORY, server.residentMb()],
  ]
  await server.stop()
  return measured
}

async function sending({ scratch, messages }: Bench, open: Open): Promise<Measured> {
  const sink = await startSink()
  const receiver = await startReceiver(scratch)
  const server = await open({ scratch, sinkPort: sink.port, caFile: receiver.caFile })
  const mail = bodies.mail(scratch)
  let sent = 0
  const send = async (count: number) => {
    const startedAt = performance.now()
    await load(server, 20, count, mail)
    sent += count
    await until(async () => (await sink.mails()) === sent)
    return (count / (performance.now() - startedAt)) * 1000
  }
  await send(WARM_UP)
  const alone = await send(messages)
  await subscribe(server, receiver.url)
  const startedAt = performance.now()
  await send(messages)
  await until(async () => (await receiver.posts()) >= messages)
  const posted = (messages / (performance.now() - startedAt)) * 1000
  await server.stop()
  sink.end()
  receiver.end()
  return [
    [SENT, alone],
    [POSTED, posted],
  ]
}

const columns = [...STORES]
const ONE: Figure = { what: 'accepted per second by HTTP, 1 connection', columns }
const FIFTY: Figure = { what: 'accepted per second by HTTP, 50 connections', columns }
const SENT: Figure = { what: 'sent end to end per second', columns }
const POSTED: Figure = { what: 'sent with a webhook per second, until the last post', columns }
const READY: Figure = { what: 'start to ready, ms', columns }
const MEMORY: Figure = { what: 'memory after accepting, MB', columns }
/** PostgreSQL by SQLite in the same round. */
const SHARES: Record<string, Figure> = {
  [ONE.what]: { what: 'accepted with 1 connection, as a share of SQLite', goal: { atLeast: 0.6 } },
  [FIFTY.what]: { what: 'accepted with 50 connections, as a share of SQLite', goal: { atLeast: 0.8 } },
  [SENT.what]: { what: 'sent end to end, as a share of SQLite', goal: { atLeast: 0.8 } },
  [POSTED.what]: { what: 'sent with a webhook, as a share of SQLite', goal: { atLeast: 0.75 } },
}

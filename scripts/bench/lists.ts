import { createDatabase, STORES, withDatabase } from './cluster/stores.ts'
import { type Figure, median } from './figures.ts'
import type { Part } from './part.ts'
import { until } from './process.ts'
import { create, openServer, type Server } from './server.ts'

const MESSAGES = 10_000
/** The most that one request sends. */
const BATCH = 100
const RUNS = 31
/** Recipients that decide the outcome of a test message (manual, Sandbox), and one that is delivered. */
const OUTCOMES = ['ann', 'bounce', 'softbounce', 'defer', 'complain', 'open', 'click', 'unsubscribe', 'suppressed']
const WORDS = ['Receipt', 'Parcel', 'Password', 'Welcome', 'Invoice']

/** The message list as the dashboard asks for it, with 10,000 messages of every outcome: from request to the last byte of
 *  the response, over a kept connection on loopback. */
export const lists: Part = {
  name: 'lists',
  measure: (bench, binary) =>
    withDatabase(async (postgres) => {
      for (const name of STORES) {
        const databaseUrl = name === 'PostgreSQL' ? { databaseUrl: await createDatabase(postgres) } : {}
        const server = await openServer(binary.file, { scratch: bench.scratch, ...databaseUrl })
        const found = await fill(server)
        let worstMs = 0
        for (const [what, query] of Object.entries(queriesOf(found))) {
          const tookMs = await timesOf(server, query)
          bench.note({ name }, { what: `${what}, median ms`, columns }, median(tookMs))
          bench.note({ name }, { what: `${what}, worst ms`, columns }, Math.max(...tookMs))
          worstMs = Math.max(worstMs, ...tookMs)
        }
        bench.note(null, WORST[name], worstMs)
        await server.stop()
      }
    }),
}

const columns = [...STORES]
const worst = (store: string): Figure => {
  return { what: `slowest list or search of 10,000 messages, ${store}`, unit: 'ms', goal: { atMost: 100 } }
}
const WORST = { SQLite: worst('SQLite'), PostgreSQL: worst('PostgreSQL') }

interface Found {
  id: string
  messageIdHeader: string
  cursor: string
}

/** Queries of `GET /v1/messages` by what they look for. */
function queriesOf({ id, messageIdHeader, cursor }: Found): Record<string, Record<string, string>> {
  const statuses = ['delivered', 'bounced', 'deferred', 'suppressed', 'queued', 'partial']
  return {
    'newest messages': {},
    'a later page': { cursor },
    ...Object.fromEntries(statuses.map((status) => [`status ${status}`, { status }])),
    'one recipient': { to: 'ann.4321@customer.example' },
    'one sender': { from: 'shop@bench.example' },
    'one tag': { tag: 'tag-7' },
    'one metadata value': { 'metadata[order]': 'o-4321' },
    'last hour': { created_after: new Date(Date.now() - 3_600_000).toISOString() },
    'a frequent word': { q: 'receipt' },
    'a word of one message': { q: 'unique4321' },
    'a word of no message': { q: 'nowhere' },
    'the beginning of a word': { q: 'uniq' },
    'an ID': { q: id },
    'a Message-ID': { q: messageIdHeader },
    'the beginning of an address': { q: 'bounce+77' },
    'the middle of an address': { q: '4321@customer' },
    'an address and a status': { q: 'customer', status: 'bounced' },
  }
}

/** Sends the messages with a key of the sandbox, and waits until all have an outcome. */
async function fill(server: Server): Promise<Found> {
  const domains = await ask(server, {}, '/v1/domains')
  const domain_id = domains.data[0].id
  const { key } = await create(server, '/v1/api-keys', {
    name: 'lists',
    domain_id,
    mode: 'test',
    permissions: ['admin'],
  })
  if (key === undefined) throw new Error('no key')
  server.key = key
  for (let from = 0; from < MESSAGES; from += BATCH) {
    const messages = Array.from({ length: BATCH }, (_, at) => messageOf(from + at))
    const response = await fetch(`http://${server.http}/v1/messages/batch`, {
      method: 'POST',
      headers: { ...headersOf(server), 'content-type': 'application/json' },
      body: JSON.stringify({ messages }),
    })
    if (!response.ok) throw new Error(`batch: ${response.status} ${await response.text()}`)
    await response.body?.cancel()
  }
  await until(async () => (await ask(server, { status: 'queued', limit: '1' })).data.length === 0)
  const { data, next_cursor: cursor } = await ask(server, {})
  const { id, message_id_header: messageIdHeader } = data[20]
  return { id, messageIdHeader, cursor }
}

function messageOf(at: number): object {
  const outcome = OUTCOMES[at % OUTCOMES.length]
  return {
    from: 'Shop <shop@bench.example>',
    to:
      at % 50 === 0
        ? [`ann.${at}@customer.example`, `bounce+${at}@customer.example`]
        : `${outcome}+${at}@customer.example`,
    subject: `${WORDS[at % WORDS.length]} unique${at}`,
    text: 'It works.',
    tags: [`tag-${at % 20}`],
    metadata: { order: `o-${at}` },
  }
}

async function timesOf(server: Server, query: Record<string, string>): Promise<number[]> {
  const tookMs: number[] = []
  for (let run = -3; run < RUNS; run++) {
    const startedAt = performance.now()
    await ask(server, query)
    if (run >= 0) tookMs.push(performance.now() - startedAt)
  }
  return tookMs
}

const headersOf = ({ key }: Server) => ({ authorization: `Bearer ${key}` })

// biome-ignore lint/suspicious/noExplicitAny: the shape is that of the OpenAPI document
async function ask(server: Server, query: Record<string, string>, path = '/v1/messages'): Promise<any> {
  const search = new URLSearchParams({ limit: '50', ...query })
  const response = await fetch(`http://${server.http}${path}?${search}`, { headers: headersOf(server) })
  if (!response.ok) throw new Error(`${path}?${search}: ${response.status} ${await response.text()}`)
  return response.json()
}

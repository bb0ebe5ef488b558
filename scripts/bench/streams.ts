import { createEventParser } from '../../src/cli/listen/event-parser.ts'
import type { Figure } from './figures.ts'
import type { Part } from './part.ts'
import { until } from './process.ts'
import { openServer, type Server } from './server.ts'

/** Events through a stream: live, while sandbox mail in batches creates them as fast as it is accepted, and all of
 *  them once more from the store. A binary without streams is skipped. */
export const streams: Part = {
  name: 'streams',
  measure: async ({ scratch, note }, binary) => {
    const server = await openServer(binary.file, { scratch })
    const url = `http://${server.http}/v1/events/stream`
    if ((await fetch(url, { method: 'HEAD', ...auth(server.key) })).ok) {
      const key = await testKey(server)
      const live = await follow(url, server.key)
      const liveMs = await timeOf(async () => {
        await sendBatches(server, key)
        await until(() => live.received() === EVENTS)
      })
      note(binary, LIVE, EVENTS / (liveMs / 1000))
      live.leave()

      const before = server.cpuSeconds()
      const storedMs = await timeOf(async () => {
        const stored = await follow(`${url}?after=`, server.key)
        await until(() => stored.received() === EVENTS)
        stored.leave()
      })
      note(binary, STORED, EVENTS / (storedMs / 1000))
      note(binary, COST, ((server.cpuSeconds() - before) / EVENTS) * 1e6)
    }
    await server.stop()
  },
}

const BATCHES = 20
const EVENTS = BATCHES * 500 * 3 // delivered, opened, clicked
const LIVE: Figure = { what: 'events per second through one stream, live', goal: { atLeast: 1000 } }
const STORED: Figure = { what: 'events per second through one stream, from the store' }
const COST: Figure = { what: 'CPU per live event', unit: 'µs' }

async function timeOf(work: () => Promise<void>): Promise<number> {
  const startedAt = performance.now()
  await work()
  return performance.now() - startedAt
}

const auth = (key: string) => ({ headers: { authorization: `Bearer ${key}` } })

async function testKey({ http, key }: Server): Promise<string> {
  const ask = async (path: string, init: object = {}) => {
    const answer = await fetch(`http://${http}${path}`, { ...auth(key), ...init })
    // biome-ignore lint/suspicious/noExplicitAny: two records, one field of each
    return (await answer.json()) as any
  }
  const [{ id }] = (await ask('/v1/domains')).data
  const body = JSON.stringify({ name: 'streams', domain_id: id, permissions: ['send'], mode: 'test' })
  const headers = { ...auth(key).headers, 'content-type': 'application/json' }
  return (await ask('/v1/api-keys', { method: 'POST', headers, body })).key
}

async function sendBatches({ http }: Server, key: string): Promise<void> {
  const mail = { from: 'a@bench.example', to: 'click@sink.example', subject: 'Hello', text: 'Hello' }
  const body = JSON.stringify({ messages: Array.from({ length: 500 }, () => mail) })
  const headers = { ...auth(key).headers, 'content-type': 'application/json' }
  for (let batch = 0; batch < BATCHES; batch++) {
    const answer = await fetch(`http://${http}/v1/messages/batch`, { method: 'POST', headers, body })
    if (answer.status !== 202) throw new Error(`batch: ${answer.status} ${await answer.text()}`)
    await answer.arrayBuffer()
  }
}

/** Opens a stream → how many events came through it. */
async function follow(url: string, key: string) {
  const control = new AbortController()
  let received = 0
  const answer = await fetch(url, { ...auth(key), signal: control.signal })
  const read = async () => {
    const parser = createEventParser()
    for await (const bytes of answer.body!) received += parser.push(bytes).length
  }
  void read().catch(() => {})
  return { received: () => received, leave: () => control.abort() }
}

import { afterEach, expect, test } from 'bun:test'
import { createEvent, type Event } from '../../src/model/event.ts'
import { sampleData } from '../../src/model/event-samples.ts'
import { createMintId } from '../../src/os/ids.ts'
import { systemRandom } from '../../src/os/random.ts'
import { type OpenStream, openEventStream } from '../support/event-stream.ts'
import { until } from '../support/patience.ts'
import { type RemoteMx, startRemoteMx } from '../support/remote-mx.ts'
import { START, startTestServer, type TestServer } from '../support/server.ts'

/** Live events in the whole server. The clock is stopped, so polling finds nothing. */

let remote: RemoteMx
let server: TestServer
let stream: OpenStream

afterEach(async () => {
  stream.leave()
  await server.close()
  await remote.stop()
})

async function open(query = '') {
  remote = await startRemoteMx()
  server = await startTestServer({ remote })
  stream = await follow(query)
}

const follow = (query = '') =>
  openEventStream(`http://${server.running().listening.http}/v1/events/stream${query}`, server.keys.live)

test('the stream sends what a webhook gets as soon as it is on disk, byte for byte', async () => {
  await open()
  const { body } = await server.send({ to: ['ann@one.remote.example', 'bob@two.remote.example'] })
  await server.send({ to: 'bounce@customer.example' }, { authorization: `Bearer ${server.keys.test}` })
  const events = await stream.received(3)
  await server.receiver.received(3)
  const posted = server.receiver.requests.map((request) => request.body)
  expect(events.map(({ data }) => data).toSorted()).toEqual(posted.toSorted())
  const published = (await server.eventsOf(body.id)).map(({ id }) => id)
  expect(stream.ids().filter((id) => published.includes(id))).toEqual(published)

  const text = await (await fetch(`http://${server.running().listening.http}/metrics`)).text()
  expect(text).toContain('postrider_under_way{kind="event_stream"} 1\n')
  expect(text).toContain('postrider_events_streamed_total 3\n')
})

test('over a thousand events in many commits arrive in order and complete, for two readers and one that reconnects', async () => {
  await open()
  const other = await follow('?types=message.delivered')
  const mintId = createMintId({ now: () => START, sleep: async () => {} }, systemRandom)
  const owner = { organizationId: server.organizationId, domainId: null, messageId: null, mode: 'live' as const }
  const make = (): Event =>
    createEvent(
      { id: mintId('evt'), type: 'message.delivered', ...owner, createdAt: START },
      sampleData('message.delivered', START),
    )
  const ids: string[] = []
  const back: string[] = []
  let coming = await follow()
  for (let commit = 0; commit < 120; commit++) {
    const events = Array.from({ length: 1 + (commit % 29) }, make)
    ids.push(...events.map(({ id }) => id))
    await server.store().events.append(events)
    if (commit % 40 !== 39) continue
    await coming.received(1)
    coming.leave()
    await coming.ended
    back.push(...coming.ids())
    coming = await follow(`?after=${back.at(-1)}`)
  }
  await until('all of them', () => back.length + coming.events.length >= ids.length)
  await Promise.all([stream.received(ids.length), other.received(ids.length)])
  expect(stream.ids()).toEqual(ids)
  expect(other.ids()).toEqual(ids)
  expect([...back, ...coming.ids()]).toEqual(ids)
  other.leave()
  coming.leave()
})

test('a server that stops ends its streams and does not wait for them', async () => {
  await open()
  await server.stop()
  await stream.ended
  expect([stream.status, stream.events]).toEqual([200, []])
  await server.reopen()
  stream = await follow('?after=')
  const { body } = await server.send()
  await stream.received(1)
  expect((await server.eventsOf(body.id)).map(({ id }) => id)).toEqual(stream.ids())
})

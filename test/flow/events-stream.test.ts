import { afterEach, expect, test } from 'bun:test'
import { createEvent, type Event } from '../../src/model/event.ts'
import { sampleData } from '../../src/model/event-samples.ts'
import { createMintId } from '../../src/os/ids.ts'
import { systemRandom } from '../../src/os/random.ts'
import { type OpenStream, openEventStream } from '../support/event-stream.ts'
import { START, startHouse, type TestHouse, until } from '../support/house.ts'
import { type RemoteMx, startRemoteMx } from '../support/remote-mx.ts'

/** Events as they happen, in the whole house. The clock stands still: nothing is found by looking again. */

let remote: RemoteMx
let house: TestHouse
let stream: OpenStream

afterEach(async () => {
  stream.leave()
  await house.close()
  await remote.stop()
})

async function open(query = '') {
  remote = await startRemoteMx()
  house = await startHouse({ remote })
  stream = await follow(query)
}

const follow = (query = '') =>
  openEventStream(`http://${house.house().listening.http}/v1/events/stream${query}`, house.keys.live)

test('what a webhook gets comes out of the stream as soon as it is on the disk, byte for byte', async () => {
  await open()
  const { body } = await house.send({ to: ['ann@one.remote.example', 'bob@two.remote.example'] })
  await house.send({ to: 'bounce@customer.example' }, { authorization: `Bearer ${house.keys.test}` })
  const events = await stream.received(3)
  await house.receiver.received(3)
  const posted = house.receiver.requests.map((request) => request.body)
  expect(events.map(({ data }) => data).toSorted()).toEqual(posted.toSorted())
  const told = (await house.told(body.id)).map(({ id }) => id)
  expect(stream.ids().filter((id) => told.includes(id))).toEqual(told)

  const text = await (await fetch(`http://${house.house().listening.http}/metrics`)).text()
  expect(text).toContain('postrider_under_way{kind="event_stream"} 1\n')
  expect(text).toContain('postrider_events_streamed_total 3\n')
})

test('a thousand and more in many commits come in their order, whole, to two who follow and one who goes away and comes back', async () => {
  await open()
  const other = await follow('?types=message.delivered')
  const mintId = createMintId({ now: () => START, sleep: async () => {} }, systemRandom)
  const owner = { organizationId: house.organizationId, domainId: null, messageId: null, mode: 'live' as const }
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
    await house.store().events.append(events)
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

test('a house that stops ends its streams and does not wait for them', async () => {
  await open()
  await house.stop()
  await stream.ended
  expect([stream.status, stream.events]).toEqual([200, []])
  await house.reopen()
  stream = await follow('?after=')
  const { body } = await house.send()
  await stream.received(1)
  expect((await house.told(body.id)).map(({ id }) => id)).toEqual(stream.ids())
})

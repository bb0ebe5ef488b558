import { afterEach, expect, test } from 'bun:test'
import { createEvent, type EventType } from '../../src/model/event.ts'
import { sampleData } from '../../src/model/event-samples.ts'
import { createTestApi, START, type Tenant, type TestApi } from '../support/api.ts'

let made: TestApi | null = null

afterEach(async () => {
  await made?.close()
  made = null
})

const start = async () => {
  made = await createTestApi()
  return made
}

/** Stores an event of the tenant and resolves with its ID. */
async function addEvent(api: TestApi, tenant: Tenant, type: EventType, messageId: string | null = null) {
  const event = createEvent(
    {
      id: api.mintId('evt'),
      type,
      organizationId: tenant.organization.id,
      domainId: tenant.domain.id,
      messageId,
      mode: 'live',
      createdAt: api.clock.now(),
    },
    { ...sampleData(type, api.clock.now()), message_id: messageId ?? 'msg_0' },
  )
  await api.store.events.append([event])
  await api.clock.advance(1_000)
  return event.id
}

const idsOf = (answer: { body: { data: { id: string }[] } }) => answer.body.data.map(({ id }) => id)

test('events are listed newest first in their envelopes, by type, message and time', async () => {
  const api = await start()
  const key = api.own.keys.read
  const a = await addEvent(api, api.own, 'message.delivered', 'msg_a')
  const b = await addEvent(api, api.own, 'message.bounced', 'msg_b')
  const c = await addEvent(api, api.own, 'message.opened', 'msg_a')
  await addEvent(api, api.other, 'message.delivered', 'msg_c')
  const list = async (query: string) => idsOf(await api.ask('GET', `/v1/events${query}`, { key }))
  expect(await list('')).toEqual([c, b, a])
  expect(await list('?type=message.bounced')).toEqual([b])
  expect(await list('?message_id=msg_a')).toEqual([c, a])
  expect(await list(`?domain_id=${api.own.domain.id}&mode=live`)).toEqual([c, b, a])
  expect(await list('?mode=test')).toEqual([])
  expect(await list('?created_after=2026-11-21T12:00:01Z&created_before=2026-11-21T12:00:02Z')).toEqual([b])
  const one = await api.ask('GET', `/v1/events/${a}`, { key })
  expect([one.status, one.body]).toEqual([
    200,
    {
      id: a,
      type: 'message.delivered',
      timestamp: '2026-11-21T12:00:00.000Z',
      data: { ...sampleData('message.delivered', START), message_id: 'msg_a' },
    },
  ])
})

test('with after the list runs oldest first to its end, by cursor or by the last id', async () => {
  const api = await start()
  const key = api.own.keys.read
  const ids: string[] = []
  for (let n = 0; n < 5; n++) ids.push(await addEvent(api, api.own, 'message.delivered'))
  const first = await api.ask('GET', '/v1/events?after=&limit=2', { key })
  expect([idsOf(first), first.body.has_more]).toEqual([ids.slice(0, 2), true])
  const second = await api.ask('GET', `/v1/events?limit=2&after=&cursor=${first.body.next_cursor}`, { key })
  expect(idsOf(second)).toEqual(ids.slice(2, 4))
  const third = await api.ask('GET', `/v1/events?after=${ids[3]}`, { key })
  expect(third.body).toMatchObject({ data: [{ id: ids[4] }], has_more: false, next_cursor: null })
  expect(idsOf(await api.ask('GET', `/v1/events?after=${ids[4]}`, { key }))).toEqual([])
  ids.push(await addEvent(api, api.own, 'message.delivered'))
  expect(idsOf(await api.ask('GET', `/v1/events?after=${ids[4]}`, { key }))).toEqual([ids[5]!])
})

test('an unknown after, or a cursor of the other direction, gets 400', async () => {
  const api = await start()
  const key = api.own.keys.read
  for (let n = 0; n < 3; n++) await addEvent(api, api.own, 'message.delivered')
  const unknown = await api.ask('GET', '/v1/events?after=evt_00000000000000000000000000', { key })
  expect([unknown.status, unknown.body.error.field]).toEqual([400, 'after'])
  const { body } = await api.ask('GET', '/v1/events?limit=1', { key })
  const mixed = await api.ask('GET', `/v1/events?after=&cursor=${body.next_cursor}`, { key })
  expect([mixed.status, mixed.body.error.field]).toEqual([400, 'cursor'])
})

test('an unknown type gets 400, an unknown event 404', async () => {
  const { ask, own } = await start()
  const key = own.keys.read
  expect((await ask('GET', '/v1/events?type=message.lost', { key })).body.error.field).toBe('type')
  expect((await ask('GET', '/v1/events/evt_x', { key })).status).toBe(404)
})

test('a filter or an after that names something of another organization gets 403', async () => {
  const api = await start()
  const key = api.own.keys.read
  const theirs = await addEvent(api, api.other, 'message.delivered', 'msg_a')
  for (const query of [`after=${theirs}`, `domain_id=${api.other.domain.id}`]) {
    const { status, body } = await api.ask('GET', `/v1/events?${query}`, { key })
    expect([query, status, body.error?.code]).toEqual([query, 403, 'forbidden'])
  }
})

test('a filter by an unknown domain gets 404', async () => {
  const { ask, own } = await start()
  expect((await ask('GET', '/v1/events?domain_id=zz', { key: own.keys.read })).status).toBe(404)
})

import { afterEach, expect, test } from 'bun:test'
import { connect } from 'node:net'
import { createEvent, type Event, type EventType } from '../../src/model/event.ts'
import { sampleData } from '../../src/model/event-samples.ts'
import { createTestApi, type HeldKey, type Tenant, type TestApi } from '../support/api.ts'
import { type OpenStream, openEventStream } from '../support/event-stream.ts'
import { until } from '../support/patience.ts'
import { VERIFIED } from '../support/verified.ts'

let made: TestApi | null = null
let origin = ''
const streams: OpenStream[] = []

afterEach(async () => {
  for (const stream of streams.splice(0)) stream.leave()
  await made?.close()
  made = null
})

async function start(options: Parameters<typeof createTestApi>[0] = {}) {
  made = await createTestApi(options)
  const { host, port } = await made.api.listen({ host: '127.0.0.1', port: 0 })
  origin = `http://${host}:${port}`
  return made
}

async function open(key: HeldKey, query = '', headers: Record<string, string> = {}) {
  const stream = await openEventStream(`${origin}/v1/events/stream${query}`, key.value, headers)
  streams.push(stream)
  return stream
}

function eventOf(api: TestApi, tenant: Tenant, type: EventType = 'message.delivered', change: Partial<Event> = {}) {
  const facts = {
    id: api.mintId('evt'),
    type,
    organizationId: tenant.organization.id,
    domainId: tenant.domain.id,
    messageId: 'msg_a',
    mode: 'live' as const,
    createdAt: api.clock.now(),
    ...change,
  }
  return createEvent(facts, sampleData(type, api.clock.now()))
}

async function addEvents(api: TestApi, count: number, tenant = api.own) {
  const events = Array.from({ length: count }, () => eventOf(api, tenant))
  await api.store.events.append(events)
  return events.map(({ id }) => id)
}

test('events are sent as they are published, with the bytes that webhooks get, and none from before', async () => {
  const api = await start()
  const [, before] = await addEvents(api, 2)
  const stream = await open(api.own.keys.read)
  expect([stream.status, stream.headers.get('content-type')]).toEqual([200, 'text/event-stream'])
  expect(stream.headers.get('cache-control')).toBe('private, no-store')
  const event = eventOf(api, api.own, 'message.bounced')
  await api.store.events.append([event])
  await stream.received(1)
  expect(stream.text()).toBe(
    `retry: 3000\nid: ${before}\n\nid: ${event.id}\nevent: message.bounced\ndata: ${event.body}\n\n`,
  )
  const later = await addEvents(api, 3)
  await stream.received(4)
  expect(stream.ids()).toEqual([event.id, ...later])
})

test('after, or the last id that a client saw, continues after that event; an empty one starts with the oldest', async () => {
  const api = await start()
  const ids = await addEvents(api, 450)
  const key = api.own.keys.read
  const [all, some, resumed] = await Promise.all([
    open(key, '?after='),
    open(key, `?after=${ids[100]}`),
    open(key, `?after=${ids[0]}`, { 'last-event-id': ids[449]! }),
  ])
  await all!.received(450)
  await some!.received(349)
  const later = await addEvents(api, 5)
  await Promise.all([all!.received(455), some!.received(354), resumed!.received(5)])
  expect(all!.ids()).toEqual([...ids, ...later])
  expect(some!.ids()).toEqual([...ids.slice(101), ...later])
  expect(resumed!.ids()).toEqual(later)
})

test('a client that reconnects again and again during publishing misses no event and gets none twice', async () => {
  const api = await start()
  const key = api.own.keys.read
  const [first] = await addEvents(api, 1)
  let published = 1
  const wanted = [first!]
  const seen = [first!]
  while (published < 400) {
    const stream = await open(key, '', { 'last-event-id': seen.at(-1)! })
    for (let n = 0; n < 5; n++) wanted.push(...(await addEvents(api, 9)))
    published += 45
    await stream.received(Math.min(20, wanted.length - seen.length)) // then disconnects in the middle of the stream
    stream.leave()
    await stream.ended
    seen.push(...stream.ids())
  }
  const last = await open(key, `?after=${seen.at(-1)}`)
  await last.received(wanted.length - seen.length)
  expect([...seen, ...last.ids()]).toEqual(wanted)
})

test('types, message, domain and mode filter past and live events', async () => {
  const api = await start()
  const { own } = api
  const events = [
    eventOf(api, own, 'message.bounced'),
    eventOf(api, own, 'message.opened'),
    eventOf(api, own, 'message.delivered', { messageId: 'msg_b', mode: 'test' }),
    eventOf(api, own, 'quality.alert', { messageId: null, domainId: null }),
  ]
  const [bounced = '', opened = '', other = '', alert = ''] = events.map(({ id }) => id)
  const wanted: [string, string[]][] = [
    ['types=message.bounced', [bounced]],
    ['types=message.bounced,message.opened', [bounced, opened]],
    ['types=message.opened&types=quality.alert', [opened, alert]],
    ['message_id=msg_b', [other]],
    [`domain_id=${own.domain.id}`, [bounced, opened, other]],
    ['mode=test', [other]],
    ['mode=live&types=message.delivered', []],
  ]
  const live: OpenStream[] = []
  for (const [query] of wanted) live.push(await open(own.keys.read, `?${query}`))
  await api.store.events.append(events)
  for (const [at, [query, ids]] of wanted.entries()) {
    await live[at]!.received(ids.length)
    live[at]!.leave()
    await until('the stream to be closed', () => api.streams.underWay() === wanted.length - 1 - at)
    const behind = await open(own.keys.read, `?${query}&after=`)
    await behind.received(ids.length)
    expect([query, live[at]!.ids(), behind.ids()]).toEqual([query, ids, ids])
    behind.leave()
    await until('that one too', () => api.streams.underWay() === wanted.length - 1 - at)
  }
})

test('a stream with few matches still reports its position, and never one beyond what it sent', async () => {
  const api = await start()
  const stream = await open(api.own.keys.read, '?types=message.bounced')
  await until('its first position', () => stream.lastId() === '')
  const [last] = (await addEvents(api, 3)).reverse()
  await until('it to be said', async () => {
    await api.clock.advance(15_000)
    return stream.lastId() === last
  })
  expect(stream.events).toEqual([])
  const bounced = eventOf(api, api.own, 'message.bounced')
  await api.store.events.append([bounced, eventOf(api, api.own)])
  await stream.received(1)
  expect(stream.lastId()).toBe(bounced.id)
  stream.leave()
  const again = await open(api.own.keys.read, '?types=message.bounced', { 'last-event-id': last! })
  await again.received(1)
  expect(again.ids()).toEqual([bounced.id])
})

test('an event of another process, without a notification, is sent after the next poll', async () => {
  const api = await start()
  const stream = await open(api.own.keys.read)
  await addEvents(api, 1, api.other) // notifies another organization
  const silent = eventOf(api, api.own)
  const { happened } = api
  api.happened = () => {}
  await api.store.events.append([silent])
  expect(stream.events).toEqual([])
  api.happened = happened
  await api.clock.untilSleeping(2) // the poll and the heartbeat
  await api.clock.advance(1_000)
  await stream.received(1)
  expect(stream.ids()).toEqual([silent.id])
})

// threat: event-stream-abuse
test('events of another organization are never sent, and its resources are refused as filters', async () => {
  const api = await start()
  const stream = await open(api.own.keys.read, '?after=')
  const [theirs] = await addEvents(api, 3, api.other)
  const [ours] = await addEvents(api, 1)
  await stream.received(1)
  expect(stream.ids()).toEqual([ours!])
  for (const query of [`after=${theirs}`, `domain_id=${api.other.domain.id}`]) {
    expect([query, (await open(api.own.keys.read, `?${query}`)).status]).toEqual([query, 403])
  }
  expect((await open(api.own.keys.read, '', { 'last-event-id': theirs! })).status).toBe(403)
})

test('invalid filters and positions are refused', async () => {
  const api = await start()
  const nothing = 'evt_00000000000000000000000000'
  const cases: [string, Record<string, string>, number, string | undefined][] = [
    ['?types=message.lost', {}, 400, 'types'],
    ['?types=', {}, 400, 'types'],
    ['?mode=live&mode=test', {}, 400, 'mode'],
    [`?after=${nothing}`, {}, 400, 'after'],
    ['', { 'last-event-id': nothing }, 400, 'Last-Event-ID'],
    ['?domain_id=dom_none', {}, 404, undefined],
  ]
  for (const [query, headers, status, field] of cases) {
    const answer = await api.ask('GET', `/v1/events/stream${query}`, { key: api.own.keys.read, headers })
    expect([query, answer.status, answer.body.error.field]).toEqual([query, status, field])
  }
  expect((await api.ask('GET', '/v1/events/stream', { key: api.own.keys.send })).status).toBe(403)
  expect((await api.ask('GET', '/v1/events/stream', { key: null })).status).toBe(401)
  const head = await api.ask('HEAD', '/v1/events/stream', { key: api.own.keys.read })
  expect([head.status, head.text, api.streams.underWay()]).toEqual([200, '', 0])
})

test('a client that disconnects before the answer leaves nothing open', async () => {
  const api = await start()
  const gone = new AbortController()
  gone.abort()
  const headers = { authorization: `Bearer ${api.own.keys.read.value}` }
  const request = new Request(`${origin}/v1/events/stream`, { headers, signal: gone.signal })
  expect((await api.api.fetch(request)).status).toBe(200)
  expect(api.streams.underWay()).toBe(0)
})

// threat: event-stream-abuse
test('a key and the server have a maximum of streams; one that ends frees its slot', async () => {
  const api = await start({ streams: { maxPerKey: 2, max: 3 } })
  const { read, admin } = api.own.keys
  const first = await open(read)
  await open(read)
  const third = await open(read)
  await third.ended
  expect([third.status, JSON.parse(third.text()).error.code]).toEqual([429, 'rate_limited'])
  expect(third.headers.get('retry-after')).toBe('15')
  await open(admin)
  expect((await open(admin)).status).toBe(503)
  first.leave()
  await until('the stream to be closed', () => api.streams.underWay() === 2)
  expect((await open(read)).status).toBe(200)
})

// threat: slow-clients-and-floods
test('the keys of an organization leave slots to others, however many keys it creates', async () => {
  const api = await start({ streams: { maxPerOrganization: 2, max: 3 } })
  const { read, admin } = api.own.keys
  await open(read)
  await open(admin)
  const third = await open((await api.addKey(api.own, { permissions: ['read'] }))!)
  await third.ended
  expect([third.status, JSON.parse(third.text()).error.message]).toEqual([
    429,
    'More than 2 event streams of an organization at once. Close one first.',
  ])
  expect((await open(api.other.keys.read)).status).toBe(200)
})

// threat: streams-held
test('organizations that use all streams leave the others their first one', async () => {
  const api = await start({ streams: { maxPerOrganization: 2, max: 2 } })
  const { read, admin } = api.own.keys
  await open(read)
  await open(admin)
  expect((await open(api.other.keys.read)).status).toBe(200)
  expect((await open(api.other.keys.read)).status).toBe(503)
})

// threat: event-stream-abuse
test('a quiet stream sends something every 15 seconds, and ends after its key was revoked or expired', async () => {
  const api = await start()
  const [revoked, expiring, good] = await Promise.all([
    api.addKey(api.own, { permissions: ['read'] }),
    api.addKey(api.own, { permissions: ['read'], expiresAt: api.clock.now() + 40_000 }),
    api.addKey(api.own, { permissions: ['read'] }),
  ])
  const [one, two, three] = await Promise.all([open(revoked!), open(expiring!), open(good!)])
  await api.clock.untilSleeping(4) // the poll for events of other processes, and the heartbeats of three streams
  await api.clock.advance(15_000)
  await until('a comment', () => one!.text().endsWith('\n:\n\n'))
  await api.store.apiKeys.revoke(revoked!.record.id, api.clock.now())
  await api.clock.untilSleeping(4) // each stream sends its comment and sleeps again
  await api.clock.advance(15_000)
  await one!.ended
  await until('two comments', () => two!.text().endsWith(':\n\n:\n\n'))
  await api.clock.untilSleeping(3)
  await api.clock.advance(15_000)
  await two!.ended
  const [last] = await addEvents(api, 1)
  await three!.received(1)
  expect([one!.ids(), two!.ids(), three!.ids()]).toEqual([[], [], [last!]])
  expect(api.streams.underWay()).toBe(1)
})

test('a busy stream ends within a second after its key was revoked', async () => {
  const api = await start()
  const key = await api.addKey(api.own, { permissions: ['read'] })
  const stream = await open(key)
  await addEvents(api, 1)
  await stream.received(1)
  await api.store.apiKeys.revoke(key.record.id, api.clock.now())
  await api.clock.advance(1_000)
  await addEvents(api, 1)
  await stream.ended
  expect(stream.ids()).toHaveLength(1)
})

test('a stream ends within a second after the user who made its key lost the role', async () => {
  const api = await start()
  const id = api.mintId('usr')
  const user = { id, email: 'ann@a.example', name: 'Ann', isOperator: false, createdAt: 0, disabledAt: null }
  const roles = { [api.own.organization.id]: 'viewer' } as const
  await api.store.users.create({ ...user, roles, lastSeenAt: null, ...VERIFIED }, null)
  const stream = await open(await api.addKey(api.own, { permissions: ['read'], createdBy: id }))
  await api.clock.untilSleeping(2) // the poll, and the stream
  await api.store.users.update(id, { disabledAt: 1 })
  await api.clock.advance(1_000)
  await stream.ended
})

/** A client that sends a request and then reads nothing. */
async function openUnread(api: TestApi, query = '') {
  const before = api.streams.underWay()
  const socket = connect(Number(new URL(origin).port), '127.0.0.1')
  socket.pause()
  const key = api.own.keys.read.value
  socket.write(`GET /v1/events/stream${query} HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${key}\r\n\r\n`)
  await until('the stream to be open', () => api.streams.underWay() > before)
  return socket
}

/** Events of about 40 kB each: a thousand of them are many times larger than the socket buffers. */
function largeEvents(api: TestApi, count: number): Event[] {
  const metadata = Object.fromEntries(Array.from({ length: 40 }, (_, n) => [`key_${n}`, 'x'.repeat(1_000)]))
  return Array.from({ length: count }, () => {
    const { body: _, ...facts } = eventOf(api, api.own)
    return createEvent(facts, { metadata })
  })
}

// threat: event-stream-abuse
test('a client that does not read costs no memory, delays no other, and gets everything once it reads', async () => {
  const api = await start()
  const socket = await openUnread(api)
  const quick = await open(api.own.keys.read)
  const ids: string[] = []
  for (let round = 0; round < 50; round++) {
    const events = largeEvents(api, 20)
    ids.push(...events.map(({ id }) => id))
    await api.store.events.append(events)
    await quick.received(ids.length)
  }
  const fetched = api.streams.delivered() - ids.length
  expect(fetched).toBeLessThan(500)
  let text = ''
  socket.on('data', (bytes) => {
    text += bytes.toString('latin1')
  })
  socket.resume()
  await until('everything', () => api.streams.delivered() === 2 * ids.length && text.includes(ids.at(-1)!))
  expect([...(text.match(/(?<=^id: )evt_\w+/gm) ?? [])]).toEqual(ids)
  expect(quick.ids()).toEqual(ids)
  socket.destroy()
  await until('its stream to be closed', () => api.streams.underWay() === 1)
})

test('the operator’s session can read the stream of an organization while the session lasts', async () => {
  const api = await start()
  const { cookie } = await api.signIn()
  const headers = { cookie, 'x-organization': api.own.organization.id }
  const stream = await openEventStream(`${origin}/v1/events/stream`, null, headers)
  streams.push(stream)
  const [published] = await addEvents(api, 1)
  await addEvents(api, 1, api.other)
  await stream.received(1)
  const { records } = await api.store.sessions.list(api.clock.now(), { limit: 9, after: null })
  await api.store.sessions.end(records[0]!.id)
  await until('the stream to be ended', async () => {
    await api.clock.advance(15_000)
    return api.streams.underWay() === 0
  })
  await stream.ended
  expect(stream.ids()).toEqual([published!])
})

test('while file descriptors are short, streams end and can be resumed', async () => {
  let tellSupply = (_: 'short' | 'ample') => {}
  const api = await start({
    watchDescriptors: (published) => {
      tellSupply = published
      return () => {}
    },
  })
  const stream = await open(api.own.keys.read)
  const [first] = await addEvents(api, 1)
  await stream.received(1)
  tellSupply('short')
  await stream.ended
  const [second] = await addEvents(api, 1)
  tellSupply('ample')
  const again = await open(api.own.keys.read, '', { 'last-event-id': first! })
  await again.received(1)
  expect(again.ids()).toEqual([second!])
})

test('a shutdown ends streams at once, also those of clients that do not read', async () => {
  const api = await start()
  await api.store.events.append(largeEvents(api, 500))
  const socket = await openUnread(api, '?after=')
  await until('it to be stuck', () => api.streams.delivered() > 0)
  const stream = await open(api.own.keys.read)
  await addEvents(api, 3)
  await stream.received(3)
  let isStopped = false
  const stopping = api.api.stop(20_000).then(() => {
    isStopped = true
  })
  await stream.ended
  expect([api.streams.underWay(), isStopped]).toEqual([0, false])
  await api.clock.advance(500)
  await stopping
  expect(() => api.streams.open({} as never)).toThrow('shutting down')
  socket.destroy()
})

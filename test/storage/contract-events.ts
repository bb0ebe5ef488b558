import { expect } from 'bun:test'
import type { Event } from '../../src/model/event.ts'
import type { EventFilter, Store } from '../../src/storage/store.ts'
import type { Holds } from './contract.ts'
import { ALL_EVENTS, found, idsByPage, START } from './records.ts'

export function eventPromises(holds: Holds): void {
  holds('an event reads as it was written', async (store, records) => {
    await found(store, records)
    const event = records.event({ messageId: 'msg_1', domainId: null, mode: 'test', body: '{"ü":"🎉"}' })
    await store.events.append([event])
    expect(await store.events.get(event.id)).toEqual(event)
    expect(await store.events.get('evt_none')).toBeNull()
    await store.events.append([])
  })

  holds('writing an event twice is writing it once', async (store, records) => {
    await found(store, records)
    const hook = records.webhook()
    await store.webhooks.create(hook, 'whsec_a')
    const event = records.event()
    await store.events.append([event, event])
    await store.events.append([event])
    expect((await store.events.list(ALL_EVENTS, { limit: 9, after: null })).records).toEqual([event])
    const filter = { webhookId: hook.id, status: null, type: null, createdAfter: null, createdBefore: null }
    expect((await store.webhookDeliveries.list(filter, { limit: 9, after: null })).records).toHaveLength(1)
  })

  holds('events are listed newest first', async (store, records) => {
    await found(store, records)
    const events = [records.event(), records.event(), records.event()]
    await store.events.append(events)
    await store.events.append([records.event({ organizationId: 'org_b' })])
    const ids = await idsByPage((page) => store.events.list(ALL_EVENTS, page))
    expect(ids).toEqual(events.map(({ id }) => id).reverse())
  })

  holds(
    'a reader of the stream gets what follows a position, and up to where that is complete',
    async (store, records) => {
      await found(store, records)
      const events = Array.from({ length: 4 }, () => records.event())
      await store.events.append(events.slice(0, 2))
      await store.events.append([records.event({ organizationId: 'org_b' })])
      await store.events.append(events.slice(2))
      const idsBehind = async (place: string, limit = 9) => {
        const { events, upTo } = await store.events.follow(ALL_EVENTS, place, limit)
        return { ids: events.map(({ id }) => id), upTo }
      }
      const ids = events.map(({ id }) => id)
      const newest = (await store.events.place(events[3]!.id))!
      const second = (await store.events.place(ids[1]!))!
      expect(await store.events.newest(ALL_EVENTS.organizationId)).toEqual({ id: ids[3]!, place: newest })
      expect(await store.events.newest('org_none')).toBeNull()
      expect(await store.events.place('evt_none')).toBeNull()
      const all = await idsBehind('')
      expect(all.ids).toEqual(ids)
      expect(all.upTo >= newest).toBe(true)
      expect(await idsBehind('', 2)).toEqual({ ids: ids.slice(0, 2), upTo: second })
      expect((await idsBehind(second)).ids).toEqual(ids.slice(2))
      expect((await idsBehind(newest)).ids).toEqual([])
      const third = (await store.events.place(ids[2]!))!
      const followed = await store.events.follow(ALL_EVENTS, third, 9)
      expect(followed.events).toEqual([{ ...events[3]!, place: newest }])
      const later = records.event()
      await store.events.append([later])
      expect((await idsBehind(all.upTo)).ids).toEqual([later.id])
    },
  )

  holds('a reader with a filter skips everything else at once', async (store, records) => {
    await found(store, records)
    const wanted = records.event({ type: 'message.bounced', messageId: 'msg_1', domainId: 'dom_x', mode: 'test' })
    const last = records.event()
    await store.events.append([records.event(), wanted, last])
    const [newest, before] = [(await store.events.place(last.id))!, (await store.events.place(wanted.id))!]
    const filters: Partial<EventFilter>[] = [
      { type: 'message.bounced' },
      { messageId: 'msg_1' },
      { domainId: 'dom_x' },
      { mode: 'test' },
    ]
    for (const filter of filters) {
      const asked = { ...ALL_EVENTS, ...filter }
      const { events, upTo } = await store.events.follow(asked, '', 9)
      expect([filter, events.map(({ id }) => id)]).toEqual([filter, [wanted.id]])
      expect(upTo >= newest).toBe(true)
      const rest = await store.events.follow(asked, before, 9)
      expect(rest.events).toEqual([])
      expect(rest.upTo >= newest).toBe(true)
    }
  })

  holds('a cursor whose event was removed continues with older ones', async (store, records) => {
    await found(store, records)
    const [older, gone, newer] = [records.event(), records.event(), records.event()]
    await store.events.append([older, newer])
    const page = await store.events.list(ALL_EVENTS, { limit: 9, after: gone.id })
    expect(page.records).toEqual([older])
  })

  holds('every filter finds its events, in the list and in the stream', async (store, records) => {
    await found(store, records)
    const wanted = records.event({
      type: 'message.bounced',
      messageId: 'msg_1',
      domainId: 'dom_x',
      mode: 'test',
      createdAt: START + 5,
    })
    const other = records.event({ messageId: 'msg_2' })
    await store.events.append([wanted, other])
    const matching: Partial<EventFilter>[] = [
      { type: 'message.bounced' },
      { messageId: 'msg_1' },
      { domainId: 'dom_x' },
      { mode: 'test' },
      { createdAfter: START + 5 },
      { createdAfter: START + 5, createdBefore: START + 6 },
    ]
    for (const filter of [...matching, Object.assign({}, ...matching)]) {
      expect([filter, await both(store, filter)]).toEqual([filter, [[wanted.id], [wanted.id]]])
    }
    expect(await both(store, { createdBefore: START + 5 })).toEqual([[other.id], [other.id]])
    const ofNoDomain = records.event({ domainId: null })
    await store.events.append([ofNoDomain])
    const reached = [wanted.id, ofNoDomain.id]
    expect(await both(store, { reach: 'dom_x' })).toEqual([reached.toReversed(), reached])
    expect(await both(store, { reach: 'dom_x', mode: 'live' })).toEqual([[ofNoDomain.id], [ofNoDomain.id]])
    expect(await both(store, { type: 'message.opened' })).toEqual([[], []])
    expect(await both(store, { mode: 'test', messageId: 'msg_2' })).toEqual([[], []])
  })

  holds('the stream has everything once, in the order it was written', async (store, records) => {
    await found(store, records)
    expect(await store.events.feed(ALL_EVENTS, null, 9)).toEqual({ records: [], hasMore: false })
    expect(await store.events.feed(ALL_EVENTS, 'evt_none', 9)).toBeNull()
    // Ids are minted before the events are written, and not written in that order.
    const events = Array.from({ length: 30 }, () => records.event()).sort((a, b) => (hashOf(a) < hashOf(b) ? -1 : 1))
    const seen: string[] = []
    for (let at = 0; at < events.length; at += 3) {
      await Promise.all(events.slice(at, at + 3).map((event) => store.events.append([event])))
      const page = (await store.events.feed(ALL_EVENTS, seen.at(-1) ?? null, 2))!
      seen.push(...page.records.map(({ id }) => id))
      expect(page.hasMore).toBe(true)
    }
    const rest = (await store.events.feed(ALL_EVENTS, seen.at(-1)!, 100))!
    expect(rest.hasMore).toBe(false)
    expect([...seen, ...rest.records.map(({ id }) => id)]).toEqual(events.map(({ id }) => id))
    expect((await store.events.feed(ALL_EVENTS, events.at(-1)!.id, 9))!.records).toEqual([])
  })

  holds('a page of the stream that is exactly full says whether there is more', async (store, records) => {
    await found(store, records)
    await store.events.append([records.event(), records.event()])
    expect((await store.events.feed(ALL_EVENTS, null, 2))!.hasMore).toBe(false)
    expect((await store.events.feed(ALL_EVENTS, null, 1))!.hasMore).toBe(true)
  })
}

async function both(store: Store, filter: Partial<EventFilter>): Promise<string[][]> {
  const wanted = { ...ALL_EVENTS, ...filter }
  const list = await store.events.list(wanted, { limit: 9, after: null })
  const feed = await store.events.feed(wanted, null, 9)
  return [list.records.map(({ id }) => id), feed!.records.map(({ id }) => id)]
}

/** Shuffles events, the same way each time. */
function hashOf(event: Event): string {
  return Bun.hash(event.id).toString()
}

import { expect } from 'bun:test'
import { noCounts } from '../../src/model/stats.ts'
import type { EngagementRecord, Store } from '../../src/storage/store.ts'
import type { Holds } from './contract.ts'
import { ALL_EVENTS, accept, claim, found, ORGANIZATION, type Records, recordOf, START } from './records.ts'

export function engagementPromises(holds: Holds): void {
  holds('people and machines are counted separately, and published', async (store, records) => {
    const setup = await delivered(store, records)
    expect(await setup.engage('opened')).toBe('recorded')
    expect(await setup.engage('opened', { machine: true })).toBe('recorded')
    expect(await setup.engage('clicked', { machine: true })).toBe('recorded')
    expect(await setup.engage('clicked')).toBe('recorded')
    expect(await setup.engage('clicked')).toBe('recorded')
    const { delivery } = (await store.deliveries.get(setup.id))!
    expect(delivery).toMatchObject({ opens: 1, machineOpens: 1, clicks: 2, machineClicks: 1, status: 'delivered' })
    expect(await setup.events()).toBe(5)
  })

  holds('the first open by a person is unique, whatever machines did before', async (store, records) => {
    const setup = await delivered(store, records)
    await setup.engage('opened', { machine: true })
    await setup.engage('opened')
    await setup.engage('opened')
    await setup.engage('clicked')
    const [today] = await store.stats.days({ organizationId: ORGANIZATION, domainId: null, tag: null, mode: 'live' }, [
      { from: START - (START % 86_400_000), before: START - (START % 86_400_000) + 86_400_000 },
    ])
    const engaged = { opened: 2, uniqueOpened: 1, machineOpened: 1, clicked: 1, uniqueClicked: 1 }
    expect(today).toEqual({ ...noCounts(), accepted: 2, ...engaged })
  })

  holds('a hundred opens of one delivery are published, and all are counted', async (store, records) => {
    const setup = await delivered(store, records)
    const answers: string[] = []
    for (let at = 0; at < 103; at++) answers.push(await setup.engage('opened', { machine: at % 2 === 0 }))
    expect(answers.filter((answer) => answer === 'recorded')).toHaveLength(100)
    expect(answers.slice(100)).toEqual(['counted', 'counted', 'counted'])
    expect((await store.deliveries.get(setup.id))!.delivery).toMatchObject({ opens: 51, machineOpens: 52 })
    expect(await setup.events()).toBe(100)
    expect(await setup.engage('clicked')).toBe('recorded')
    expect(await setup.engage('opened', { deliveryId: setup.other })).toBe('recorded')
  })

  holds('an unsubscription is published once and suppresses, again after its removal', async (store, records) => {
    const setup = await delivered(store, records)
    const suppression = () => records.suppression({ reason: 'unsubscribe' })
    const stop = () => setup.engage('unsubscribed', { suppression: suppression() })
    expect(await Promise.all([stop(), stop()])).toEqual(['recorded', 'counted'])
    const [kept] = await store.suppressions.find(ORGANIZATION, 'bob@dest.example')
    expect(kept).toMatchObject({ reason: 'unsubscribe' })
    await store.suppressions.remove([kept!.id], START)
    expect(await stop()).toBe('recorded')
    expect(await store.suppressions.find(ORGANIZATION, 'bob@dest.example')).toHaveLength(1)
    expect(await setup.events()).toBe(2)
  })

  holds('an unsubscription of a suppressed address is published too, the first time', async (store, records) => {
    const setup = await delivered(store, records)
    await store.suppressions.add(records.suppression({ reason: 'complaint' }))
    const stop = () => setup.engage('unsubscribed', { suppression: records.suppression({ reason: 'unsubscribe' }) })
    expect([await stop(), await stop()]).toEqual(['recorded', 'counted'])
    expect(await store.suppressions.find(ORGANIZATION, 'bob@dest.example')).toMatchObject([{ reason: 'complaint' }])
  })

  holds('nothing is written for an unknown delivery', async (store, records) => {
    const setup = await delivered(store, records)
    const suppression = records.suppression()
    for (const kind of ['opened', 'unsubscribed'] as const) {
      expect(await setup.engage(kind, { deliveryId: 'dlv_none', suppression })).toBe('unknown')
    }
    expect(await setup.events()).toBe(0)
    expect(await store.suppressions.find(ORGANIZATION, 'bob@dest.example')).toEqual([])
  })
}

/** A message that two recipients' servers accepted; its delivery events do not matter. */
async function delivered(store: Store, records: Records) {
  await found(store, records)
  const { deliveries } = await accept(store, records.accepted({ deliveries: [{}, {}] }))
  for (const claimed of await claim(store)) await store.deliveries.record(recordOf(claimed))
  const [id, other] = deliveries.map((each) => each.id) as [string, string]
  const TYPES = { opened: 'message.opened', clicked: 'message.clicked', unsubscribed: 'message.unsubscribed' } as const
  return {
    id,
    other,
    engage: (kind: EngagementRecord['kind'], change: Partial<EngagementRecord> = {}) => {
      const machine = change.machine ?? false
      const event = records.event({ type: TYPES[kind], body: JSON.stringify({ data: { machine } }) })
      return store.deliveries.recordEngagement({
        deliveryId: id,
        kind,
        machine,
        event,
        suppression: null,
        now: START + 5_000,
        ...change,
      })
    },
    events: async () => (await store.events.list(ALL_EVENTS, { limit: 1_000, after: null })).records.length,
  }
}

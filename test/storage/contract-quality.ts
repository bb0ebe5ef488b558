import { expect } from 'bun:test'
import type { QualityAlert } from '../../src/model/quality.ts'
import type { Store } from '../../src/storage/store.ts'
import type { Holds } from './contract.ts'
import {
  ALL_EVENTS,
  accept,
  claim,
  DOMAIN,
  found,
  lateBounce,
  ORGANIZATION,
  type Records,
  recordOf,
  START,
} from './records.ts'

const HOUR = 3_600_000
const NOW = START + HOUR
const HARD = { type: 'message.bounced' as const, body: '{"data":{"bounce_type":"hard","will_retry":false}}' }
const SOFT = { type: 'message.bounced' as const, body: '{"data":{"bounce_type":"soft","will_retry":false}}' }
const COMPLAINT = { type: 'message.complained' as const }
const NOTHING = { sent: 0, hardBounced: 0, delivered: 0, complained: 0 }

export function qualityPromises(holds: Holds): void {
  holds('figures of a domain without mail are zero, and it is not among those with mail', async (store, records) => {
    await found(store, records)
    expect(await store.quality.figures(DOMAIN, HOUR, NOW)).toEqual(NOTHING)
    expect(await store.quality.domainsWithOutcomes(HOUR, NOW)).toEqual([])
  })

  for (const windowMs of [2 * HOUR, 24 * HOUR]) {
    holds(`figures add up the outcomes of live mail (${windowMs / HOUR} h)`, async (store, records) => {
      await found(store, records)
      const tell = (change: object) => store.events.append([records.event({ createdAt: NOW, ...change })])
      for (const change of [{}, {}, HARD, SOFT, COMPLAINT, { type: 'message.opened' as const }]) await tell(change)
      await tell({ ...HARD, mode: 'test' })
      await tell({ ...HARD, domainId: 'dom_b' })
      await tell({ ...SOFT, body: SOFT.body.replace('false', 'true') })
      await accept(store, records.accepted()) // in flight: not sent yet
      const figures = await store.quality.figures(DOMAIN, windowMs, NOW)
      expect(figures).toEqual({ sent: 4, hardBounced: 1, delivered: 2, complained: 1 })
      expect((await store.quality.domainsWithOutcomes(windowMs, NOW)).sort()).toEqual([DOMAIN, 'dom_b'])
    })
  }

  holds('a recipient that bounced after delivery is one recipient', async (store, records) => {
    await found(store, records)
    const { deliveries } = await accept(store, records.accepted({ deliveries: [{}, {}] }))
    for (const claimed of await claim(store)) {
      await store.deliveries.record(recordOf(claimed, undefined, { events: [records.event({ createdAt: NOW })] }))
    }
    const events = [records.event({ ...HARD, createdAt: NOW })]
    await store.deliveries.recordLate(lateBounce(deliveries[0]!.id, records.report(), 'delivered', { events }))
    expect(await store.quality.figures(DOMAIN, HOUR, NOW)).toEqual({
      ...NOTHING,
      sent: 2,
      hardBounced: 1,
      delivered: 1,
    })
  })

  holds('events older than the window leave it, a little late', async (store, records) => {
    await found(store, records)
    await store.events.append([records.event({ ...HARD, createdAt: START })])
    const sent = async (windowMs: number, now: number) => (await store.quality.figures(DOMAIN, windowMs, now)).sent
    expect(await sent(3_600, START + 3_600)).toBe(1)
    expect(await sent(3_600, START + 3_600 + 5_000)).toBe(0)
    expect(await store.quality.domainsWithOutcomes(3_600, START + 3_600)).toEqual([DOMAIN])
    expect(await store.quality.domainsWithOutcomes(3_600, START + 8_600)).toEqual([])
    expect(await sent(24 * HOUR, START + 24 * HOUR)).toBe(1)
    expect(await sent(24 * HOUR, START + 24 * HOUR + HOUR / 4)).toBe(0)
  })

  holds('events that no window reaches are removed, in small steps', async (store, records) => {
    await found(store, records)
    for (let n = 0; n < 5; n++) await store.events.append([records.event({ ...HARD, createdAt: START + n * 5_000 })])
    const later = START + 3 * HOUR
    expect(await store.quality.pruneOutcomes(START + HOUR, 9)).toBe(0)
    expect(await store.quality.pruneOutcomes(later, 3)).toBe(3)
    expect(await store.quality.pruneOutcomes(later, 3)).toBe(2)
    expect((await store.quality.figures(DOMAIN, 24 * HOUR, later)).sent).toBe(5)
    expect(await store.quality.pruneOutcomes(START + 800 * HOUR, 9)).toBe(1)
    expect((await store.quality.figures(DOMAIN, 744 * HOUR, START)).sent).toBe(0)
  })

  holds('an alert is raised once with its event, and ends once with another', async (store, records) => {
    await found(store, records)
    const event = () => records.event({ type: 'quality.alert' })
    const raised = alert(records)
    expect(await store.quality.raise(raised, event())).toBe('raised')
    expect(await store.quality.raise(alert(records), event())).toBe('exists')
    expect(await store.snapshot.firingAlerts(DOMAIN)).toEqual([raised])
    expect(await store.quality.firing()).toEqual([raised])
    const ended: QualityAlert = { ...raised, value: 0.01, sent: 200, affected: 2, state: 'resolved', resolvedAt: NOW }
    expect(await store.quality.resolve(ended, event())).toBe('resolved')
    expect(await store.quality.resolve(ended, event())).toBe('gone')
    expect(store.snapshot.firingAlerts(DOMAIN)).toEqual([])
    expect(await store.quality.firing()).toEqual([])
    expect(await store.quality.alerts(DOMAIN, 9)).toEqual([ended])
    expect(await eventsOf(store)).toBe(2)
  })

  holds('alerts of the two metrics and of other domains are separate, newest first', async (store, records) => {
    await found(store, records)
    const all = [alert(records), alert(records, { metric: 'complaint_rate' }), alert(records, { domainId: 'dom_b' })]
    for (const each of all) {
      expect(await store.quality.raise(each, records.event({ type: 'quality.alert' }))).toBe('raised')
    }
    expect((await store.quality.firing()).map(({ id }) => id).sort()).toEqual(all.map(({ id }) => id).sort())
    expect(await store.quality.alerts(DOMAIN, 9)).toEqual([all[1]!, all[0]!])
    expect(await store.quality.alerts(DOMAIN, 1)).toEqual([all[1]!])
  })

  holds('an alert whose event cannot be written is not raised', async (store, records) => {
    await found(store, records)
    const event = records.event({ type: 'quality.alert', mode: null as never })
    expect(store.quality.raise(alert(records), event)).rejects.toThrow()
    expect(await store.quality.firing()).toEqual([])
    expect(store.snapshot.firingAlerts(DOMAIN)).toEqual([])
  })

  holds('an alert survives a restart', async (store, records, { reopen }) => {
    await found(store, records)
    const raised = alert(records)
    await store.quality.raise(raised, records.event({ type: 'quality.alert' }))
    expect((await reopen()).snapshot.firingAlerts(DOMAIN)).toEqual([raised])
  })
}

function alert(records: Records, change: Partial<QualityAlert> = {}): QualityAlert {
  return {
    id: records.event().id.replace('evt_', 'alr_'),
    organizationId: ORGANIZATION,
    domainId: DOMAIN,
    domain: 'a.example',
    metric: 'bounce_rate',
    value: 0.08,
    threshold: 0.05,
    windowHours: 24,
    sent: 100,
    affected: 8,
    state: 'firing',
    triggeredAt: START,
    resolvedAt: null,
    ...change,
  }
}

async function eventsOf(store: Store): Promise<number> {
  return (await store.events.list({ ...ALL_EVENTS, type: 'quality.alert' }, { limit: 9, after: null })).records.length
}

import { expect } from 'bun:test'
import type { Alert, NoticeKey } from '../../src/model/alert.ts'
import type { Store } from '../../src/storage/store.ts'
import type { Holds } from './contract.ts'
import { found, ORGANIZATION, START } from './records.ts'

const MINUTE = 60_000

export const alertOf = (change: Partial<Alert> = {}): Alert => ({
  id: 'alr_1',
  kind: 'disk',
  subject: 'disk',
  node: '',
  severity: 'critical',
  message: '3 MB free',
  advice: null,
  state: 'pending',
  firstSeenAt: START,
  lastSeenAt: START,
  missingSince: null,
  raisedAt: null,
  resolvedAt: null,
  ...change,
})
const FIRING: Partial<Alert> = { state: 'firing', raisedAt: START + MINUTE, lastSeenAt: START + MINUTE }
const ENDED: Partial<Alert> = { ...FIRING, state: 'resolved', resolvedAt: START + 2 * MINUTE }
const keyOf = (change: Partial<NoticeKey> = {}): NoticeKey => ({
  alertId: 'alr_1',
  channel: 'ops',
  event: 'firing',
  round: 0,
  ...change,
})
const dueAt = async (store: Store, now: number, channels = ['ops', 'chat'], silenced: readonly string[] = []) =>
  (await store.alerts.due(channels, now, { limit: 10, silenced })).map(
    ({ channel, event, round }) => `${channel} ${event} ${round}`,
  )

async function raised(store: Store, channels: readonly string[] = ['ops']): Promise<void> {
  await store.alerts.save(alertOf(), null)
  await store.alerts.save(alertOf(FIRING), 'pending')
  await store.alerts.addNotices(
    channels.map((channel) => keyOf({ channel })),
    START,
  )
}

export function alertPromises(holds: Holds): void {
  holds('one alert of a kind, subject and node is open at a time', async (store) => {
    const { alerts } = store
    expect(await alerts.save(alertOf(), null)).toBe(true)
    expect(await alerts.save(alertOf({ id: 'alr_2' }), null)).toBe(false)
    expect(await alerts.save(alertOf({ id: 'alr_3', node: 'two' }), null)).toBe(true)
    expect(await alerts.open()).toEqual([alertOf(), alertOf({ id: 'alr_3', node: 'two' })])
    expect(await alerts.save(alertOf(FIRING), 'firing')).toBe(false)
    expect(await alerts.save(alertOf(FIRING), 'pending')).toBe(true)
    expect(await alerts.save(alertOf(FIRING), 'pending')).toBe(false)
    await alerts.drop('alr_1') // fires, so it stays
    await alerts.drop('alr_3')
    expect(await alerts.open()).toEqual([alertOf(FIRING)])
    expect(await alerts.save(alertOf(ENDED), 'firing')).toBe(true)
    expect(await alerts.save(alertOf({ id: 'alr_4' }), null)).toBe(true)
    expect(await alerts.ended(5)).toEqual([alertOf(ENDED)])
  })

  holds('a channel gets one notice of the beginning, and one of the end after it', async (store) => {
    const { alerts } = store
    await raised(store, ['ops', 'chat'])
    await alerts.addNotices([keyOf()], START + 5) // twice is harmless
    expect(await dueAt(store, START - 1)).toEqual([])
    expect((await dueAt(store, START)).sort()).toEqual(['chat firing 0', 'ops firing 0'])
    expect(await dueAt(store, START, ['chat'])).toEqual(['chat firing 0'])
    expect(await alerts.begin(keyOf(), 0, START + MINUTE)).toBe(true)
    await alerts.record(keyOf(), { attempt: 1, error: null, nextAttemptAt: null }, START + 3)
    await alerts.begin(keyOf({ channel: 'chat' }), 0, START + MINUTE)
    await alerts.save(alertOf(ENDED), 'firing')
    expect(await dueAt(store, START + 2 * MINUTE)).toEqual(['chat firing 0', 'ops resolved 0']) // its result is lost
    const chat = keyOf({ channel: 'chat' })
    await alerts.begin(chat, 1, START + 9 * MINUTE)
    await alerts.record(chat, { attempt: 2, error: null, nextAttemptAt: null }, START + 3 * MINUTE)
    expect((await dueAt(store, START + 3 * MINUTE)).sort()).toEqual(['chat resolved 0', 'ops resolved 0'])
    expect(await alerts.due(['ops'], START + 3 * MINUTE, { limit: 1, silenced: [] })).toEqual([
      { ...keyOf({ event: 'resolved' }), status: 'pending', attempts: 0, endedAt: null, alert: alertOf(ENDED) },
    ])
  })

  holds('an alert that ends before its first notice causes none', async (store) => {
    await raised(store)
    await store.alerts.save(alertOf(ENDED), 'firing')
    await store.alerts.addNotices([keyOf()], START + 2 * MINUTE)
    expect(await dueAt(store, START + MINUTE * 60)).toEqual([])
  })

  holds('a channel that did not get the beginning of an alert gets nothing when it ends', async (store) => {
    const { alerts } = store
    const channels = ['failing', 'given up', 'in progress', 'reminded']
    await raised(store, channels)
    const [failing, givenUp, inProgress, reminded] = channels.map((channel) => keyOf({ channel }))
    for (const key of [failing!, givenUp!, inProgress!, reminded!]) await alerts.begin(key, 0, START + MINUTE)
    const failed = { attempt: 1, error: 'HTTP 500', nextAttemptAt: null }
    await alerts.record(failing!, { ...failed, nextAttemptAt: START + MINUTE }, START)
    await alerts.record(givenUp!, failed, START)
    await alerts.record(reminded!, failed, START)
    const reminder = { ...reminded!, round: 1 }
    await alerts.addNotices([reminder], START)
    await alerts.begin(reminder, 0, START + MINUTE)
    await alerts.record(reminder, { attempt: 1, error: null, nextAttemptAt: null }, START)
    await alerts.save(alertOf(ENDED), 'firing')
    const retried = { ...failed, nextAttemptAt: START + MINUTE }
    await alerts.record(inProgress!, retried, START)
    expect(await dueAt(store, START + 60 * MINUTE, channels)).toEqual(['reminded resolved 0'])
  })

  holds('an attempt is counted before it is made, by one process, and repeated if no result follows', async (store) => {
    const { alerts } = store
    await raised(store)
    const both = await Promise.all([1, 2].map(() => alerts.begin(keyOf(), 0, START + MINUTE)))
    expect(both.filter(Boolean)).toHaveLength(1)
    expect(await dueAt(store, START + MINUTE - 1)).toEqual([])
    expect(await alerts.due(['ops'], START + MINUTE, { limit: 1, silenced: [] })).toMatchObject([
      { attempts: 1, status: 'pending' },
    ])
    await alerts.begin(keyOf(), 1, START + 2 * MINUTE)
    // The result of the first attempt comes late, and belongs to no attempt any more.
    await alerts.record(keyOf(), { attempt: 1, error: 'late', nextAttemptAt: null }, START + MINUTE)
    expect(await alerts.notices()).toMatchObject([{ attempts: 2, status: 'pending', endedAt: null }])
    await alerts.record(keyOf(), { attempt: 2, error: null, nextAttemptAt: null }, START + MINUTE)
    expect(await alerts.notices()).toEqual([{ ...keyOf(), status: 'delivered', attempts: 2, endedAt: START + MINUTE }])
    expect(await alerts.begin(keyOf(), 2, START)).toBe(false)
  })

  holds('a channel has its last success, and its failures since then', async (store) => {
    const { alerts } = store
    expect(await alerts.channels()).toEqual([])
    await raised(store)
    await alerts.begin(keyOf(), 0, START)
    await alerts.record(keyOf(), { attempt: 1, error: 'HTTP 500', nextAttemptAt: START + 9 }, START + 1)
    expect(await dueAt(store, START + 8)).toEqual([])
    expect(await dueAt(store, START + 9)).toEqual(['ops firing 0'])
    await alerts.recordChannel('ops', 'no answer', START + 2)
    const failing = {
      channel: 'ops',
      lastDeliveredAt: null,
      failingSince: START + 1,
      failures: 2,
      lastError: 'no answer',
    }
    expect(await alerts.channels()).toEqual([failing])
    await alerts.recordChannel('ops', null, START + 3)
    expect(await alerts.channels()).toEqual([
      { channel: 'ops', lastDeliveredAt: START + 3, failingSince: null, failures: 0, lastError: null },
    ])
    await alerts.recordChannel('ops', 'again', START + 4)
    expect(await alerts.channels()).toMatchObject([
      { lastDeliveredAt: START + 3, failingSince: START + 4, failures: 1 },
    ])
  })

  holds(
    'a silence holds until it ends, is replaced by the next one, and holds back no end of an alert',
    async (store) => {
      const { alerts } = store
      await raised(store, ['ops', 'chat'])
      const silence = { kind: 'disk', subject: 'disk', node: '', severity: 'warning', until: START + MINUTE } as const
      const other = { ...silence, node: 'two', until: START + 9 * MINUTE }
      await alerts.silence(silence, START)
      await alerts.silence(other, START)
      expect(await alerts.silences(START)).toEqual([silence, other])
      expect(await alerts.silences(START + MINUTE)).toEqual([other])
      const longer = { ...silence, severity: 'critical', until: START + 2 * MINUTE } as const
      await alerts.silence(longer, START)
      expect(await alerts.silences(START + MINUTE)).toEqual([longer, other])
      await alerts.silence({ ...longer, until: START }, START)
      expect(await alerts.silences(0)).toEqual([other])
      expect(await dueAt(store, START, ['ops'], ['alr_1'])).toEqual([])
      expect(await dueAt(store, START, ['ops'], ['alr_9'])).toEqual(['ops firing 0'])
      await alerts.begin(keyOf(), 0, START + MINUTE)
      await alerts.record(keyOf(), { attempt: 1, error: null, nextAttemptAt: null }, START)
      await alerts.save(alertOf(ENDED), 'firing')
      expect(await dueAt(store, START + 2 * MINUTE, ['ops'], ['alr_1'])).toEqual(['ops resolved 0'])
      expect(await alerts.get('alr_1')).toEqual(alertOf(ENDED))
      await alerts.save(alertOf({ id: 'alr_2' }), null)
      expect([await alerts.get('alr_2'), await alerts.get('alr_9')]).toEqual([null, null])
    },
  )

  holds('ended alerts are deleted with their notices, and others stay', async (store) => {
    const { alerts } = store
    await raised(store)
    await alerts.begin(keyOf(), 0, START)
    await alerts.save(alertOf({ id: 'alr_2', subject: 'other' }), null)
    expect(await alerts.prune(START + MINUTE * 60, 9)).toBe(0)
    await alerts.save(alertOf(ENDED), 'firing')
    expect(await alerts.prune(START + 2 * MINUTE, 9)).toBe(0)
    expect(await alerts.prune(START + 2 * MINUTE + 1, 9)).toBe(1)
    expect(await dueAt(store, START + MINUTE * 60)).toEqual([])
    expect(await alerts.ended(9)).toEqual([])
    expect(await alerts.open()).toHaveLength(1)
  })

  holds('an alert and its notices survive a restart', async (store, _, { reopen }) => {
    await raised(store)
    await store.alerts.begin(keyOf(), 0, START + MINUTE)
    const again = await reopen()
    expect(await again.alerts.open()).toEqual([alertOf(FIRING)])
    expect(await dueAt(again, START + MINUTE - 1)).toEqual([])
    expect(await dueAt(again, START + MINUTE)).toEqual(['ops firing 0'])
  })

  holds('webhooks that the server has paused are counted by organization', async (store, records) => {
    await found(store, records)
    const paused = { status: 'paused' as const, disabledReason: 'The endpoint returned 410 Gone.' }
    for (const id of ['whk_1', 'whk_2', 'whk_3']) await store.webhooks.create(records.webhook({ id }), 'whsec_x')
    expect(await store.webhooks.pausedByServer(9)).toEqual([])
    await store.webhooks.update('whk_1', paused, START)
    await store.webhooks.update('whk_2', paused, START)
    await store.webhooks.update('whk_3', { status: 'paused' }, START) // by its organization
    expect(await store.webhooks.pausedByServer(9)).toEqual([
      { organizationId: ORGANIZATION, webhooks: 2, reason: paused.disabledReason },
    ])
    await store.webhooks.update('whk_1', { status: 'active', disabledReason: null }, START)
    await store.webhooks.update('whk_2', { status: 'active', disabledReason: null }, START)
    expect(await store.webhooks.pausedByServer(9)).toEqual([])
  })
}

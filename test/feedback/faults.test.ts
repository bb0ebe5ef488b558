import { expect, test } from 'bun:test'
import { type Store, StoreUnavailable } from '../../src/storage/store.ts'
import { claim, recordOf } from '../storage/records.ts'
import { loadFixtures } from '../support/fixtures.ts'
import { openFeedback, words } from './setup.ts'

const DSN = loadFixtures('dsn').get('postfix-failed')!
const COMPLAINT = loadFixtures('arf').get('abuse')!

test('a failure of any store call writes nothing half, and the repeated mail succeeds', async () => {
  const failing = { at: 0, calls: 0 }
  const setup = await openFeedback((deliveries) => failingAt(deliveries, failing))
  const failed: number[] = []
  for (let at = 1; ; at++) {
    const before = (await setup.events()).length
    const { message, ids } = await setup.delivered([`one${at}@dest.example`, `two${at}@dest.example`])
    const addresses = ids.map((id) => setup.verp.encode(id, 'bounce'))
    Object.assign(failing, { at, calls: 0 })
    const thrown = await setup.take(DSN, addresses).then(
      () => null,
      (error) => error,
    )
    const isReached = failing.calls >= at
    Object.assign(failing, { at: 0 })
    expect(thrown instanceof StoreUnavailable).toBe(isReached)
    if (!isReached) break
    failed.push(at)

    const bounced = (await setup.store.messages.deliveries(message.id)).filter(({ status }) => status === 'bounced')
    expect((await setup.reports(message.id)).map(({ email }) => email)).toEqual(bounced.map(({ email }) => email))
    expect((await setup.events()).length - before).toBe(bounced.length)

    await setup.take(DSN, addresses)
    expect((await setup.store.messages.get(message.id))!.status).toBe('bounced')
    expect((await setup.events()).length - before).toBe(2)
  }
  // For each recipient: find it, count its reports, write.
  expect(failed).toEqual([1, 2, 3, 4, 5, 6])
})

test('a report is judged by the state of the delivery after a concurrent attempt', async () => {
  let meanwhile: () => Promise<unknown> = async () => {}
  const setup = await openFeedback((deliveries) => ({
    ...deliveries,
    recordLate: async (record) => {
      await meanwhile()
      meanwhile = async () => {}
      return deliveries.recordLate(record)
    },
  }))
  const { message, ids } = await setup.queued(['nobody@dest.example'])
  const [claimed] = await claim(setup.store)
  meanwhile = () => setup.store.deliveries.record(recordOf(claimed!))
  await setup.take(DSN, [setup.verp.encode(ids[0]!, 'bounce')])
  expect(await setup.delivery(ids[0]!)).toMatchObject({ status: 'bounced', bounceType: 'hard', attempts: 1 })
  expect((await setup.events()).map(({ type }) => type)).toEqual(['message.bounced'])
  expect(await setup.store.messages.attempts(message.id)).toHaveLength(1)
})

test('a delivery that keeps changing ends the mail with an error, not silently', async () => {
  const setup = await openFeedback((deliveries) => ({ ...deliveries, recordLate: async () => 'changed' }))
  const { ids } = await setup.delivered(['nobody@dest.example'])
  await expect(setup.take(DSN, [setup.verp.encode(ids[0]!, 'bounce')])).rejects.toThrow(/keeps changing/)
})

test('nothing is published about a message that is no longer kept', async () => {
  const setup = await openFeedback()
  const gone = setup.verp.encode('dlv_01kq7000000000000000000000', 'bounce')
  const { ids } = await setup.delivered(['nobody@dest.example'])
  await setup.take(DSN, [gone, setup.verp.encode(ids[0]!, 'bounce')])
  expect(setup.seen.logged.join()).toContain('no longer stored')
  expect((await setup.delivery(ids[0]!)).status).toBe('bounced')
})

test('nothing from outside affects test mail, even with its addresses', async () => {
  const setup = await openFeedback()
  const { message, ids } = await setup.delivered(['nobody@dest.example'], { mode: 'test' })
  const before = await setup.delivery(ids[0]!)
  const [bounce, unsubscribe] = [setup.verp.encode(ids[0]!, 'bounce'), setup.verp.encode(ids[0]!, 'unsubscribe')]
  await setup.take(DSN, [bounce])
  await setup.take(COMPLAINT, [bounce])
  await setup.take(words({ Subject: 'unsubscribe' }), [unsubscribe], { returnPath: 'ann@dest.example' })
  expect(await setup.delivery(ids[0]!)).toEqual(before)
  expect([await setup.events(), await setup.reports(message.id)]).toEqual([[], []])
  expect(await setup.suppressions('nobody@dest.example')).toEqual([])
  expect(setup.seen).toMatchObject({ wakes: 0, reported: [] })
})

/** The n-th call throws the error of a full disk; 0 = none. */
function failingAt(deliveries: Store['deliveries'], failing: { at: number; calls: number }): Store['deliveries'] {
  const guarded =
    <A extends unknown[], R>(call: (...given: A) => Promise<R>) =>
    async (...given: A): Promise<R> => {
      if (++failing.calls === failing.at) throw new StoreUnavailable('the disk is full')
      return call(...given)
    }
  const { get, recordLate, reports } = deliveries
  return { ...deliveries, get: guarded(get), recordLate: guarded(recordLate), reports: guarded(reports) }
}

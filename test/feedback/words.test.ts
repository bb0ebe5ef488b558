import { expect, test } from 'bun:test'
import { removeAll } from '../storage/contract-retention.ts'
import { ALL_EVENTS, DOMAIN } from '../storage/records.ts'
import { loadFixtures } from '../support/fixtures.ts'
import { LATER, openFeedback, words } from './setup.ts'

const DSN = loadFixtures('dsn').get('postfix-failed')!

/** One delivery to ann@dest.example, and both of its addresses. */
async function deliveredToAnn() {
  const setup = await openFeedback()
  const { message, ids } = await setup.delivered(['ann@dest.example'])
  const [bounce, unsubscribe] = [setup.verp.encode(ids[0]!, 'bounce'), setup.verp.encode(ids[0]!, 'unsubscribe')]
  return { ...setup, message, id: ids[0]!, bounce, unsubscribe }
}

const STOPPED = {
  type: 'message.unsubscribed',
  to: 'ann@dest.example',
  unsubscribed_at: new Date(LATER).toISOString(),
  method: 'mailto',
  user_agent: null,
  ip_address: null,
}

test.each([
  ['a person', words({ Subject: 'please stop this' }), 'ann@dest.example'],
  ['a person at another address', words({ From: 'annie@home.example', Subject: 'unsubscribe' }), 'annie@home.example'],
  [
    'an automatic mail that is marked as such',
    words({ Subject: 'Unsubscribe', 'Auto-Submitted': 'auto-replied', 'X-Apple-Unsubscribe': 'true' }),
    'ann@dest.example',
  ],
  ['a provider without a return path', words({ Subject: '=?utf-8?q?unsubscribe?=', Precedence: 'bulk' }), ''],
  ['an empty message', '', 'ann@dest.example'],
])('a mail of %s to the unsubscribe address unsubscribes', async (_, raw, returnPath) => {
  const setup = await deliveredToAnn()
  await setup.take(raw, [setup.unsubscribe], { returnPath })
  expect(await setup.events()).toEqual([STOPPED])
  expect(await setup.suppressions('ann@dest.example')).toEqual([{ reason: 'unsubscribe', domainId: DOMAIN }])
  expect(await setup.reports(setup.message.id)).toMatchObject([{ kind: 'unsubscribe', reporter: '192.0.2.9' }])
  expect((await setup.delivery(setup.id)).status).toBe('delivered')
  expect(setup.seen).toMatchObject({ wakes: 1, changed: [setup.message.id] })
})

const VACATION = words({ Subject: 'Automatic reply: Hello', 'Auto-Submitted': 'auto-replied' })

test.each([
  ['a vacation note', VACATION, 'ann@dest.example', 'auto_reply'],
  ['a vacation note without a return path', words({ Subject: 'I am away' }), '', 'auto_reply'],
  ['a report of delivery', DSN, '', 'other'],
])('%s at the unsubscribe address unsubscribes nobody', async (_, raw, returnPath, kind) => {
  const setup = await deliveredToAnn()
  await setup.take(raw, [setup.unsubscribe], { returnPath })
  expect([await setup.events(), await setup.suppressions('ann@dest.example')]).toEqual([[], []])
  expect(await setup.reports(setup.message.id)).toMatchObject([{ kind }])
  expect((await setup.delivery(setup.id)).status).toBe('delivered')
})

test.each([
  ['a vacation note', VACATION, 'ann@dest.example', 'auto_reply'],
  ['a vacation note without a return path', words(), '', 'auto_reply'],
  ['a person', words(), 'ann@dest.example', 'other'],
  ['a person who wants to stop', words({ Subject: 'unsubscribe' }), 'ann@dest.example', 'other'],
  ['nothing at all', '', 'ann@dest.example', 'other'],
])('%s at the return path is not a bounce, and is kept', async (_, raw, returnPath, kind) => {
  const setup = await deliveredToAnn()
  await setup.take(raw, [setup.bounce], { returnPath })
  expect(await setup.reports(setup.message.id)).toMatchObject([{ kind, receivedAt: LATER, reporter: '192.0.2.9' }])
  expect([await setup.events(), await setup.suppressions('ann@dest.example')]).toEqual([[], []])
  expect((await setup.delivery(setup.id)).status).toBe('delivered')
  expect(setup.seen).toMatchObject({ wakes: 0, changed: [] })
})

test('an address is matched in any letter case, and only with its own tag', async () => {
  const { feedback, bounce, unsubscribe, id } = await deliveredToAnn()
  expect(feedback.recognize(bounce.toUpperCase())).toEqual({ kind: 'bounce', deliveryId: id })
  expect(feedback.recognize(unsubscribe)).toEqual({ kind: 'unsubscribe', deliveryId: id })
  expect(feedback.recognize(`u${bounce.slice(1)}`)).toBeNull()
  expect(feedback.recognize('ann')).toBeNull()
  expect(feedback.recognize('')).toBeNull()
})

test('a delivery keeps fifty reports of one kind; other kinds still count', async () => {
  const setup = await deliveredToAnn()
  for (let n = 0; n < 52; n++) await setup.take(words({ Subject: `Away ${n}` }), [setup.bounce])
  expect(await setup.reports(setup.message.id)).toHaveLength(50)
  expect(setup.seen.logged.filter((line) => line.includes('report ignored: limit per delivery reached'))).toHaveLength(
    2,
  )
  await setup.take(words({ Subject: 'unsubscribe' }), [setup.unsubscribe])
  expect(await setup.events()).toEqual([STOPPED])
})

test('an unsubscribe request works after its mail was removed, and is published without the mail’s content', async () => {
  const setup = await openFeedback()
  const { message, ids } = await setup.delivered(['ann@dest.example'], { unsubscribe: true })
  const address = setup.verp.encode(ids[0]!, 'unsubscribe')
  await removeAll(setup.store, LATER, 100, 0)
  expect(await setup.store.messages.get(message.id)).toBeNull()
  await setup.take(words({ 'Auto-Submitted': 'auto-replied' }), [address])
  await setup.take(DSN, [setup.verp.encode(ids[0]!, 'bounce')])
  expect(await setup.events()).toEqual([])
  const person = { returnPath: 'ann@dest.example' }
  for (let times = 0; times < 2; times++) await setup.take(words(), [address], person)
  expect(await setup.events()).toEqual([STOPPED])
  const published = (await setup.store.events.feed(ALL_EVENTS, null, 9))!.records[0]!
  const facts = { message_id: message.id, from: message.from, subject: '', metadata: {}, tags: [], mode: 'live' }
  expect(JSON.parse(published.body).data).toMatchObject(facts)
  expect(await setup.suppressions('ann@dest.example')).toEqual([{ reason: 'unsubscribe', domainId: DOMAIN }])
  expect([setup.seen.wakes, setup.seen.reported]).toEqual([
    1,
    [{ message: message.id, delivery: ids[0]!, kind: 'unsubscribe', status: null }],
  ])
})

import { expect, test } from 'bun:test'
import { removeAll } from '../storage/contract-retention.ts'
import { ALL_EVENTS, DOMAIN } from '../storage/records.ts'
import { loadFixtures } from '../support/fixtures.ts'
import { LATER, openFeedback, words } from './setup.ts'

const DSN = loadFixtures('dsn').get('postfix-failed')!

/** One delivery to ann@dest.example, and both of its addresses. */
async function deliveredToAnn() {
  const room = await openFeedback()
  const { message, ids } = await room.delivered(['ann@dest.example'])
  const [bounce, unsubscribe] = [room.verp.encode(ids[0]!, 'bounce'), room.verp.encode(ids[0]!, 'unsubscribe')]
  return { ...room, message, id: ids[0]!, bounce, unsubscribe }
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
  ['somebody at another address', words({ From: 'annie@home.example', Subject: 'unsubscribe' }), 'annie@home.example'],
  [
    'a mail program that says it is one',
    words({ Subject: 'Unsubscribe', 'Auto-Submitted': 'auto-replied', 'X-Apple-Unsubscribe': 'true' }),
    'ann@dest.example',
  ],
  ['a provider without a return path', words({ Subject: '=?utf-8?q?unsubscribe?=', Precedence: 'bulk' }), ''],
  ['nobody can say whom', '', 'ann@dest.example'],
])('a mail of %s to the unsubscribe address unsubscribes', async (_, raw, returnPath) => {
  const room = await deliveredToAnn()
  await room.take(raw, [room.unsubscribe], { returnPath })
  expect(await room.events()).toEqual([STOPPED])
  expect(await room.suppressions('ann@dest.example')).toEqual([{ reason: 'unsubscribe', domainId: DOMAIN }])
  expect(await room.reports(room.message.id)).toMatchObject([{ kind: 'unsubscribe', reporter: '192.0.2.9' }])
  expect((await room.delivery(room.id)).status).toBe('delivered')
  expect(room.seen).toMatchObject({ wakes: 1, changed: [room.message.id] })
})

const VACATION = words({ Subject: 'Automatic reply: Hello', 'Auto-Submitted': 'auto-replied' })

test.each([
  ['a vacation note', VACATION, 'ann@dest.example', 'auto_reply'],
  ['a vacation note without a return path', words({ Subject: 'I am away' }), '', 'auto_reply'],
  ['a report of delivery', DSN, '', 'other'],
])('%s at the unsubscribe address unsubscribes nobody', async (_, raw, returnPath, kind) => {
  const room = await deliveredToAnn()
  await room.take(raw, [room.unsubscribe], { returnPath })
  expect([await room.events(), await room.suppressions('ann@dest.example')]).toEqual([[], []])
  expect(await room.reports(room.message.id)).toMatchObject([{ kind }])
  expect((await room.delivery(room.id)).status).toBe('delivered')
})

test.each([
  ['a vacation note', VACATION, 'ann@dest.example', 'auto_reply'],
  ['a vacation note without a return path', words(), '', 'auto_reply'],
  ['a person', words(), 'ann@dest.example', 'other'],
  ['a person who wants to stop', words({ Subject: 'unsubscribe' }), 'ann@dest.example', 'other'],
  ['nothing at all', '', 'ann@dest.example', 'other'],
])('%s at the return path is not a bounce, and is kept', async (_, raw, returnPath, kind) => {
  const room = await deliveredToAnn()
  await room.take(raw, [room.bounce], { returnPath })
  expect(await room.reports(room.message.id)).toMatchObject([{ kind, receivedAt: LATER, reporter: '192.0.2.9' }])
  expect([await room.events(), await room.suppressions('ann@dest.example')]).toEqual([[], []])
  expect((await room.delivery(room.id)).status).toBe('delivered')
  expect(room.seen).toMatchObject({ wakes: 0, changed: [] })
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
  const room = await deliveredToAnn()
  for (let n = 0; n < 52; n++) await room.take(words({ Subject: `Away ${n}` }), [room.bounce])
  expect(await room.reports(room.message.id)).toHaveLength(50)
  expect(room.seen.logged.filter((line) => line.includes('report ignored: limit per delivery reached'))).toHaveLength(2)
  await room.take(words({ Subject: 'unsubscribe' }), [room.unsubscribe])
  expect(await room.events()).toEqual([STOPPED])
})

test('an unsubscribe request works after its mail was removed, and is published without the mail’s content', async () => {
  const room = await openFeedback()
  const { message, ids } = await room.delivered(['ann@dest.example'], { unsubscribe: true })
  const address = room.verp.encode(ids[0]!, 'unsubscribe')
  await removeAll(room.store, LATER, 100, 0)
  expect(await room.store.messages.get(message.id)).toBeNull()
  await room.take(words({ 'Auto-Submitted': 'auto-replied' }), [address])
  await room.take(DSN, [room.verp.encode(ids[0]!, 'bounce')])
  expect(await room.events()).toEqual([])
  const person = { returnPath: 'ann@dest.example' }
  for (let times = 0; times < 2; times++) await room.take(words(), [address], person)
  expect(await room.events()).toEqual([STOPPED])
  const told = (await room.store.events.feed(ALL_EVENTS, null, 9))!.records[0]!
  const facts = { message_id: message.id, from: message.from, subject: '', metadata: {}, tags: [], mode: 'live' }
  expect(JSON.parse(told.body).data).toMatchObject(facts)
  expect(await room.suppressions('ann@dest.example')).toEqual([{ reason: 'unsubscribe', domainId: DOMAIN }])
  expect([room.seen.wakes, room.seen.reported]).toEqual([
    1,
    [{ message: message.id, delivery: ids[0]!, kind: 'unsubscribe', status: null }],
  ])
})

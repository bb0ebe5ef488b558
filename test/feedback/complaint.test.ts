import { expect, test } from 'bun:test'
import { DOMAIN } from '../storage/records.ts'
import { asMail, loadFixtures } from '../support/fixtures.ts'
import { HOST, LATER, openFeedback } from './setup.ts'

const fixtures = loadFixtures('arf')
const AT = new Date(LATER).toISOString()

/** The content of each complaint, and whether the reported mail in it still has an address of ours. */
const MEANS: [fixture: string, feedbackType: string, isComplaint: boolean, isTagged: boolean][] = [
  ['abuse', 'abuse', true, true],
  ['fraud', 'fraud', true, true],
  ['headers-only', 'other', true, false],
  ['not-spam', 'not-spam', false, true],
  ['outlook-jmrp', 'abuse', true, true],
  ['redacted', 'abuse', true, true],
  ['without-original', 'virus', true, false],
  ['yahoo', 'abuse', true, true],
]

test('every complaint of the collection is in the table', () => {
  expect(MEANS.map(([name]) => name)).toEqual([...fixtures.keys()])
})

test.each(MEANS)('%s at the return path', async (name, feedbackType, isComplaint) => {
  const setup = await openFeedback()
  const { message, ids } = await setup.delivered(['ann@dest.example', 'bob@dest.example'])
  await setup.take(fixtures.get(name)!, [setup.verp.encode(ids[0]!, 'bounce')], { returnPath: 'fbl@isp.example' })
  const published = {
    type: 'message.complained',
    to: 'ann@dest.example',
    complained_at: AT,
    feedback_type: feedbackType,
  }
  expect(await setup.events()).toEqual(isComplaint ? [published] : [])
  expect(await setup.suppressions('ann@dest.example')).toEqual(
    isComplaint ? [{ reason: 'complaint', domainId: DOMAIN }] : [],
  )
  expect(await setup.suppressions('bob@dest.example')).toEqual([])
  expect(await setup.reports(message.id)).toMatchObject([
    { email: 'ann@dest.example', kind: 'complaint', feedbackType, receivedAt: LATER, status: null, cause: null },
  ])
  expect((await setup.delivery(ids[0]!)).status).toBe('delivered')
  expect(setup.seen.wakes).toBe(isComplaint ? 1 : 0)
  await setup.store.close()
})

test.each(MEANS)('%s at a loop address', async (name, feedbackType, isComplaint, isTagged) => {
  const setup = await openFeedback()
  const { message, ids } = await setup.delivered(['ann@dest.example'])
  // The collection has addresses of one length for all; here they are replaced by those of the delivery.
  const raw = Buffer.from(fixtures.get(name)!).toString('latin1')
  const tagged = raw
    .replaceAll('b-01kq7@', `${setup.verp.encode(ids[0]!, 'bounce')}@`)
    .replaceAll('u-01kq7@', `${setup.verp.encode(ids[0]!, 'unsubscribe')}@`)
  await setup.take(Buffer.from(tagged, 'latin1'), ['fbl'], { returnPath: 'fbl@isp.example' })
  const published = (await setup.events()).map((event) => [event.type, event.feedback_type])
  expect(published).toEqual(isComplaint && isTagged ? [['message.complained', feedbackType]] : [])
  expect(await setup.reports(message.id)).toHaveLength(isTagged ? 1 : 0)
  expect(await setup.suppressions('ann@dest.example')).toHaveLength(published.length)
  await setup.store.close()
})

/** An RFC 5965 report of a mail with that header. */
function complaint(original: string, type = 'abuse'): Uint8Array {
  return asMail(
    [
      'From: shop@a.example\nTo: abuse@bounce.a.example\nSubject: FW: Hello',
      'Content-Type: multipart/report; report-type=feedback-report; boundary=b\n',
      '--b\nContent-Type: text/plain\n\nA complaint.\n',
      `--b\nContent-Type: message/feedback-report\n\nFeedback-Type: ${type}\nUser-Agent: Loop/1.0\nVersion: 1\n`,
      `--b\nContent-Type: message/rfc822\n\n${original}\n\nHi\n`,
      '--b--\n',
    ].join('\n'),
  )
}

test.each([
  ['its return path', (b: string, _: string) => `Return-Path: <${b}@${HOST}>\nSubject: Hello`],
  [
    'its unsubscribe address',
    (_: string, u: string) => `List-Unsubscribe:\n <mailto:${u}@${HOST}?subject=unsubscribe>`,
  ],
  ['a forwarder that rewrote it', (b: string, _: string) => `Return-Path: <SRS0=ab1=XY=${HOST}=${b}@fwd.example>`],
  ['capital letters', (b: string, _: string) => `Return-Path: <${b.toUpperCase()}@${HOST}>`],
])('at a loop address the reported mail gives the delivery by %s', async (_, headerOf) => {
  const setup = await openFeedback()
  const { ids } = await setup.delivered(['ann@dest.example', 'bob@dest.example'])
  const [b, u] = [setup.verp.encode(ids[1]!, 'bounce'), setup.verp.encode(ids[1]!, 'unsubscribe')]
  for (const address of ['complaints', 'fbl', 'Abuse', 'postmaster']) {
    await setup.take(complaint(headerOf(b, u), `x-${address}`), [address])
  }
  expect((await setup.events()).map(({ type, to }) => [type, to])).toEqual(
    Array(4).fill(['message.complained', 'bob@dest.example']),
  )
  expect(await setup.suppressions('bob@dest.example')).toHaveLength(1)
})

test('a forged tag inside a complaint is ignored, and the next good one still counts', async () => {
  const setup = await openFeedback()
  const { message, ids } = await setup.delivered(['ann@dest.example'])
  const good = setup.verp.encode(ids[0]!, 'bounce')
  const forged = `${good.slice(0, -1)}${good.endsWith('0') ? '1' : '0'}`
  expect(setup.feedback.recognize(forged)).toBeNull()
  await setup.take(complaint(`Return-Path: <${forged}@${HOST}>`), ['abuse'])
  expect([await setup.events(), await setup.reports(message.id)]).toEqual([[], []])
  expect(await setup.suppressions('ann@dest.example')).toEqual([])
  expect(setup.seen.logged.join()).toContain('report ignored: no known return path')
  await setup.take(complaint(`Return-Path: <${forged}@${HOST}>\nX-Return-Path: <${good}@${HOST}>`), ['abuse'])
  expect(await setup.events()).toHaveLength(1)
})

test('other mail is ignored at a loop address', async () => {
  const setup = await openFeedback()
  const { ids } = await setup.delivered(['ann@dest.example'])
  const address = setup.verp.encode(ids[0]!, 'bounce')
  await setup.take(asMail(`From: x@y.example\nReturn-Path: <${address}@${HOST}>\n\nI complain!\n`), ['abuse'])
  expect(await setup.events()).toEqual([])
})

test('a report of a broken signature is not a complaint by a person', async () => {
  const setup = await openFeedback()
  const { message, ids } = await setup.delivered(['ann@dest.example'])
  await setup.take(complaint('Subject: Hello', 'auth-failure'), [setup.verp.encode(ids[0]!, 'bounce')])
  expect([await setup.events(), await setup.suppressions('ann@dest.example')]).toEqual([[], []])
  expect(await setup.reports(message.id)).toMatchObject([{ kind: 'complaint', feedbackType: 'auth-failure' }])
})

test('not-spam removes no earlier suppression', async () => {
  const setup = await openFeedback()
  const { ids } = await setup.delivered(['ann@dest.example'])
  const address = setup.verp.encode(ids[0]!, 'bounce')
  await setup.take(fixtures.get('abuse')!, [address])
  await setup.take(fixtures.get('not-spam')!, [address])
  expect(await setup.suppressions('ann@dest.example')).toHaveLength(1)
  expect(await setup.events()).toHaveLength(1)
})

test('names of any length are truncated', async () => {
  const setup = await openFeedback()
  const { message, ids } = await setup.delivered(['ann@dest.example'])
  await setup.take(complaint('Subject: Hello', 'x'.repeat(5_000)), [setup.verp.encode(ids[0]!, 'bounce')])
  const [report] = await setup.reports(message.id)
  expect(report!.feedbackType).toHaveLength(255)
  expect((await setup.events())[0]!.feedback_type).toHaveLength(255)
})

import { expect, test } from 'bun:test'
import { claim } from '../storage/records.ts'
import { loadFixtures } from '../support/fixtures.ts'
import { HOST, LATER, openFeedback } from './setup.ts'

const fixtures = loadFixtures('dsn')
const AT = new Date(LATER).toISOString()

/** The result of each report for the recipient it names. Null = the delivery stays delivered. */
const MEANS: [
  fixture: string,
  email: string,
  kind: string,
  bounce: [type: 'hard' | 'soft', code: string, rule: string] | null,
][] = [
  ['amazon-ses', 'nobody@dest.example', 'failed', ['hard', '5.4.1', 'outlook-no-recipient']],
  ['amazon-ses-text', 'nobody@dest.example', 'failed', ['soft', '5.0.0', 'none']],
  ['courier', 'nobody@dest.example', 'failed', ['hard', '550', 'user-unknown']],
  ['courier-text', 'nobody@dest.example', 'failed', ['hard', '5.1.1', 'user-unknown']],
  ['domino', 'nobody@notes.example', 'failed', ['hard', '5.0.0', 'domino-not-listed']],
  ['exchange-old-text', 'nobody@corp.example', 'failed', ['hard', '5.1.1', 'enhanced-1.1']],
  ['exchange-on-premises', 'nobody@corp.example', 'failed', ['hard', '5.1.1', 'exchange-not-found']],
  ['exim-delayed', 'slow@dest.example', 'delayed', null],
  ['exim-report', 'nobody@dest.example', 'failed', ['hard', '5.1.1', 'unknown-user']],
  ['exim-text', 'nobody@dest.example', 'failed', ['hard', '5.1.1', 'user-unknown']],
  ['failed-recipients-header', 'full@dest.example', 'failed', ['soft', '5.2.2', 'enhanced-2.2']],
  ['gmail-old', 'slow@dest.example', 'delayed', null],
  ['gmail-report', 'nobody@gmail.example', 'failed', ['hard', '5.1.1', 'user-unknown']],
  ['gmail-text', 'blocked@gmail.example', 'failed', ['soft', '5.7.1', 'enhanced-7.1']],
  ['headers-only-run-together', 'one@dest.example', 'failed', ['soft', '5.2.1', 'enhanced-2.1']],
  ['office365', 'nobody@tenant.example', 'failed', ['hard', '5.1.10', 'exchange-not-found']],
  ['outlook-com', 'full@hotmail.example', 'failed', ['soft', '5.2.2', 'enhanced-2.2']],
  ['postfix-delayed', 'slow@dest.example', 'delayed', null],
  ['postfix-failed', 'nobody@dest.example', 'failed', ['hard', '5.1.1', 'user-unknown']],
  ['postfix-success', 'one@dest.example', 'delivered', null],
  ['postfix-text', 'nobody@dest.example', 'failed', ['hard', '5.1.1', 'user-unknown']],
  ['qmail', 'nobody@dest.example', 'failed', ['hard', '5.1.1', 'unknown-user']],
  ['sendmail-report', 'nobody@dest.example', 'failed', ['hard', '5.1.1', 'user-unknown']],
  ['sendmail-text', 'nobody@dest.example', 'failed', ['hard', '5.1.1', 'user-unknown']],
  ['sendmail-warning', 'slow@dest.example', 'delayed', null],
  ['smtputf8-global', 'jörg@xn--gre-6ka8i.example', 'failed', ['hard', '5.1.1', 'unknown-user-abroad']],
  ['yahoo', 'gone@yahoo.example', 'failed', ['hard', '554', 'yahoo-no-account']],
]

test('every report of the collection is in the table', () => {
  expect(MEANS.map(([name]) => name).sort()).toEqual([...fixtures.keys()].sort())
})

test.each(MEANS)('%s about %s is %s', async (name, email, kind, bounce) => {
  const setup = await openFeedback()
  const { message, ids } = await setup.delivered([email, 'other@elsewhere.example'])
  const [id] = ids as [string]
  await setup.take(fixtures.get(name)!, [setup.verp.encode(id, 'bounce')])

  const [report, ...more] = await setup.reports(message.id)
  expect(more).toEqual([])
  expect(report).toMatchObject({ email, kind, receivedAt: LATER, feedbackType: null })
  expect(report!.reporter).toBeString()
  expect(report!.cause?.rule ?? null).toBe(bounce?.[2] ?? null)
  expect(setup.seen.reported).toEqual([{ message: message.id, delivery: id, kind, status: report!.status }])

  const delivery = await setup.delivery(id)
  const published = await setup.events()
  if (bounce !== null) {
    const [bounceType, bounceCode] = bounce
    expect(delivery).toMatchObject({ status: 'bounced', deliveredAt: null, nextAttemptAt: null, attempts: 1 })
    expect(delivery).toMatchObject({ bounceType, bounceCode, smtpResponse: report!.diagnostic })
    const fields = { bounce_type: bounceType, bounce_code: bounceCode, bounce_message: report!.diagnostic }
    expect(published).toEqual([{ type: 'message.bounced', to: email, ...fields, bounced_at: AT, will_retry: false }])
  } else {
    expect(delivery).toMatchObject({ status: 'delivered', bounceType: null, smtpResponse: '250 2.0.0 ok' })
    const deferred = { deferred_at: AT, attempt: 1, next_attempt_at: null, smtp_response: report!.diagnostic }
    expect(published).toEqual(kind === 'delayed' ? [{ type: 'message.deferred', to: email, ...deferred }] : [])
  }
  expect(await setup.suppressions(email)).toEqual(
    bounce?.[0] === 'hard' ? [{ reason: 'hard_bounce', domainId: null }] : [],
  )
  expect((await setup.store.messages.get(message.id))!.status).toBe(bounce === null ? 'delivered' : 'partial')
  expect([setup.seen.wakes, setup.seen.changed.length]).toEqual(published.length === 1 ? [1, 1] : [0, 0])
  await setup.store.close()
})

/** An RFC 3464 report about one recipient. */
function dsn(fields: Record<string, string>, change: { from?: string; to?: string } = {}): string {
  const { from = 'MAILER-DAEMON@mx.dest.example', to = `b-x@${HOST}` } = change
  const lines = Object.entries({ 'Final-Recipient': 'rfc822; bob@dest.example', ...fields })
  return [
    `From: ${from}\nTo: ${to}\nSubject: failure\nContent-Type: multipart/report; report-type=delivery-status; boundary=b\n`,
    '--b\nContent-Type: text/plain\n\nSorry.\n',
    '--b\nContent-Type: message/delivery-status\n\nReporting-MTA: dns; mx.dest.example\n',
    `${lines.map(([name, value]) => `${name}: ${value}`).join('\n')}\n`,
    '--b--\n',
  ]
    .join('\n')
    .replaceAll('\n', '\r\n')
}
const GONE = { Action: 'failed', Status: '5.1.1', 'Diagnostic-Code': 'smtp; 550 5.1.1 unknown' }

/** One delivery to bob@dest.example, accepted by his server; then the report arrives. */
async function afterReport(raw: string) {
  const setup = await openFeedback()
  const { message, ids } = await setup.delivered(['bob@dest.example'])
  const address = setup.verp.encode(ids[0]!, 'bounce')
  await setup.take(raw, [address])
  return { ...setup, message, id: ids[0]!, address }
}

test.each([
  ['an unknown address', GONE, 'hard', '5.1.1'],
  ['a full mailbox', { Action: 'failed', Status: '5.2.2' }, 'soft', '5.2.2'],
  ['a policy', { Action: 'failed', Status: '5.7.1' }, 'soft', '5.7.1'],
  ['an expired message', { Action: 'failed', Status: '4.4.7' }, 'soft', '4.4.7'],
  ['a policy that the status hides', { ...GONE, 'Diagnostic-Code': 'smtp; 550 5.7.1 blocked' }, 'soft', '5.7.1'],
  ['a reply that says less than the status', { ...GONE, 'Diagnostic-Code': 'smtp; 550 5.0.0 no' }, 'hard', '5.1.1'],
  ['a status that says less than the reply', { ...GONE, Status: '5.0.0' }, 'hard', '5.1.1'],
  ['a bare failure', { Action: 'failed' }, 'soft', '5.0.0'],
  ['the target of a forward', { ...GONE, 'Final-Recipient': 'rfc822; b@other.example' }, 'soft', '5.1.1'],
  ['a colleague on a list', { ...GONE, 'Final-Recipient': 'rfc822; robert@dest.example' }, 'soft', '5.1.1'],
  ['our mailbox on an internal host', { ...GONE, 'Final-Recipient': 'rfc822; BOB@mx1.dest.example' }, 'hard', '5.1.1'],
  ['a domain that ends like ours', { ...GONE, 'Final-Recipient': 'rfc822; bob@mydest.example' }, 'soft', '5.1.1'],
  [
    'the mailbox behind our alias',
    { ...GONE, 'Final-Recipient': 'rfc822; b@other.example', 'Original-Recipient': 'rfc822; BOB@dest.example' },
    'soft',
    '5.1.1',
  ],
] as const)('a failure for %s', async (_, fields, bounceType, bounceCode) => {
  const { id, delivery, suppressions, store } = await afterReport(dsn(fields))
  expect(await delivery(id)).toMatchObject({ status: 'bounced', bounceType, bounceCode })
  expect(await suppressions('bob@dest.example')).toHaveLength(bounceType === 'hard' ? 1 : 0)
  await store.close()
})

test('a list member is failed only if all entries for it failed', async () => {
  const members = (last: string) =>
    dsn({ ...GONE, 'Final-Recipient': 'rfc822; a@other.example' }).replace(
      '--b--',
      `Final-Recipient: rfc822; c@other.example\r\nAction: ${last}\r\nStatus: 5.1.1\r\n\r\n--b--`,
    )
  const some = await afterReport(members('relayed'))
  expect([(await some.delivery(some.id)).status, await some.events()]).toEqual(['delivered', []])
  const all = await afterReport(members('failed'))
  expect(await all.delivery(all.id)).toMatchObject({ status: 'bounced', bounceType: 'soft' })
})

test.each(['relayed', 'delivered', 'expanded'])('%s is kept without effect', async (action) => {
  const setup = await afterReport(dsn({ Action: action, Status: '2.0.0' }))
  expect(await setup.events()).toEqual([])
  expect((await setup.delivery(setup.id)).status).toBe('delivered')
  expect(await setup.reports(setup.message.id)).toMatchObject([{ kind: action, status: '2.0.0', cause: null }])
  expect(setup.seen).toMatchObject({ wakes: 0, changed: [] })
})

test('the address that a report came to decides, whatever sender it names', async () => {
  for (const from of ['bob@dest.example', 'shop@a.example', '<>', 'ceo@bank.example']) {
    const setup = await afterReport(dsn(GONE, { from, to: 'someone@else.example' }))
    expect((await setup.delivery(setup.id)).status).toBe('bounced')
  }
})

test('the same report twice, at once or later, is one event; another one adds nothing', async () => {
  const setup = await openFeedback()
  const { message, ids } = await setup.delivered(['bob@dest.example'])
  const address = setup.verp.encode(ids[0]!, 'bounce')
  await Promise.all([setup.take(dsn(GONE), [address]), setup.take(dsn(GONE), [address.toUpperCase()])])
  await setup.take(dsn(GONE), [address])
  expect(await setup.events()).toHaveLength(1)
  expect(await setup.reports(message.id)).toHaveLength(1)
  expect(setup.seen.wakes).toBe(1)

  await setup.take(dsn({ ...GONE, Status: '5.1.2' }), [address])
  await setup.take(dsn({ Action: 'delayed', Status: '4.4.1' }), [address])
  expect(await setup.events()).toHaveLength(1)
  expect(await setup.reports(message.id)).toHaveLength(3)
})

test('an address that bounced softly and turns out not to exist is suppressed, without a second event', async () => {
  const setup = await afterReport(dsn({ Action: 'failed', Status: '5.2.2' }))
  await setup.take(dsn(GONE), [setup.address])
  expect(await setup.events()).toHaveLength(1)
  expect(await setup.delivery(setup.id)).toMatchObject({ bounceType: 'soft', bounceCode: '5.2.2' })
  expect(await setup.suppressions('bob@dest.example')).toHaveLength(1)
})

test('a mail with an unknown outcome that waits for a retry bounces, and is not retried', async () => {
  const setup = await openFeedback()
  const { ids } = await setup.queued(['bob@dest.example'])
  await setup.take(dsn(GONE), [setup.verp.encode(ids[0]!, 'bounce')])
  expect(await setup.delivery(ids[0]!)).toMatchObject({ status: 'bounced', nextAttemptAt: null })
  expect(await claim(setup.store)).toEqual([])
  expect((await setup.events()).map(({ type }) => type)).toEqual(['message.bounced'])
})

test('several return paths in one transaction: the one whose address the report names bounces hard', async () => {
  const setup = await openFeedback()
  const { message, ids } = await setup.delivered(['bob@dest.example', 'ann@dest.example', 'eve@dest.example'])
  const [bob, ann] = ids as [string, string]
  await setup.take(dsn(GONE), [setup.verp.encode(bob, 'bounce'), setup.verp.encode(ann, 'bounce')])
  const states = (await setup.store.messages.deliveries(message.id)).map(({ status, bounceType }) => [
    status,
    bounceType,
  ])
  expect(states).toEqual([
    ['bounced', 'hard'],
    ['bounced', 'soft'],
    ['delivered', null],
  ])
  expect(await setup.events()).toHaveLength(2)
})

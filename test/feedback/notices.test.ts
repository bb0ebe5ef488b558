import { describe, expect, test } from 'bun:test'
import type { AddressClass } from '../../src/model/hard-bounces.ts'
import { openFeedback, words } from './setup.ts'

async function deliveredToAnn(hard?: readonly AddressClass[]) {
  const setup = await openFeedback(undefined, undefined, hard)
  const { message, ids } = await setup.delivered(['ann@dest.example'])
  const [bounce, unsubscribe] = [setup.verp.encode(ids[0]!, 'bounce'), setup.verp.encode(ids[0]!, 'unsubscribe')]
  return { ...setup, message, id: ids[0]!, bounce, unsubscribe }
}

const mailOf = (subject: string, text: string, headers: Record<string, string> = {}) =>
  words({ From: 'postmaster@mx.example', Subject: subject, ...headers }, text)

const dsnOf = (status: string, diagnostic: string, text: string) =>
  mailOf('Returned mail', '', { 'Content-Type': 'multipart/report; boundary=b' }) +
  `--b\r\nContent-Type: text/plain\r\n\r\n${text}\r\n--b\r\nContent-Type: message/delivery-status\r\n\r\n` +
  `Reporting-MTA: dns; mx.example\r\n\r\nFinal-Recipient: rfc822; ann@dest.example\r\nAction: failed\r\nStatus: ${status}\r\n` +
  `Diagnostic-Code: smtp; ${diagnostic}\r\n--b--\r\n`

/** The effect on a delivered message: bounce type, rule, and whether the address is suppressed. */
async function outcome(raw: string, returnPath = '', hard?: readonly AddressClass[]) {
  const setup = await deliveredToAnn(hard)
  await setup.take(raw, [setup.bounce], { returnPath })
  const delivery = await setup.delivery(setup.id)
  const [report] = await setup.reports(setup.message.id)
  const suppressed = await setup.suppressions('ann@dest.example')
  return [delivery.bounceType ?? delivery.status, report?.cause?.rule ?? report?.kind, suppressed.length === 1]
}

describe('a notice without a delivery-status part', () => {
  test.each([
    [
      'an unknown user',
      'Your mail to ann@dest.example was rejected by the server:\r\n550 5.1.1 No such user',
      'hard',
      'unknown-user',
      true,
    ],
    [
      'a full mailbox',
      'Could not deliver to ann@dest.example:\r\nThis mailbox is full.',
      'soft',
      'mailbox-full',
      false,
    ],
    ['no reason', 'Your message could not be delivered.', 'soft', 'none', false],
    [
      'another address',
      'Could not deliver to eve@other.example: 550 5.1.1 No such user',
      'soft',
      'other-address',
      false,
    ],
  ])('about %s is a bounce', async (_, text, bounceType, rule, isSuppressed) => {
    expect(await outcome(mailOf('Undeliverable', text))).toEqual([bounceType, rule, isSuppressed])
  })

  test('that reports the failure only in its subject is soft', async () => {
    expect(await outcome(mailOf('Returned mail: User unknown', 'Hello'))).toEqual(['soft', 'subject-only', false])
  })

  test('with CR line ends is read', async () => {
    const raw = mailOf('Undeliverable', 'ann@dest.example: 550 5.1.1 No such user').replaceAll('\r\n', '\r')
    expect(await outcome(raw)).toEqual(['hard', 'unknown-user', true])
  })

  test('that says neither failed nor delivered is kept with its text, without effect', async () => {
    const setup = await deliveredToAnn()
    await setup.take(mailOf('Notice 12', 'The queue was inspected.'), [setup.bounce], { returnPath: '' })
    expect(await setup.events()).toEqual([])
    expect(await setup.reports(setup.message.id)).toMatchObject([
      { kind: 'other', diagnostic: 'Notice 12: The queue was inspected.' },
    ])
  })

  test.each([
    ['a person', mailOf('Undeliverable', '550 5.1.1 No such user', { From: 'bob@dest.example' }), 'bob@dest.example'],
    [
      'a vacation program',
      mailOf('Automatic reply: Hello', '550 5.1.1 No such user', {
        From: 'bob@dest.example',
        'Auto-Submitted': 'auto-replied',
      }),
      '',
    ],
  ])('from %s is not a bounce', async (_, raw, returnPath) => {
    expect((await outcome(raw, returnPath))[0]).toBe('delivered')
  })
})

describe('a delivery-status part is compared with the text', () => {
  test.each([
    [
      'unknown only at DATA',
      dsnOf(
        '5.0.0',
        '550 Unknown user ann@dest.example',
        '<ann@dest.example>: 550 Unknown user (in reply to end of DATA command)',
      ),
      ['soft', 'unknown-after-data', false],
    ],
    [
      'unknown at RCPT, though Sendmail shows DATA',
      dsnOf(
        '5.1.1',
        '550 5.1.1 User unknown',
        '>>> DATA\r\n<<< 550 5.1.1 User unknown\r\n550 5.1.1 <ann@dest.example>... User unknown\r\n<<< 503 Need RCPT',
      ),
      ['hard', 'user-unknown', true],
    ],
    [
      'a full mailbox',
      dsnOf('5.1.1', '550 5.1.1 User unknown', 'Your message was rejected:\r\nNot enough disk space'),
      ['soft', 'words-mailbox-full', false],
    ],
    [
      'a disabled mailbox',
      dsnOf('5.0.0', '550 user unknown', 'The account is disabled.'),
      ['soft', 'words-mailbox-disabled', false],
    ],
    [
      'a code without a reason',
      dsnOf('5.4.4', '', 'Reason: Illegal host/domain name found'),
      ['hard', 'words-domain-unknown', true],
    ],
    [
      'a DNS failure',
      dsnOf('5.4.4', 'Name service error: Host not found, try again', ''),
      ['soft', 'dns-trouble', false],
    ],
    ['a rate limit under 5.1.1', dsnOf('5.1.1', '550 5.1.1 Too many connections', ''), ['soft', 'rate', false]],
    [
      'a block list under 5.1.1',
      dsnOf('5.1.1', '550 5.1.1 Listed at zen.spamhaus.org', ''),
      ['soft', 'block-list', false],
    ],
    ['our own HELO name', dsnOf('5.1.8', '550 5.1.8 HELO command rejected', ''), ['soft', 'helo-refused', false]],
  ])('%s', async (_, raw, expected) => {
    expect(await outcome(raw)).toEqual(expected as never)
  })

  test('takes the reply from the text when it has none itself', async () => {
    const raw = dsnOf('5.0.0', '', 'An error has occurred:\r\nann@dest.example: 550 5.1.1 No such user')
    expect(await outcome(raw)).toEqual(['hard', 'unknown-user', true])
  })
})

test('a report within a report that itself says nothing is read', async () => {
  const inner = dsnOf('5.1.1', '550 5.1.1 No such user', '')
  const outer = mailOf(
    'Notice',
    `--o\r\nContent-Type: text/plain\r\n\r\nSee below.\r\n--o\r\nContent-Type: message/rfc822\r\n\r\n${inner}\r\n--o--`,
    {
      'Content-Type': 'multipart/mixed; boundary=o',
    },
  )
  expect(await outcome(outer)).toEqual(['hard', 'unknown-user', true])
})

describe('a notification of Amazon SNS', () => {
  const json = (value: object) =>
    mailOf('AWS Notification Message', JSON.stringify(value), { From: 'no-reply@sns.amazonaws.com' })
  const bounced = {
    notificationType: 'Bounce',
    bounce: {
      bounceType: 'Permanent',
      bouncedRecipients: [
        {
          emailAddress: 'ann@dest.example',
          action: 'failed',
          status: '5.1.1',
          diagnosticCode: 'smtp; 550 5.1.1 user unknown',
        },
      ],
    },
  }

  test('of a bounce is one, also within its envelope', async () => {
    expect(await outcome(json(bounced))).toEqual(['hard', 'user-unknown', true])
    expect(await outcome(json({ Type: 'Notification', Message: JSON.stringify(bounced) }))).toEqual([
      'hard',
      'user-unknown',
      true,
    ])
  })

  test('of a complaint at the complaint address finds its delivery by the tag', async () => {
    const setup = await deliveredToAnn()
    const complaint = { complainedRecipients: [{ emailAddress: 'ann@dest.example' }], complaintFeedbackType: 'abuse' }
    const mail = { headers: [{ name: 'Return-Path', value: `<${setup.bounce}@bounce.a.example>` }] }
    await setup.take(json({ notificationType: 'Complaint', complaint, mail }), ['complaints'], {
      returnPath: 'a@b.example',
    })
    expect(await setup.events()).toMatchObject([{ type: 'message.complained', feedback_type: 'abuse' }])
  })

  test('of a delivery changes nothing', async () => {
    expect((await outcome(json({ notificationType: 'Delivery', delivery: {} })))[0]).toBe('delivered')
  })
})

test('a complaint in plain words at the complaint address is kept with the message whose tag it quotes', async () => {
  const setup = await deliveredToAnn()
  const text = `A user reported this mail:\r\nReturn-Path: <${setup.bounce}@bounce.a.example>\r\n`
  await setup.take(mailOf('Spam report', text, { From: 'abuse@isp.example' }), ['complaints'], {
    returnPath: 'abuse@isp.example',
  })
  expect(await setup.events()).toEqual([])
  expect(await setup.reports(setup.message.id)).toMatchObject([
    { kind: 'other', diagnostic: expect.stringContaining('Spam report') },
  ])
})

describe('good addresses are not suppressed by', () => {
  test.each([
    [
      'a sentence that names several reasons',
      dsnOf('5.0.0', '550 message rejected', 'Possible reasons: the recipient does not exist, or the mailbox is full.'),
    ],
    ['advice', dsnOf('5.4.4', 'Host lookup failed', 'Please check that you typed no invalid recipient.')],
    [
      'the reply about another address',
      mailOf(
        'Undeliverable',
        'Your message to ann@dest.example could not be delivered.\r\n\r\n<zoe@other.example>: host mx.other.example said: 550 5.1.1 User unknown',
      ),
    ],
    [
      'the failure of an address that ours forwards to',
      mailOf(
        'Undeliverable',
        'The address zoe@other.example (forwarded from ann@dest.example) failed:\r\n550 5.1.1 user unknown',
      ),
    ],
    [
      'a reply without an address beside that',
      mailOf('Undeliverable', 'Redirected to a mailbox which failed:\r\n550 5.1.1 <zoe@other.example> unknown'),
    ],
    [
      'an automatic answer that a forwarder left a null return path in',
      mailOf('Hello', 'This mailbox does not exist after June. It was not delivered. No such user.', {
        'Return-Path': '<>',
        From: 'ann@dest.example',
        'Auto-Submitted': 'auto-replied',
      }),
    ],
    [
      'a person at the null return path',
      mailOf('Hello', 'My parcel was not delivered. Unknown user at the door.', { From: 'ann@dest.example' }),
    ],
    [
      'a temporary failure',
      mailOf('Undeliverable', '<ann@dest.example>: user unknown (temporary failure in LDAP lookup)'),
    ],
    [
      'a delay in French',
      mailOf(
        'Avis',
        "Le message n'a pas encore été remis. Les tentatives continuent.\r\nann@dest.example: user unknown",
      ),
    ],
    [
      'a forwarded report',
      mailOf(
        'Fwd: look',
        `--o\r\nContent-Type: message/rfc822\r\n\r\n${dsnOf('5.1.1', '550 5.1.1 No such user', '')}\r\n--o--`,
        {
          From: 'ann@dest.example',
          'Content-Type': 'multipart/mixed; boundary=o',
        },
      ),
    ],
  ])('%s', async (_, raw) => {
    expect((await outcome(raw)).at(-1)).toBe(false)
  })

  test('a reply of a postmaster', async () => {
    const raw = mailOf('Re: problem', 'We saw 550 5.1.1 user unknown. It could not be delivered.')
    expect((await outcome(raw, 'postmaster@mx.example'))[0]).toBe('delivered')
  })
})

const FILTER = 'multipart/report; report-type=disposition-notification; boundary=b'
const disposition = (text: string, said: string) =>
  `--b\r\nContent-Type: text/plain\r\n\r\n${text}\r\n--b\r\nContent-Type: message/disposition-notification\r\n\r\n` +
  `Final-Recipient: rfc822; ann@dest.example\r\nDisposition: ${said}\r\n--b--\r\n`
const AUTOMATIC = { From: 'ann@dest.example', 'Auto-Submitted': 'auto-replied (rejected)' }

describe('a refusal that looks like an automatic answer is a soft bounce:', () => {
  test.each([
    [
      'the disposition "deleted" of a filter (RFC 5429)',
      mailOf('Mail', '', { ...AUTOMATIC, 'Content-Type': FILTER }) +
        disposition('I do not want this. No such user.', 'automatic-action/MDN-sent-automatically; deleted'),
      'unproved',
    ],
    [
      'a filter without a disposition',
      mailOf('Automatically rejected mail', 'Your mail to ann@dest.example was refused: no thanks', AUTOMATIC),
      'subject-only',
    ],
    [
      'a notice of a provider that is marked as automatic',
      mailOf('Undeliverable', 'Mailbox of ann@dest.example is full.', { 'Auto-Submitted': 'auto-generated' }),
      'mailbox-full',
    ],
    [
      'a delivery that another server gave up',
      mailOf('Delivery aborted', 'Delivery to ann@dest.example was aborted after 48 hours.'),
      'expired',
    ],
  ])('%s', async (_, raw, rule) => {
    expect(await outcome(raw)).toEqual(['soft', rule, false])
  })
})

describe('no bounce comes from', () => {
  test.each([
    [
      'a read receipt',
      mailOf('Read: Your parcel could not be delivered', 'It was read.', {
        From: 'ann@dest.example',
        'Content-Type': 'multipart/report; report-type=disposition-notification; boundary=b',
      }),
    ],
    [
      'the receipt for a mail deleted unread',
      mailOf('Not read: Your order', '', { From: 'ann@dest.example', 'Content-Type': FILTER }) +
        disposition('Your message was deleted without being read.', 'automatic-action/MDN-sent-automatically; deleted'),
    ],
    [
      'an automatic answer that speaks of failures in its text only',
      mailOf('Ticket 4711', 'If a mail could not be delivered, call us.', AUTOMATIC),
    ],
    [
      'a vacation note that quotes our mail',
      mailOf('Your order', 'I am out of the office.\r\n> We could not deliver your parcel.', {
        From: 'ann@dest.example',
      }),
    ],
    [
      'an answer to a subject of ours',
      mailOf('AW: Ihre Sendung konnte nicht zugestellt werden', 'Danke', { From: 'ann@dest.example' }),
    ],
    [
      'a notice of success that speaks of errors',
      mailOf(
        'Successful Mail Delivery Report',
        'Your message was successfully delivered. You get notifications of mail delivery errors.',
      ),
    ],
    ['a street address', mailOf('Thank you', '450 Main Street', { From: 'ann@dest.example' })],
    [
      'an opened mail',
      mailOf('AWS', JSON.stringify({ eventType: 'Open', mail: { subject: 'Undeliverable: 550 5.1.1 user unknown' } })),
    ],
  ])('%s', async (_, raw) => {
    expect((await outcome(raw))[0]).toBe('delivered')
  })
})

describe('a report of a disabled mailbox, if the operator calls these hard', () => {
  const closed = dsnOf('5.2.1', '550 5.2.1 this account is disabled', 'Your mail could not be delivered.')
  const text = 'Your mail to ann@dest.example was rejected by the server:\r\n550 5.2.1 this account is disabled'

  test('suppresses the address', async () => {
    expect(await outcome(closed)).toEqual(['soft', 'mailbox-disabled', false])
    expect(await outcome(closed, '', ['mailbox_disabled'])).toEqual(['hard', 'mailbox-disabled', true])
    expect(await outcome(mailOf('Undelivered', text), '', ['mailbox_disabled'])).toEqual([
      'hard',
      'mailbox-disabled',
      true,
    ])
  })

  test('suppresses nobody if no mail system sent it from the null return path, or about another address', async () => {
    const forged = await outcome(mailOf('Undelivered', text), 'eve@other.example', ['mailbox_disabled'])
    expect(forged).toEqual(['soft', 'unproved', false])
    const other = await outcome(closed.replace('rfc822; ann@', 'rfc822; eve@'), '', ['mailbox_disabled'])
    expect(other).toEqual(['soft', 'other-address', false])
  })
})

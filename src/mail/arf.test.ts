import { describe, expect, test } from 'bun:test'
import { asMail, loadFixtures } from '../../test/support/fixtures.ts'
import { type FeedbackReport, readFeedbackReport } from './arf.ts'

const fixtures = loadFixtures('arf')
const AT = Date.UTC(2026, 10, 21, 9, 0, 2)
const FROM = 'b-01kq7@bounces.shop.example'
const WHOLE: FeedbackReport['originalHeaders'] = [
  ['return-path', '<b-01kq7@bounces.shop.example>'],
  [
    'received',
    'from relay.example (relay.example [192.0.2.1])\tby mx.isp.example with ESMTP; Sat, 21 Nov 2026 09:00:02 +0000',
  ],
  ['from', 'Shop <orders@shop.example>'],
  ['to', 'Reader <reader@isp.example>'],
  ['subject', 'Your order 1042'],
  ['message-id', '<order-1042@shop.example>'],
]
const LOOP = 'ExampleLoop/1.2'

const READ: [string, Parameters<typeof report>][] = [
  ['abuse', ['abuse', LOOP, FROM, ['reader@isp.example'], AT, WHOLE]],
  ['yahoo', ['abuse', 'Yahoo!-Mail-Feedback/2.0', FROM, ['reader@yahoo.example'], AT, WHOLE]],
  ['not-spam', ['not-spam', LOOP, null, ['reader@isp.example', 'second@isp.example'], null, WHOLE]],
  ['fraud', ['fraud', LOOP, '', [], null, WHOLE]],
  [
    'redacted',
    [
      'abuse',
      LOOP,
      null,
      [],
      null,
      [
        ['from', 'Shop <orders@shop.example>'],
        ['to', 'xxxxxxxx'],
        ['subject', 'Your order 1042'],
        ['list-unsubscribe', '<mailto:u-01kq7@bounces.shop.example>'],
      ],
    ],
  ],
  ['headers-only', ['other', LOOP, null, [], null, [['subject', 'Your order 1042']]]],
  ['without-original', ['virus', LOOP, null, [], null, []]],
  [
    'outlook-jmrp',
    [
      'abuse',
      null,
      FROM,
      ['reader@hotmail.example'],
      null,
      [
        ['x-hmxmroriginalrecipient', 'reader@hotmail.example'],
        ['return-path', 'b-01kq7@bounces.shop.example'],
        ['from', 'Shop <orders@shop.example>'],
        ['to', 'reader@hotmail.example'],
        ['subject', 'Your order 1042'],
      ],
    ],
  ],
]

describe('a feedback report', () => {
  test.each(READ)('of %s is read', (name, described) => {
    expect(readFeedbackReport(fixtures.get(name)!)).toEqual(report(...described))
  })

  test('has a line in this table for every fixture', () => {
    expect(READ.map(([name]) => name).sort()).toEqual(Array.from(fixtures.keys()).sort())
  })

  test.each([
    ['Sat, 21 Nov 2026 10:00:02 +0100', AT],
    ['Sat, 21 Nov 2026 01:00:02 -0800 (PST)', AT],
    ['21 Nov 2026 09:00:02 GMT', AT],
    ['Sat, 21 Nov 2026 09:00:02', AT],
    ['2026-11-21T09:00:02Z', AT],
    ['2026', null],
    ['never', null],
    ['', null],
  ])('with the arrival date %j has an instant', (date, at) => {
    const mail = `Content-Type: multipart/report; boundary=b\n\n--b\nContent-Type: message/feedback-report\n\nArrival-Date: ${date}\n--b--\n`
    expect(readFeedbackReport(asMail(mail))?.arrivalAt).toBe(at)
  })

  test('is read when the empty line behind its part header is missing', () => {
    const mail =
      'Content-Type: multipart/report; boundary=b\n\n--b\nContent-Type: message/feedback-report\nFeedback-Type: abuse\nUser-Agent: x\n--b--\n'
    expect(readFeedbackReport(asMail(mail))).toEqual(report('abuse', 'x', null, [], null, []))
  })
})

describe('not a feedback report:', () => {
  const jmrp = Buffer.from(fixtures.get('outlook-jmrp')!).toString()

  test.each<[string, string]>([
    ['an empty mail', ''],
    ['an ordinary mail', 'From: a@b.example\nSubject: complaint about message from 192.0.2.1\n\nI complain.\n'],
    ['a forwarded mail', jmrp.replace('X-HmXmrOriginalRecipient', 'X-Other').replaceAll('\r\n', '\n')],
    [
      'junk mail forwarded by a person',
      jmrp
        .replace('staff@hotmail.com', 'a@b.example')
        .replace('complaint about message', 'see message')
        .replaceAll('\r\n', '\n'),
    ],
    ['a text that quotes a report', 'From: a@b.example\n\nFeedback-Type: abuse\nUser-Agent: x\nVersion: 1\n'],
  ])('%s', (_, text) => expect(readFeedbackReport(asMail(text))).toBeNull())

  test.each(Array.from(loadFixtures('dsn')))('the notification %s', (_, raw) => {
    expect(readFeedbackReport(raw)).toBeNull()
  })
})

function report(
  feedbackType: string,
  userAgent: string | null,
  originalMailFrom: string | null,
  originalRecipients: string[],
  arrivalAt: number | null,
  originalHeaders: [string, string][],
): FeedbackReport {
  return { feedbackType, userAgent, originalMailFrom, originalRecipients, arrivalAt, originalHeaders }
}

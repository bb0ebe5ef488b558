import { describe, expect, test } from 'bun:test'
import { SUBJECT_ONLY, UNPROVED } from '../../mail/bounce-notice.ts'
import type { Dsn, DsnRecipient } from '../../mail/dsn-content.ts'
import type { Reply } from '../../mail/reply.ts'
import type { Delivery } from '../../model/delivery.ts'
import { type JudgeReply, judgeDsn } from './bounce.ts'

const AT = Date.UTC(2026, 10, 21)
const entry = (change: Partial<DsnRecipient> = {}): DsnRecipient => ({
  finalRecipient: 'ann@dest.example',
  originalRecipient: null,
  action: 'failed',
  status: null,
  diagnostic: null,
  remoteMta: null,
  ...change,
})
const dsnOf = (recipients: DsnRecipient[], change: Partial<Dsn> = {}): Dsn => ({
  form: 'rfc3464',
  reportingMta: null,
  recipients,
  isAfterRecipient: false,
  words: null,
  ...change,
})
const delivery = { email: 'ann@dest.example', status: 'delivered', attempts: 2 } as Delivery

/** Judges a report; the reply that it is judged by is in `replies`. */
function judged(dsn: Dsn, given: Partial<ReturnType<JudgeReply>> = {}, of = delivery) {
  const replies: Reply[] = []
  const judgement = judgeDsn(dsn, of, AT, (reply) => {
    replies.push(reply)
    return { bounceType: 'hard', code: '5.1.1', cause: { class: 'no_mailbox', rule: 'user-unknown' }, ...given }
  })
  return { judgement, replies }
}

describe('the reply in a report', () => {
  const cases: [what: Partial<DsnRecipient>, reply: Reply][] = [
    [{ diagnostic: '552 5.2.2 full' }, { code: 552, enhanced: '5.2.2', text: 'full' }],
    [{ diagnostic: '452-4.2.2 full' }, { code: 452, enhanced: '4.2.2', text: 'full' }],
    [{ diagnostic: '552 -full' }, { code: 552, enhanced: null, text: 'full' }],
    [{ diagnostic: '550 first\n550 second' }, { code: 550, enhanced: null, text: 'first' }],
    [
      { diagnostic: '550 5.0.0 no', status: '5.2.2' },
      { code: 550, enhanced: '5.2.2', text: 'no' },
    ],
    [
      { diagnostic: '550 no', status: '5.0.0' },
      { code: 550, enhanced: null, text: 'no' },
    ],
    [
      { diagnostic: '250 fine', status: '5.1.1' },
      { code: 550, enhanced: '5.1.1', text: '250 fine' },
    ],
    [
      { diagnostic: 'gone', status: '4.4.7' },
      { code: 450, enhanced: '4.4.7', text: 'gone' },
    ],
    [
      { diagnostic: 'gone', status: '5.0.0' },
      { code: 550, enhanced: '5.0.0', text: 'gone' },
    ],
    [{ diagnostic: 'gone' }, { code: 550, enhanced: '5.0.0', text: 'gone' }],
    [{ status: '5.1.1' }, { code: 550, enhanced: '5.1.1', text: 'failed 5.1.1' }],
    [{}, { code: 550, enhanced: '5.0.0', text: 'failed' }],
  ]
  test.each(cases)('of %j is %j', (change, reply) => {
    expect(judged(dsnOf([entry(change)])).replies).toEqual([reply])
  })
})

describe('the entry of a report', () => {
  const emails = (recipients: Partial<DsnRecipient>[], email = 'ann@dest.example') => {
    const entries = recipients.map((each, at) => entry({ diagnostic: `55${at} no`, ...each }))
    const { replies, judgement } = judged(dsnOf(entries), {}, { ...delivery, email })
    return [replies[0]?.code ?? null, judgement.change?.bounceType ?? null]
  }

  test('is the one that names our recipient, with host names and details ignored', () => {
    const other = { finalRecipient: 'bob@dest.example' }
    expect(emails([other, {}])).toEqual([551, 'hard'])
    expect(emails([other, { finalRecipient: 'ANN+x@mx.dest.example' }])).toEqual([551, 'hard'])
    expect(emails([other, { finalRecipient: 'x@a.example', originalRecipient: 'ann@dest.example' }])).toEqual([
      551,
      'soft',
    ])
    expect(emails([other, { finalRecipient: null, originalRecipient: 'ann@dest.example' }])).toEqual([551, 'hard'])
    expect(emails([other, { finalRecipient: 'ann@xdest.example' }])).toEqual([550, 'soft'])
    expect(emails([other, { finalRecipient: '+ann@dest.example' }], '+ann@dest.example')).toEqual([551, 'hard'])
  })

  test('of a list of others is a failure only if all of them failed, and never hard', () => {
    const [one, two] = [{ finalRecipient: 'a@x.example' }, { finalRecipient: 'b@x.example' }]
    expect(emails([one, two])).toEqual([550, 'soft'])
    expect(emails([one, { ...two, action: 'delivered' }])).toEqual([null, null])
  })

  test('without any address is about our recipient', () => {
    expect(emails([{ finalRecipient: null }])).toEqual([550, 'hard'])
  })
})

describe('a report of a failure', () => {
  const cause = (change: Partial<Dsn>, given: Partial<ReturnType<JudgeReply>> = {}) => {
    const { judgement } = judged(dsnOf([entry({ diagnostic: '550 no' })], change), given)
    return [judgement.change?.bounceType, judgement.report.cause?.rule, judgement.suppress]
  }
  const full = { class: 'mailbox_full', rule: 'enhanced-2.2' } as const

  test('is soft for a recipient that was accepted and called unknown at DATA', () => {
    expect(cause({})).toEqual(['hard', 'user-unknown', 'hard_bounce'])
    expect(cause({ isAfterRecipient: true })).toEqual(['soft', 'unknown-after-data', null])
    expect(cause({ isAfterRecipient: true }, { cause: full })).toEqual(['hard', 'enhanced-2.2', 'hard_bounce'])
  })

  test('is soft if only the subject says so, or the sender is not proved', () => {
    expect(cause({ form: SUBJECT_ONLY })).toEqual(['soft', 'subject-only', null])
    expect(cause({ form: UNPROVED })).toEqual(['soft', 'unproved', null])
  })

  test('is soft if its text says that the mailbox exists', () => {
    expect(cause({ words: 'Reason: mailbox is full' })).toEqual(['soft', 'words-mailbox-full', null])
    expect(cause({ words: 'the account has been disabled' })).toEqual(['soft', 'words-mailbox-disabled', null])
    expect(cause({ words: 'the mailbox may be full, or the mailbox is full?' })[0]).toBe('hard')
    expect(cause({ words: 'mailbox is full' }, { cause: full })[1]).toBe('enhanced-2.2')
  })

  test('without a reason in its reply takes that of a line of its text', () => {
    const said: Reply[] = []
    const report = dsnOf([entry({ diagnostic: '550 5.0.0 no' })], {
      words: 'Dear user,\nReason: check the name\nReason: no such user\nError: quota',
    })
    const judgement = judgeDsn(report, delivery, AT, (reply) => {
      said.push(reply)
      return reply.text === 'no such user'
        ? { bounceType: 'hard', code: '550', cause: { class: 'no_mailbox', rule: 'unknown-user' } }
        : { bounceType: 'soft', code: '5.0.0', cause: { class: 'other', rule: 'enhanced-5.0' } }
    })
    expect(said.slice(1).map(({ code, enhanced, text }) => [code, enhanced, text])).toEqual([
      [550, null, 'no such user'],
      [550, null, 'quota'],
    ])
    expect(judgement.change).toMatchObject({ bounceType: 'hard', bounceCode: '5.0.0' })
    expect(judgement.report.cause?.rule).toBe('words-unknown-user')
  })

  test('changes nothing for a delivery that is final, except a delivered one', () => {
    const report = dsnOf([entry({ diagnostic: '550 no' })])
    const of = (status: Delivery['status']) => judged(report, {}, { ...delivery, status }).judgement
    expect(of('delivered').change).toMatchObject({ status: 'bounced', bounceType: 'hard', smtpResponse: '550 no' })
    expect(of('bounced').change).toBeNull()
    expect(of('bounced').event).toBeNull()
    expect(of('deferred').change).toMatchObject({ status: 'bounced' })
  })

  test('of a delay is reported with the attempt, unless the delivery has bounced', () => {
    const report = dsnOf([entry({ action: 'delayed', diagnostic: ' 450 later ' })])
    expect(judged(report).judgement.event).toEqual({
      type: 'message.deferred',
      fields: {
        deferred_at: new Date(AT).toISOString(),
        attempt: 2,
        next_attempt_at: null,
        smtp_response: '450 later',
      },
    })
    expect(judged(report, {}, { ...delivery, status: 'bounced' }).judgement.event).toBeNull()
  })

  test('names its reporter, or else the remote server', () => {
    const of = (reportingMta: string | null) =>
      judged(dsnOf([entry({ remoteMta: 'mx.dest.example' })], { reportingMta })).judgement.report.reporter
    expect([of('mx.relay.example'), of(null)]).toEqual(['mx.relay.example', 'mx.dest.example'])
  })
})

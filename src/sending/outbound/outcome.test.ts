import { describe, expect, test } from 'bun:test'
import { BOUNCE_RULES } from '../../mail/bounce-rules.ts'
import { createReplyReader, parseReplyLine } from '../../mail/reply.ts'
import type { Outcome } from '../../model/delivery.ts'
import { internalFault, isHostTrouble, lateBounce, outcomeOf, unpreparable } from './outcome.ts'
import { type Answer, faultAt, type Stage } from './smtp/reply.ts'

const MX = 'mx.remote.test [192.0.2.1]:25'
const answer = (stage: Stage, said: string): Answer => {
  const [reply] = createReplyReader().push(`${said.replaceAll('\n', '\r\n')}\r\n`)
  return { kind: 'reply', stage, reply: reply! }
}
const inShort = (outcome: Outcome) => {
  if (outcome.kind === 'bounced') return `${outcome.bounceType} ${outcome.code}`
  if (outcome.kind === 'deferred')
    return `${outcome.aboutRecipient ? 'deferred, recipient' : 'deferred'} ${outcome.code}`
  return outcome.kind
}

const CASES: [stage: Stage, said: string, outcome: string][] = [
  // Taken.
  ['content', '250 2.0.0 OK  1700000000 ab-20020a05.12 - gsmtp', 'delivered'],
  ['content', '250 ok', 'delivered'],
  ['content', '252 perhaps', 'delivered'],

  // Temporary, about the mail or the server.
  ['rcpt', '450 4.7.1 <anna@remote.test>: Recipient address rejected: Greylisted, see http://x', 'deferred 4.7.1'],
  ['rcpt', '450 4.2.0 <anna@remote.test>: Recipient address rejected: Greylisted', 'deferred 4.2.0'],
  ['rcpt', '451 4.7.1 Greylisting in action, please come back later', 'deferred 4.7.1'],
  ['rcpt', '451 Temporary local problem - please try later', 'deferred 451'],
  ['content', '452 4.3.1 Insufficient system storage', 'deferred 4.3.1'],
  [
    'content',
    '421-4.7.28 Gmail has detected an unusual rate of mail\n421 4.7.28 rate limited - gsmtp',
    'deferred 4.7.28',
  ],
  ['greeting', '421 4.3.2 Too many connections', 'deferred 4.3.2'],
  ['mail', '421 4.7.0 [TSS04] Messages from 192.0.2.9 temporarily deferred', 'deferred 4.7.0'],
  ['mail', '451 4.1.8 Domain of sender address does not resolve', 'deferred 4.1.8'],
  ['ehlo', '450 4.2.2 odd', 'deferred 4.2.2'],
  ['mail', '530 5.7.0 Authentication required', 'deferred 5.7.0'],
  ['mail', '530 Must issue a STARTTLS command first', 'deferred 530'],

  // Temporary, about this mailbox.
  ['rcpt', '452 4.2.2 The email account that you tried to reach is over quota. - gsmtp', 'deferred, recipient 4.2.2'],
  ['rcpt', '450 4.2.1 The user you are trying to contact is disabled for now', 'deferred, recipient 4.2.1'],
  ['rcpt', '450 4.1.1 <anna@remote.test>: unverified address', 'deferred, recipient 4.1.1'],
  ['content', '452 Mailbox full', 'deferred, recipient 452'],
  ['rcpt', '450 4.1.8 <r@s.test>: Sender address rejected: Domain not found', 'deferred 4.1.8'],
  ['rcpt', '421 4.2.1 closing', 'deferred 4.2.1'],

  // The address or its domain does not exist or accepts no mail.
  ['rcpt', '550-5.1.1 The email account that you tried to reach does not exist.\n550 5.1.1 - gsmtp', 'hard 5.1.1'],
  [
    'rcpt',
    '550 5.1.1 <anna@remote.test>: Recipient address rejected: User unknown in virtual mailbox table',
    'hard 5.1.1',
  ],
  ['rcpt', '550 5.1.10 RESOLVER.ADR.RecipientNotFound; Recipient not found by SMTP address lookup', 'hard 5.1.10'],
  ['rcpt', '550 5.4.1 Recipient address rejected: Access denied. [AMS0EPF]', 'hard 5.4.1'],
  ['rcpt', '553 5.1.3 User address required', 'hard 5.1.3'],
  ['rcpt', '551 5.1.6 User has moved', 'hard 5.1.6'],
  ['rcpt', '550 5.1.2 Bad destination mailbox domain', 'hard 5.1.2'],
  ['rcpt', '550 No such user here', 'hard 550'],
  ['rcpt', '550 Unknown user', 'hard 550'],
  ['rcpt', '550 5.0.0 <anna@remote.test>... User unknown', 'hard 5.0.0'],
  ['content', "554 delivery error: dd This user doesn't have a yahoo.com account (anna@yahoo.com)", 'hard 554'],
  ['data', '554 5.1.1 no valid recipients, user unknown', 'hard 5.1.1'],
  ['rcpt', '550 5.1.0 Address rejected', 'hard 5.1.0'],
  ['rcpt', '556 5.1.10 Recipient address has null MX', 'hard 5.1.10'],
  ['rcpt', '556 the domain takes no mail', 'hard 556'],

  [
    'rcpt',
    '550 5.5.0 Requested action not taken: mailbox unavailable (S2017062302). [a.prod.outlook.com]',
    'hard 5.5.0',
  ],
  ['rcpt', '550 5.7.1 No such user!', 'hard 5.7.1'],
  ['rcpt', '550 5.7.1 User unknown', 'hard 5.7.1'],
  ['rcpt', '550 5.7.1 Recipient does not exist', 'hard 5.7.1'],
  ['rcpt', '550 5.4.1 All recipient addresses rejected : Access denied', 'hard 5.4.1'],
  ['rcpt', '554 delivery error: dd anna@remote.test is no longer valid', 'hard 554'],
  ['rcpt', '550 User [ann.lee@dest.test] does not exist', 'hard 550'],
  ['rcpt', '550 User ann.lee@dest.test does not exist', 'hard 550'],

  // The address is fine.
  ['rcpt', '521 refused', 'soft 521'],
  ['rcpt', '521 Rejected: your network 192.0.2.0/24', 'soft 521'],
  ['rcpt', '552 5.1.1 anna@remote.test extended quota violation', 'soft 5.1.1'],
  ['rcpt', '550 5.1.1 anna@remote.test maximum message size exceeded', 'soft 5.1.1'],
  ['rcpt', '550 5.1.1 anna@remote.test account is disabled', 'soft 5.1.1'],
  ['rcpt', '501 Invalid domain name', 'soft 501'],
  ['rcpt', '552 5.2.2 Mailbox full', 'soft 5.2.2'],
  ['rcpt', '552 Mailbox quota exceeded', 'soft 552'],
  ['rcpt', '550 5.2.1 The email account that you tried to reach is disabled. - gsmtp', 'soft 5.2.1'],
  ['rcpt', '550 5.7.1 Service unavailable; client [192.0.2.9] blocked using zen.spamhaus.org', 'soft 5.7.1'],
  ['rcpt', '554 5.7.1 <anna@remote.test>: Relay access denied', 'soft 5.7.1'],
  ['content', '550-5.7.26 Unauthenticated email from sender.test\n550 5.7.26 is not accepted. - gsmtp', 'soft 5.7.26'],
  ['content', '554 5.7.1 Message contains spam', 'soft 5.7.1'],
  ['content', '554 5.6.0 Message content rejected', 'soft 5.6.0'],
  ['content', '552 5.3.4 Message too big for system', 'soft 5.3.4'],
  ['content', '552 5.2.3 message exceeds the limit of the mailbox', 'soft 5.2.3'],
  ['rcpt', '550 5.1.8 Domain of sender address does not exist', 'soft 5.1.8'],
  ['rcpt', '553 5.1.7 Bad sender address syntax', 'soft 5.1.7'],
  ['rcpt', '550 5.1.0 Sender rejected', 'soft 5.1.0'],
  ['rcpt', '501 5.5.4 Invalid arguments', 'soft 5.5.4'],
  ['rcpt', '550 rejected', 'soft 550'],
  ['rcpt', '550', 'soft 550'],
  ['rcpt', '599 what', 'soft 599'],

  // Before RCPT it is about us, whatever the code.
  ['greeting', '554 5.7.1 no mail from you', 'soft 5.7.1'],
  ['greeting', '521 mx.remote.test does not accept mail', 'soft 521'],
  ['ehlo', '550 5.1.2 unknown host', 'soft 5.1.2'],
  ['mail', '550 5.1.1 user unknown', 'soft 5.1.1'],
  ['mail', '550 5.1.8 bad sender domain', 'soft 5.1.8'],
  ['mail', '553 sorry, your envelope sender is in my badmailfrom list', 'soft 553'],
]
for (const [stage, said, outcome] of CASES) {
  test(`at ${stage}, ${said.replace('\n', ' ⏎ ')} is ${outcome}`, () => {
    expect(inShort(outcomeOf(answer(stage, said), MX))).toBe(outcome)
  })
}

test('no outcome says that the address or domain does not exist without being hard', () => {
  const samples = BOUNCE_RULES.flatMap((rule) => rule.samples)
  const replies = samples.flatMap((each) => [each, each.replace(/^5(\d\d)/, '4$1'), each.replace(/^\d{3}/, '530')])
  const outcomes = replies.flatMap((each) =>
    (['ehlo', 'mail', 'rcpt', 'content'] as const).map((stage) =>
      outcomeOf(answer(stage, each.replace(/^(\d{3})-/, '$1 ')), MX),
    ),
  )
  const gone = outcomes.filter((each) => 'cause' in each && /^no_/.test(each.cause.class))
  expect(gone.length).toBeGreaterThan(20)
  expect(gone.filter((each) => each.kind !== 'bounced' || each.bounceType !== 'hard')).toEqual([])
})

test.each([
  ['mail', '550 5.1.1 user unknown', 'policy', 'mail-refused'],
  ['rcpt', '450 4.1.1 user unknown', 'system', 'unknown-for-now'],
  ['rcpt', '530 user unknown', 'system', 'unknown-for-now'],
] as const)('at %s, %s is explained as %s', (stage, said, className, rule) => {
  expect(outcomeOf(answer(stage, said), MX)).toMatchObject({ cause: { class: className, rule } })
})

test('a refusal gives the reply on one line and the rule that classified it', () => {
  expect(outcomeOf(answer('rcpt', '550-5.1.1 No such\n550 5.1.1 person'), MX)).toMatchObject({
    message: '550 5.1.1 No such person',
    cause: { class: 'no_mailbox' },
  })
})

for (const fault of ['network', 'timeout', 'tls', 'protocol', 'login'] as const) {
  test(`${fault} failure defers and names the server`, () => {
    const outcome = outcomeOf(faultAt('rcpt', { class: fault, code: '4.4.2', message: 'oh' }), MX)
    expect(outcome).toMatchObject({ kind: 'deferred', code: '4.4.2', aboutRecipient: false, message: `${MX}: oh` })
    expect(outcome).toMatchObject({ cause: { rule: `${fault}:rcpt` } })
  })
}

test('a connection lost after the final dot has an unknown outcome', () => {
  const fault = { class: 'network', code: '4.4.2', message: 'gone' } as const
  expect(outcomeOf({ kind: 'fault', stage: 'content', fault, afterDot: true }, MX)).toMatchObject({ kind: 'unknown' })
})

test('mail that the server’s extensions rule out bounces soft', () => {
  const outcome = outcomeOf({ kind: 'unfit', code: '5.3.4', message: 'too big' }, MX)
  expect(outcome).toMatchObject({ kind: 'bounced', bounceType: 'soft', code: '5.3.4', cause: { class: 'size' } })
})

test('mail that cannot be composed bounces soft, and a bug defers', () => {
  expect(unpreparable(new Error('bad'))).toMatchObject({ kind: 'bounced', bounceType: 'soft', code: '5.6.0' })
  expect(internalFault(new Error('bad'))).toMatchObject({
    kind: 'deferred',
    code: '4.3.0',
    cause: { class: 'internal' },
  })
})

const NEXT_HOST: [stage: Stage, said: string, next: boolean][] = [
  ['greeting', '421 busy', true],
  ['greeting', '554 no', true],
  ['ehlo', '550 no', true],
  ['mail', '451 later', true],
  ['rcpt', '450 4.7.1 greylisted', true],
  ['mail', '550 no', false],
  ['rcpt', '452 4.2.2 full', false],
  ['rcpt', '550 5.1.1 unknown', false],
  ['content', '250 ok', false],
  ['content', '554 spam', false],
  ['content', '451 later', true],
]
for (const [stage, said, next] of NEXT_HOST) {
  test(`${said} at ${stage} ${next ? 'leads to the next host' : 'ends the attempt'}`, () => {
    const given = answer(stage, said)
    expect(isHostTrouble(given, outcomeOf(given, MX))).toBe(next)
  })
}

describe('a 5yz under which the mailbox may well exist is soft', () => {
  test.each([
    '5.1.1 Mail rate exceeded',
    '5.1.1 Hourly quota reached for sender',
    '5.1.1 Connection limit reached',
    '5.1.1 too many invalid recipients',
    '5.1.1 Sorry, your mail server has been blocked',
    '5.1.1 client host not in whitelist',
    '5.1.1 abuse from your network',
    '5.1.1 Mail from 192.0.2.1 refused',
    '5.1.1 HELO r.example unknown host',
    '5.1.2 Cannot resolve your domain',
    '5.1.2 your domain does not exist',
    '5.1.2 DNSSEC validation failed',
    '5.1.1 sender mailbox does not exist',
    '5.1.1 Sender address does not exist',
    '5.1.3 Bad sender address syntax',
    'sender callout: 550 user unknown',
    'Verification failed for <b-1@x.example>: no such user',
    'Return path mailbox not found',
    '5.1.1 greylisted',
    '5.1.1 mailbox temporarily unavailable',
    '5.1.1 unverified address: Address verification in progress',
    '5.1.1 undeliverable address: host mx.example said: 451 later',
    '5.1.1 Spam detected',
    '5.1.1 Rejected by policy',
    '5.1.1 Account disabled',
    'LDAP server unreachable, user not found',
  ])('550 %s', (text) => {
    expect(lateBounce(parseReplyLine(`550 ${text}`)!).bounceType).toBe('soft')
  })
})

describe('a 5yz about the recipient is hard, whatever its address and its links contain', () => {
  test.each([
    '5.1.1 <sbl@x.example> user unknown, host mx blocked',
    '5.1.1 <a@sorbs.example> user unknown',
    '5.1.1 <ptr@x.example> user unknown',
    '5.1.1 User unknown in virtual mailbox table',
    '5.1.1 unknown or illegal alias: x',
    '5.1.1',
    'No such user',
    '<a@x.example>: Recipient address rejected.',
  ])('550 %s', (text) => {
    expect(lateBounce(parseReplyLine(`550 ${text}`)!).bounceType).toBe('hard')
  })
})

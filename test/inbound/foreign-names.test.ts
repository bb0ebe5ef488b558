import { expect, test } from 'bun:test'
import { asciiDomain } from '../../src/mail/address.ts'
import type { Delivery } from '../../src/model/delivery.ts'
import { judgeDsn } from '../../src/receiving/feedback/bounce.ts'
import type { InboundResult } from '../../src/receiving/inbound/inbound-result.ts'
import { requireOwnName } from '../../src/receiving/inbound/policy.ts'
import { expectCostUnder } from '../support/cpu-cost.ts'

/** Names with that many different characters: A-labels of 900 take 5 ms. */
const longNames = (count: number, characters: number) =>
  Array.from({ length: count }, (_, at) => {
    const name = Array.from({ length: characters }, (_, n) => String.fromCharCode(0x4e00 + ((n * 7_919 + at) % 20_000)))
    return `${name.join('')}.example`
  })

test('valid names have A-labels, with or without invisible characters', () => {
  expect(asciiDomain('Bücher.example')).toBe('xn--bcher-kva.example')
  expect(asciiDomain(`b\u00ad${'\u200b'.repeat(300)}ücher.example`)).toBe('xn--bcher-kva.example')
  expect(asciiDomain(longNames(1, 100)[0]!)).toBe('')
  expect(asciiDomain(`${'a.'.repeat(200)}example`)).toBe('')
})

// threat: internationalized-name-cost
test.each([900, 250, 60])(
  'a From of names of %i different characters blocks the main thread for 30 ms at most',
  async (characters) => {
    const fromHeader = longNames(Math.floor(80_000 / characters), characters)
      .map((name) => `a@${name}`)
      .join(', ')
    const reading = {
      verdicts: { dmarc: 'fail' },
      dmarcPolicy: 'reject',
      head: { fromHeader },
    } as unknown as InboundResult
    await expectCostUnder(30, () => expect(() => requireOwnName('ours.example', reading)).toThrow(), 5)
  },
)

// threat: internationalized-name-cost
test.each([900, 250, 60])(
  'a report about names of %i different characters blocks the main thread for 30 ms at most',
  async (characters) => {
    const recipients = longNames(Math.min(1_000, Math.floor(500_000 / characters)), characters).map((name) => ({
      finalRecipient: `a@${name}`,
      originalRecipient: null,
      action: 'failed' as const,
      status: '5.1.1',
      diagnostic: null,
      remoteMta: null,
    }))
    const delivery = { email: 'a@ours.example', status: 'delivered', attempts: 1 } as Delivery
    const judge = () => ({ bounceType: 'soft' as const, code: 'other', cause: null as never })
    const dsn = { form: 'rfc3464', reportingMta: null, isAfterRecipient: false, words: null, recipients }
    await expectCostUnder(30, () => judgeDsn(dsn, delivery, 0, judge), 5)
  },
)

test('a report names our recipient in either form of an internationalized name', () => {
  const recipient = {
    originalRecipient: null,
    action: 'failed' as const,
    status: '5.1.1',
    diagnostic: null,
    remoteMta: null,
  }
  const dsn = {
    form: 'rfc3464',
    reportingMta: null,
    isAfterRecipient: false,
    words: null,
    recipients: [{ ...recipient, finalRecipient: 'a@bücher.example' }],
  }
  const delivery = { email: 'a@xn--bcher-kva.example', status: 'delivered', attempts: 1 } as Delivery
  const judge = () => ({ bounceType: 'hard' as const, code: 'other', cause: null as never })
  expect(judgeDsn(dsn, delivery, 0, judge).suppress).toBe('hard_bounce')
})

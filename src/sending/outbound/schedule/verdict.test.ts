import { describe, expect, test } from 'bun:test'
import type { Outcome } from '../../../model/delivery.ts'
import type { AddressClass } from '../../../model/hard-bounces.ts'
import { EXPIRED_RULE, verdictOf } from './verdict.ts'

const bouncedBy = (rule: string): Outcome => {
  const cause = { class: 'expired', rule }
  return { kind: 'bounced', bounceType: 'soft', code: '4.4.7', message: 'expired', cause }
}
const deferred: Outcome = {
  kind: 'deferred',
  code: '4.7.1',
  message: '451 later',
  aboutRecipient: false,
  cause: { class: 'policy', rule: 'later' },
}

test('a delivery expires at the time limit of its message, not at the end of the schedule', () => {
  expect(verdictOf(bouncedBy(EXPIRED_RULE), false, null)).toMatchObject({ status: 'bounced', isExpired: true })
  expect(verdictOf(bouncedBy('max_age'), false, null)).toMatchObject({ status: 'bounced', isExpired: false })
  expect(verdictOf(deferred, false, 'expired')).toMatchObject({ status: 'bounced', isExpired: true })
  expect(verdictOf(deferred, false, null)).toMatchObject({ status: 'bounced', isExpired: false })
  expect(verdictOf(deferred, false, 60_000)).toMatchObject({ status: 'deferred', isExpired: false })
})

describe('a mailbox that stays full until the end of the schedule', () => {
  const full: Outcome = { ...deferred, aboutRecipient: true, cause: { class: 'mailbox_full', rule: 'mailbox-full' } }
  const bounced = (hard?: AddressClass[], next: null | 'expired' = null, outcome = full) => {
    const { reported, suppresses } = verdictOf(outcome, true, next, hard)
    return [reported.kind === 'bounced' && reported.bounceType, suppresses]
  }

  test('is a soft bounce, and a hard one if the operator chose its class', () => {
    expect(bounced()).toEqual(['soft', false])
    expect(bounced(['no_mailbox', 'mailbox_full'])).toEqual(['hard', true])
  })

  test('is a soft bounce if its message expired before, or if the whole server deferred', () => {
    expect(bounced(['mailbox_full'], 'expired')).toEqual(['soft', false])
    expect(bounced(['mailbox_full'], null, { ...full, aboutRecipient: false })).toEqual(['soft', false])
  })
})

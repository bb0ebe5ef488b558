import { expect, test } from 'bun:test'
import type { Outcome } from '../../model/delivery.ts'
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

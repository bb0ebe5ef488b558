import { expect, test } from 'bun:test'
import { simulate, simulatedOutcome } from './sandbox.ts'

const kinds = (email: string) => simulate(email).outcomes.map((outcome) => outcome.kind)

const CASES: [email: string, outcomes: string[], reactions: string[]][] = [
  ['anna@customer.test', ['delivered'], []],
  ['bounce@customer.test', ['bounced'], []],
  ['bounce+order-7@customer.test', ['bounced'], []],
  ['Bounce@customer.test', ['bounced'], []],
  ['bouncer@customer.test', ['delivered'], []],
  ['softbounce@customer.test', ['bounced'], []],
  ['defer@customer.test', ['deferred', 'delivered'], []],
  ['complain@customer.test', ['delivered'], ['complained']],
  ['open@customer.test', ['delivered'], ['opened']],
  ['click@customer.test', ['delivered'], ['opened', 'clicked']],
  ['unsubscribe@customer.test', ['delivered'], ['unsubscribed']],
  ['reply@customer.test', ['delivered'], ['replied']],
  ['constructor@customer.test', ['delivered'], []],
  ['', ['delivered'], []],
]
for (const [email, outcomes, reactions] of CASES) {
  test(`test mail to ${email || 'nobody'} is ${[...outcomes, ...reactions].join(', then ')}`, () => {
    expect(kinds(email) as string[]).toEqual(outcomes)
    expect(simulate(email)).toMatchObject({ outcomes: expect.any(Array), suppressed: false })
    expect(simulate(email).then as string[]).toEqual(reactions)
  })
}

test('never attempts a suppressed recipient', () => {
  expect(simulate('suppressed@customer.test')).toMatchObject({ outcomes: [], suppressed: true })
})

test('a bounce is hard with 5.1.1, a soft bounce soft with 5.2.2', () => {
  expect(simulatedOutcome('bounce@c.test', 1)).toMatchObject({ bounceType: 'hard', code: '5.1.1' })
  expect(simulatedOutcome('softbounce@c.test', 1)).toMatchObject({ bounceType: 'soft', code: '5.2.2' })
})

test('the first attempt of defer@ is deferred, each further one delivered', () => {
  expect([1, 2, 3].map((attempt) => simulatedOutcome('defer@c.test', attempt).kind)).toEqual([
    'deferred',
    'delivered',
    'delivered',
  ])
})

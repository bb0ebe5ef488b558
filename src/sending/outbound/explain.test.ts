import { expect, test } from 'bun:test'
import { type Attempt, type Delivery, UNTRIED } from '../../model/delivery.ts'
import type { Message } from '../../model/message.ts'
import { explainDelivery, type Known } from './explain.ts'

const DELIVERY: Delivery = {
  ...UNTRIED,
  id: 'dlv_1',
  messageId: 'msg_1',
  position: 0,
  type: 'to',
  queue: 'example.net org',
  email: 'ann@example.net',
  status: 'deferred',
  attempts: 2,
  nextAttemptAt: 1,
  smtpResponse: 'mx.example.net: connection timed out',
  ...{ mxHost: 'mx.example.net', tls: null, machineOpens: 0, machineClicks: 0, isSoftBounceReported: false },
}
// Only these fields of a message, an attempt and the facts are read here.
const MESSAGE = { createdAt: 0, expiresAt: null } as unknown as Message
const KNOWN = {
  email: DELIVERY.email,
  suppressions: [],
  ofOtherStreams: [],
  ended: null,
  route: null,
  destination: null,
  settings: { maxAgeSeconds: 3_600 },
  now: 0,
} as unknown as Known

test('while an attempt is in progress, says why the one before it was deferred', () => {
  const first = { number: 1, cause: null, tlsPolicy: 'none' } as Attempt
  const words = explainDelivery(DELIVERY, MESSAGE, first, null, KNOWN)
  expect(words.slice(0, 2)).toEqual([
    'Attempt 1 was deferred: mx.example.net: connection timed out',
    'Attempt 2 is in progress.',
  ])
})

test('a server that never answered rejected nothing', () => {
  const smtpResponse = 'gave up: cannot connect to 192.0.2.1:25: timed out'
  const bounced: Delivery = { ...DELIVERY, status: 'bounced', bounceType: 'soft', smtpResponse }
  const last = { number: 2, cause: { class: 'network', rule: 'timeout:connect' }, reply: null } as Attempt
  const words = explainDelivery(bounced, MESSAGE, last, null, KNOWN).join(' ')
  expect(words).toStartWith(`The message could not be delivered: ${smtpResponse}. Postrider won't try again.`)
  expect(words).not.toContain('rejected')
})

test.each([
  ['aspmx2.googlemail.com', 'Gmail'],
  ['a-example.p-v1.mx.microsoft', 'Outlook'],
  ['google.com.evil.example', "The recipient's server google.com.evil.example"],
])('names the provider of %s', (mxHost, name) => {
  const delivered: Delivery = { ...DELIVERY, status: 'delivered', attempts: 1, mxHost }
  const words = explainDelivery(delivered, MESSAGE, null, null, KNOWN)
  expect(words[0]).toBe(`${name} accepted the message on the first attempt.`)
})

test.each([
  ['suppressed', 'suppressed', null, []],
  [
    'bounce',
    'bounced',
    '550 5.1.1 user unknown (sandbox)',
    ['The result of attempt 1 is: 550 5.1.1 user unknown (sandbox)', 'A bounce of the sandbox suppresses no address.'],
  ],
] as const)('says of %s in the sandbox that nothing was sent', (name, status, smtpResponse, more) => {
  const delivery: Delivery = { ...DELIVERY, email: `${name}@example.net`, status, smtpResponse, attempts: 1 }
  const words = explainDelivery(delivery, { ...MESSAGE, mode: 'test' }, null, null, KNOWN)
  expect(words).toEqual([
    'This is the sandbox: nothing is sent, and the name before the @ decides the result.',
    ...more,
  ])
})

test('says why a real suppression ended mail of the sandbox', () => {
  const delivery: Delivery = { ...DELIVERY, status: 'suppressed' }
  const suppressions = [{ email: DELIVERY.email, reason: 'manual', domainId: null, stream: null, createdAt: 0 }]
  const known = { ...KNOWN, suppressions } as unknown as Known
  const words = explainDelivery(delivery, { ...MESSAGE, mode: 'test' }, null, null, known)
  expect(words.at(-1)).toBe('Remove the suppression to send again.')
})

import { expect, test } from 'bun:test'
import type { Attempt, Delivery } from '../model/delivery.ts'
import { UNTRIED } from '../model/delivery.ts'
import type { DeliveryStatus } from '../model/message.ts'
import { follow, formatStep, type Step } from './follow.ts'
import { colorsFor } from './print.ts'

const AT = 1_795_262_400_000
const MINUTE = 60_000

function delivery(email: string, status: DeliveryStatus, change: Partial<Delivery> = {}): Delivery {
  const none = {
    mxHost: null,
    tls: null,
    nextAttemptAt: null,
    machineOpens: 0,
    machineClicks: 0,
    isSoftBounceReported: false,
  }
  const fixed = { id: email, messageId: 'msg_1', position: 0, type: 'to' as const, queue: 'x' }
  return { ...fixed, ...UNTRIED, ...none, email, status, ...change }
}

function attempt(number: number, outcome: Attempt['outcome'], reply: string, change: Partial<Attempt> = {}): Attempt {
  return {
    number,
    startedAt: AT + number * MINUTE,
    durationMs: 1_000,
    outcome,
    mxHost: 'mx.example.net',
    mxAddress: '192.0.2.1',
    sourceAddress: null,
    tlsVersion: 'TLSv1.3',
    tlsCipher: null,
    tlsVerified: false,
    tlsPolicy: 'none',
    reply,
    enhancedCode: null,
    cause: null,
    transcript: '',
    ...change,
  }
}

/** Follows a message in a store that returns the entries of `looks` poll by poll. */
async function followed(looks: { deliveries: Delivery[]; attempts: { email: string; attempt: Attempt }[] }[]) {
  let at = 0
  const messages = {
    deliveries: async () => looks[at]!.deliveries,
    attempts: async () => looks[at]!.attempts,
  }
  const steps: Step[] = []
  const clock = { now: () => AT + 5 * MINUTE, sleep: async () => void at++ }
  const status = await follow('msg_1', { store: { messages } as never, clock, onStep: (step) => steps.push(step) })
  return { status, lines: steps.map((step) => formatStep(step, colorsFor({}, false))) }
}

test('prints each attempt once, with its host, TLS, reply and what follows', async () => {
  const first = { email: 'ann@example.net', attempt: attempt(1, 'deferred', '451 4.7.1 later') }
  const second = { email: 'ann@example.net', attempt: attempt(2, 'delivered', '250 ok\x1b[2J', { tlsVersion: null }) }
  const waiting = delivery('ann@example.net', 'deferred', { attempts: 1, nextAttemptAt: AT + 2 * MINUTE })
  const { status, lines } = await followed([
    { deliveries: [delivery('ann@example.net', 'queued')], attempts: [] },
    { deliveries: [waiting], attempts: [first] },
    { deliveries: [waiting], attempts: [first] },
    { deliveries: [delivery('ann@example.net', 'delivered', { attempts: 2 })], attempts: [first, second] },
  ])
  expect([status, ...lines]).toEqual([
    'delivered',
    '12:01:01 deferred   ann@example.net  mx.example.net  TLSv1.3  451 4.7.1 later  next attempt at 12:02:00',
    '12:02:01 delivered  ann@example.net  mx.example.net  no TLS  250 ok\\u001b[2J',
  ])
})

test('prints a recipient that ended without an attempt, and a partial message is not delivered', async () => {
  const tried = { email: 'bob@example.net', attempt: attempt(1, 'deferred', '451 later') }
  const { status, lines } = await followed([
    {
      deliveries: [delivery('ann@example.net', 'suppressed'), delivery('bob@example.net', 'queued')],
      attempts: [tried],
    },
    {
      deliveries: [
        delivery('ann@example.net', 'suppressed'),
        delivery('bob@example.net', 'bounced', { attempts: 1, smtpResponse: 'expired' }),
      ],
      attempts: [tried],
    },
  ])
  expect([status, ...lines]).toEqual([
    'partial',
    '12:01:01 deferred   bob@example.net  mx.example.net  TLSv1.3  451 later',
    '12:05:00 suppressed ann@example.net',
    '12:05:00 bounced    bob@example.net  expired',
  ])
})

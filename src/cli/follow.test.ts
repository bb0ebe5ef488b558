import { expect, test } from 'bun:test'
import type { Attempt, Recipient } from '../client/types.ts'
import { iso } from '../model/event.ts'
import { follow, formatStep, type Look, type Step } from './follow.ts'
import { colorsFor } from './print.ts'

const AT = 1_795_262_400_000
const MINUTE = 60_000

function recipient(email: string, status: Recipient['status'], change: Partial<Recipient> = {}): Recipient {
  const none = { last_attempt_at: null, next_attempt_at: null, delivered_at: null, smtp_response: null }
  const counts = { attempts: 0, opens: 0, clicks: 0, machine_opens: 0, machine_clicks: 0 }
  const facts = { bounce_type: null, bounce_code: null, mx_host: null, tls: null }
  return { email, type: 'to', status, ...none, ...counts, ...facts, ...change }
}

function attempt(email: string, number: number, outcome: Attempt['outcome'], change: Partial<Attempt>): Attempt {
  return {
    recipient: email,
    number,
    started_at: iso(AT + number * MINUTE),
    duration_ms: 1_000,
    outcome,
    mx_host: 'mx.example.net',
    mx_ip: '192.0.2.1',
    source_ip: null,
    relay: null,
    tls_version: 'TLSv1.3',
    tls_cipher: null,
    tls_verified: false,
    tls_policy: 'none',
    smtp_response: null,
    enhanced_code: null,
    cause: null,
    transcript: '',
    ...change,
  }
}

/** Follows a message of which each look sees the next entry. */
async function followed(looks: Look[]) {
  let at = 0
  const steps: Step[] = []
  const clock = { now: () => AT + 5 * MINUTE, sleep: async () => void at++ }
  const onStep = (step: Step) => steps.push(step)
  const status = await follow({ look: async () => looks[at]!, clock, pollMs: 1, onStep })
  return { status, lines: steps.map((step) => formatStep(step, colorsFor({}, false))) }
}

const ANN = 'ann@example.net'
const BOB = 'bob@example.net'

test('prints each attempt once, with its host, TLS, reply and what follows', async () => {
  const first = attempt(ANN, 1, 'deferred', { smtp_response: '451 4.7.1 later' })
  const second = attempt(ANN, 2, 'delivered', { smtp_response: '250 ok\x1b[2J', tls_version: null })
  const waiting = recipient(ANN, 'deferred', { attempts: 1, next_attempt_at: iso(AT + 2 * MINUTE) })
  const { status, lines } = await followed([
    { recipients: [recipient(ANN, 'queued')], attempts: [] },
    { recipients: [waiting], attempts: [first] },
    { recipients: [waiting], attempts: [first] },
    { recipients: [recipient(ANN, 'delivered', { attempts: 2 })], attempts: [second, first] },
  ])
  expect([status, ...lines]).toEqual([
    'delivered',
    '12:01:01 deferred   ann@example.net  mx.example.net  TLSv1.3  451 4.7.1 later  next attempt at 12:02:00',
    '12:02:01 delivered  ann@example.net  mx.example.net  no TLS  250 ok\\u001b[2J',
  ])
})

test('prints why there was no connection, and nothing of TLS', async () => {
  const transcript = '0 -- connecting to mx.example.net [192.0.2.1]:25\n30001 -- connection timed out'
  const timedOut = attempt(ANN, 1, 'deferred', { tls_version: null, transcript })
  const { lines } = await followed([
    { recipients: [recipient(ANN, 'cancelled', { attempts: 1 })], attempts: [timedOut] },
  ])
  expect(lines[0]).toBe('12:01:01 deferred   ann@example.net  mx.example.net  connection timed out')
})

test('prints a recipient that ended without an attempt, and a partial message is not delivered', async () => {
  const tried = attempt(BOB, 1, 'deferred', { smtp_response: '451 later' })
  const { status, lines } = await followed([
    { recipients: [recipient(ANN, 'suppressed'), recipient(BOB, 'queued')], attempts: [tried] },
    {
      recipients: [recipient(ANN, 'suppressed'), recipient(BOB, 'bounced', { attempts: 1, smtp_response: 'expired' })],
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

import { expect, test } from 'bun:test'
import type { Outcome } from '../../../model/delivery.ts'
import { createDirectHealth } from './direct-health.ts'

const MINUTE = 60_000
const failed = (rule: string): Outcome => ({
  kind: 'deferred',
  code: '4.4.1',
  message: 'no',
  aboutRecipient: false,
  cause: { class: 'network', rule },
})
const UNREACHED = failed('timeout:connect')
const DELIVERED: Outcome = { kind: 'delivered', reply: { code: 250, enhanced: null, text: ['ok'] } as never }

function open(isBlocked: () => boolean = () => false) {
  const state = { now: 0, asked: 0 }
  const health = createDirectHealth(
    () => state.now,
    async () => {
      state.asked++
      return isBlocked()
    },
  )
  const ended = (domain: string, outcome: Outcome, { startedAt = state.now } = {}) =>
    health.ended({ domain, destination: domain }, { outcome, reached: true, startedAt })
  const trouble = (domain: string, takesTry = false) => health.troubleOf(domain, 10 * MINUTE, takesTry)
  return { state, ended, trouble, settled: () => Promise.resolve().then(() => {}) }
}

test('a domain fails after two failures over the whole time, and until a success', () => {
  const { state, ended, trouble } = open()
  ended('a.test', failed('busy'))
  state.now = 11 * MINUTE
  expect(trouble('a.test')).toBeNull()
  ended('a.test', failed('busy'))
  expect([trouble('a.test'), trouble('b.test')]).toEqual(['direct_failing', null])
  ended('a.test', DELIVERED)
  expect(trouble('a.test')).toBeNull()
})

test('attempts in progress at the same time count as one failure', () => {
  const { state, ended, trouble } = open()
  state.now = 5
  ended('a.test', failed('busy'), { startedAt: 0 })
  ended('a.test', failed('busy'), { startedAt: 1 })
  state.now = 20 * MINUTE
  expect(trouble('a.test')).toBeNull()
  ended('a.test', failed('busy'))
  expect(trouble('a.test')).toBe('direct_failing')
})

test('one attempt every 15 minutes tries directly, and the others use the relay meanwhile', () => {
  const { state, ended, trouble } = open()
  ended('a.test', failed('busy'))
  state.now = 10 * MINUTE
  ended('a.test', failed('busy'))
  expect(trouble('a.test')).toBe('direct_failing')
  state.now = 25 * MINUTE
  expect([trouble('a.test'), trouble('a.test', true), trouble('a.test', true)]).toEqual([null, null, 'direct_failing'])
})

// threat: tenant-moves-mail-to-relay
test('destinations without a server prove nothing about port 25 until a connection elsewhere confirms it', async () => {
  let isBlocked = false
  const { state, ended, trouble, settled } = open(() => isBlocked)
  for (const domain of ['a.test', 'b.test']) ended(domain, UNREACHED)
  expect(state.asked).toBe(0)
  ended('c.test', UNREACHED)
  await settled()
  expect([state.asked, trouble('d.test')]).toEqual([1, null])
  ended('c.test', UNREACHED)
  expect(state.asked).toBe(1)

  isBlocked = true
  state.now = 11 * MINUTE
  ended('c.test', UNREACHED)
  await settled()
  expect(trouble('d.test')).toBe('port_25_blocked')
  state.now = 27 * MINUTE
  expect([trouble('d.test', true), trouble('e.test', true)]).toEqual([null, 'port_25_blocked'])
  ended('d.test', DELIVERED)
  expect(trouble('e.test')).toBeNull()
})

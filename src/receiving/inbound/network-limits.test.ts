import { expect, test } from 'bun:test'
import { createNetworkLimits, type NetworkRates } from './network-limits.ts'

const RATES: NetworkRates = {
  connectionsPerMinute: 2,
  mailsPerMinute: 6,
  unknownRecipientsPerHour: 3,
  isUnlimited: (address) => address === '198.51.100.7',
}

function open() {
  let now = 1_000_000
  return { limits: createNetworkLimits(RATES, () => now), pass: (ms: number) => (now += ms) }
}

const times = (count: number, take: () => boolean) => Array.from({ length: count }, take).filter(Boolean).length

// threat: smtp-mail-flood
test('a network may use a minute’s quota at once and regains it evenly', () => {
  const { limits, pass } = open()
  expect(times(9, () => limits.mail('192.0.2.1'))).toBe(6)
  expect(limits.mail('192.0.2.200')).toBe(false) // the same network
  expect(limits.mail('192.0.3.1')).toBe(true)
  pass(10_000)
  expect(times(5, () => limits.mail('192.0.2.1'))).toBe(1)
  pass(3_600_000)
  expect(times(9, () => limits.mail('192.0.2.1'))).toBe(6)
  expect(limits.refusals()).toEqual({ connections: 0, mails: 3 + 1 + 4 + 3, unknown_recipients: 0 })
})

test('connections have a separate limit', () => {
  const { limits } = open()
  expect(times(5, () => limits.connect('2001:db8::1'))).toBe(2)
  expect(limits.mail('2001:db8::1')).toBe(true)
})

// threat: smtp-recipient-guessing
test('a network that guesses recipients no longer learns which exist', () => {
  const { limits, pass } = open()
  for (let guess = 0; guess < 3; guess++) {
    expect(limits.isGuessing('192.0.2.1')).toBe(false)
    limits.unknownRecipient('192.0.2.1')
  }
  expect(limits.isGuessing('192.0.2.99')).toBe(true)
  expect(limits.isGuessing('203.0.113.1')).toBe(false)
  pass(1_200_000)
  expect(limits.isGuessing('192.0.2.1')).toBe(false)
})

test('exempt networks have no limits, and a clock set back returns no quota', () => {
  const { limits, pass } = open()
  expect(times(100, () => limits.mail('198.51.100.7'))).toBe(100)
  expect(times(6, () => limits.mail('192.0.2.1'))).toBe(6)
  pass(-500_000)
  expect(limits.mail('192.0.2.1')).toBe(false)
})

// threat: smtp-network-table
test('drops the least recently used network when there are too many', () => {
  const { limits } = open()
  for (let n = 0; n < 110_000; n++) {
    if (n % 1000 === 0) limits.mail('192.0.2.1')
    limits.connect(`${20 + (n >> 16)}.${(n >> 8) & 255}.${n & 255}.1`)
  }
  expect(limits.mail('192.0.2.1')).toBe(false)
})

import { expect, test } from 'bun:test'
import type { Lookup } from '../net/dns/resolver.ts'
import { senderOf } from './known-senders.ts'
import { createSourceNames } from './source-names.ts'

const PTR: Record<string, string[]> = {
  '209.85.220.41': ['mail-sor-f41.google.com.'],
  '198.41.0.4': ['mail.victim.test', 'also.test'],
  '2001:500:2::c': ['Six.Example.NET'],
}
const ADDRESSES: Record<string, string[]> = {
  'mail-sor-f41.google.com': ['209.85.220.41'],
  'mail.victim.test': ['203.0.113.1'],
  'six.example.net': ['2001:0500:0002:0000:0000:0000:0000:000c'],
  'own.example': ['192.0.2.1'],
}

function setup() {
  const asked: string[] = []
  const found = (records: string[] | undefined): Lookup<string> =>
    records === undefined ? { kind: 'nxdomain' } : { kind: 'records', records, ttlSeconds: 60, authentic: false }
  let now = 0
  let answer: Promise<void> = Promise.resolve()
  const names = createSourceNames({
    resolver: {
      ptr: async (ip) => {
        asked.push(ip)
        await answer
        return found(PTR[ip])
      },
      a: async (name) => found(ADDRESSES[name]?.filter((each) => !each.includes(':'))),
      aaaa: async (name) => found(ADDRESSES[name]?.filter((each) => each.includes(':'))),
    },
    clock: {
      now: () => now,
      sleep: (_, signal) =>
        new Promise((resolve) => (signal ? signal.addEventListener('abort', () => resolve()) : null)),
    },
  })
  return {
    names,
    asked,
    later: (ms: number) => {
      now += ms
    },
    hold: () => {
      const held = Promise.withResolvers<void>()
      answer = held.promise
      return held.resolve
    },
  }
}

test('a name counts only if its address record leads back, and the answer is kept for a day', async () => {
  const { names, asked, later } = setup()
  const addresses = [...Object.keys(PTR), '8.8.8.8']
  const expected = [
    ['209.85.220.41', 'mail-sor-f41.google.com'],
    ['2001:500:2::c', 'six.example.net'],
  ] as [string, string][]
  expect([...(await names.namesOf(addresses))].sort()).toEqual(expected.sort())
  await names.namesOf(addresses)
  expect(asked).toHaveLength(4)
  later(3_600_001)
  await names.namesOf(addresses)
  expect(asked).toHaveLength(6) // those without a name again
})

test('private addresses are not looked up, and only a limited number at once', async () => {
  const { names, asked, hold } = setup()
  await names.namesOf(['10.0.0.1', '127.0.0.1', '192.168.1.1', 'fd00::1', '::1', ''])
  expect(asked).toEqual([])
  const release = hold()
  const many = Array.from({ length: 200 }, (_, at) => `8.8.${at >> 8}.${at & 255}`)
  const first = names.namesOf(many)
  const second = names.namesOf(many)
  expect(asked).toHaveLength(50)
  release()
  await Promise.all([first, second])
  expect(asked).toHaveLength(50)
})

test('addresses of a host are empty without an answer', async () => {
  const { names } = setup()
  expect([...(await names.addressesOf('own.example'))]).toEqual(['192.0.2.1'])
  expect([...(await names.addressesOf('none.example'))]).toEqual([])
})

test('a known service is found by the registrable domain of its servers only', () => {
  expect(senderOf('a8-31.smtp-out.amazonses.com')).toBe('Amazon SES')
  expect(senderOf('mail-am6eur05on2045.outbound.protection.outlook.com')).toBe('Microsoft')
  expect(senderOf('google.com.evil.test')).toBeNull()
  expect(senderOf('notgoogle.com')).toBeNull()
})

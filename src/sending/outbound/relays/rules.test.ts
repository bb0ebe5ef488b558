import { expect, test } from 'bun:test'
import { ownerKey, queueOf, senderOf } from '../../../model/delivery.ts'
import { matchRule, type RelayRule } from './rules.ts'

const ACME = 'org_acme0000'
const rule = (number: number, change: Partial<RelayRule>): RelayRule => ({
  number,
  owner: null,
  domain: null,
  stream: null,
  destination: null,
  use: 'one',
  failOver: null,
  afterMs: 0,
  ...change,
})
const numberOf = (rules: readonly RelayRule[], queue: string, destination: string | null = null) => {
  const found = matchRule(rules, queue, destination)
  return found === null || found === 'needs_destination' ? found : found.number
}

test('the first rule whose conditions all hold counts', () => {
  const rules = [
    rule(1, { owner: ownerKey(ACME), stream: 'bulk' }),
    rule(2, { domain: 'shop.example' }),
    rule(3, { destination: 'a.test' }),
    rule(4, {}),
  ]
  expect(numberOf(rules, queueOf('a.test', ACME, { stream: 'bulk' }))).toBe(1)
  expect(numberOf(rules, queueOf('a.test', 'org_other000', { stream: 'bulk' }))).toBe(3)
  expect(numberOf(rules, queueOf('b.test', ACME, { domain: 'shop.example' }))).toBe(2)
  expect(numberOf(rules, queueOf('b.test', ACME), 'b.test')).toBe(4)
  expect(numberOf(rules.slice(0, 3), queueOf('b.test', ACME), 'b.test')).toBeNull()
})

test('a destination is the domain of the recipient, or the site of its servers, which must be known then', () => {
  const rules = [rule(1, { destination: 'google.com' }), rule(2, {})]
  expect(numberOf(rules, queueOf('google.com', ACME))).toBe(1)
  expect(numberOf(rules, queueOf('shop.test', ACME))).toBe('needs_destination')
  expect(numberOf(rules, queueOf('shop.test', ACME), 'google.com')).toBe(1)
  expect(numberOf(rules, queueOf('shop.test', ACME), 'shop.test')).toBe(2)
})

test('the name of a queue holds the sending domain beside stream and pool', () => {
  for (const sender of [
    { stream: 'bulk', pool: 'warm', domain: 'shop.example' },
    { stream: 'transactional', pool: '', domain: 'shop.example' },
    { stream: 'transactional', pool: '', domain: '' },
    { stream: 'bulk', pool: 'warm', domain: '' },
  ]) {
    for (const lane of ['', ' 7']) expect(senderOf(`${queueOf('a.test', ACME, sender)}${lane}`)).toEqual(sender)
  }
})

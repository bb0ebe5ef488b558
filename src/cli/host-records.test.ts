import { expect, test } from 'bun:test'
import { hostRecords, UNKNOWN_ADDRESS } from './host-records.ts'

test('lists one record for each family of public addresses, and none in the zone of another domain', () => {
  const name = 'mail.acme.example'
  const records = (...addresses: string[]) =>
    hostRecords(name, 'acme.example', addresses).map(({ type, value }) => `${type} ${value}`)
  expect(records('10.0.0.5', '11.22.33.44', '2600::1', '11.22.33.45', '2600::2')).toEqual([
    'A 11.22.33.44',
    'AAAA 2600::1',
  ])
  expect(records('2600::1')).toEqual(['AAAA 2600::1'])
  expect(records('10.0.0.5', 'fd00::1')).toEqual([`A ${UNKNOWN_ADDRESS}`])
  expect(hostRecords(name, 'other.example', ['11.22.33.44'])).toEqual([])
  expect(hostRecords('acme.example', 'acme.example', ['11.22.33.44'])).toHaveLength(1)
})

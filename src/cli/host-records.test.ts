import { expect, test } from 'bun:test'
import { readConfig } from '../config/load.ts'
import { hostRecords, reverseDnsText, UNKNOWN_ADDRESS } from './host-records.ts'

const NAME = 'mail.acme.example'
const configOf = (text: string) => {
  const read = readConfig({ text, file: 'config.toml', env: {} })
  if ('faults' in read) throw new Error(JSON.stringify(read.faults))
  return read.config
}

test('lists one record for each family of public addresses, and none in the zone of another domain', () => {
  const config = configOf(`hostname = "${NAME}"`)
  const records = (...addresses: string[]) =>
    hostRecords(config, 'acme.example', addresses).map(({ type, value }) => `${type} ${value}`)
  expect(records('10.0.0.5', '11.22.33.44', '2600::1', '11.22.33.45', '2600::2')).toEqual([
    'A 11.22.33.44',
    'AAAA 2600::1',
  ])
  expect(records('2600::1')).toEqual(['AAAA 2600::1'])
  expect(records('10.0.0.5', 'fd00::1')).toEqual([`A ${UNKNOWN_ADDRESS}`])
  expect(hostRecords(config, 'other.example', ['11.22.33.44'])).toEqual([])
  expect(hostRecords(configOf('hostname = "acme.example"'), 'acme.example', ['11.22.33.44'])).toHaveLength(1)
  expect(reverseDnsText(config)).toEndWith(`of its IP address to ${NAME}`)
})

test('lists the names of the sending addresses in the domain, and the reverse DNS of each address', () => {
  const config = configOf(`hostname = "${NAME}"
[[sending.addresses]]
address = "11.22.33.44"
[[sending.addresses]]
address = "11.22.33.45"
hostname = "out1.acme.example"
[[sending.addresses]]
address = "2600::1"
hostname = "out.other.example"
`)
  expect(hostRecords(config, 'acme.example', ['11.22.33.44', '11.22.33.45'])).toEqual([
    { type: 'A', name: NAME, value: '11.22.33.44' },
    { type: 'A', name: 'out1.acme.example', value: '11.22.33.45' },
  ])
  expect(hostRecords(config, 'other.example', ['11.22.33.44'])).toEqual([
    { type: 'AAAA', name: 'out.other.example', value: '2600::1' },
  ])
  expect(reverseDnsText(config)).toEndWith(
    `of 11.22.33.44 to ${NAME}, 11.22.33.45 to out1.acme.example, 2600::1 to out.other.example`,
  )
})

import { expect, test } from 'bun:test'
import { makeConfig } from '../../config/load.ts'
import { fail, pass, warn } from '../health/check.ts'
import { isLocalOnly, withoutPublicFaults } from './local-only.ts'

const config = (change: object) =>
  makeConfig({ hostname: 'mail.example.com', smtp: { inbound: { listen: '127.0.0.1:2525' } }, ...change })

test('a server with listeners on loopback that may deliver to private addresses is local only', () => {
  const delivery = { allow_private_destinations: true }
  expect(isLocalOnly(config({ delivery }))).toBe(true)
  expect(isLocalOnly(config({ delivery, smtp: { inbound: { listen: '[::1]:2525' } } }))).toBe(true)
  expect(isLocalOnly(config({}))).toBe(false)
  expect(isLocalOnly(config({ delivery, smtp: { inbound: { listen: '0.0.0.0:25' } } }))).toBe(false)
  expect(isLocalOnly(config({ delivery, http: { listen: '192.0.2.1:80' } }))).toBe(false)
})

test('only faults of what a public server needs are skipped', () => {
  const results = [
    { name: 'hostname', ...fail('no address', 'Publish an A record.') },
    { name: 'dmarc', ...warn('no record', 'Publish one.') },
    { name: 'spf', ...pass('ok') },
    { name: 'store', ...fail('disk full', 'Free space.') },
  ]
  expect(withoutPublicFaults(results).map(({ name, status, advice }) => [name, status, advice])).toEqual([
    ['hostname', 'skip', null],
    ['dmarc', 'skip', null],
    ['spf', 'pass', null],
    ['store', 'fail', 'Free space.'],
  ])
})

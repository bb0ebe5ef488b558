import { expect, test } from 'bun:test'
import { destinationOfHost } from '../../../net/destination-host.ts'
import type { Lookup, MxRecord } from '../../../net/dns/resolver.ts'
import { destinationFor } from './destination.ts'

const mx = (...records: [number, string][]): Lookup<MxRecord> => ({
  kind: 'records',
  records: records.map(([preference, exchange]) => ({ preference, exchange })),
  ttlSeconds: 300,
  authentic: false,
})

test.each([
  ['gmail.com', mx([5, 'gmail-smtp-in.l.google.com'], [10, 'alt1.gmail-smtp-in.l.google.com']), 'google.com'],
  ['workspace.example', mx([1, 'aspmx.l.google.com'], [10, 'aspmx2.googlemail.com']), 'google.com'],
  ['old-workspace.example', mx([1, 'aspmx2.googlemail.com']), 'google.com'],
  ['hotmail.com', mx([2, 'hotmail-com.olc.protection.outlook.com']), 'outlook.com'],
  ['tenant.example', mx([0, 'tenant-example.mail.protection.outlook.com']), 'outlook.com'],
  ['signed.example', mx([0, 'signed-example.i-v1.mx.microsoft']), 'outlook.com'],
  ['aol.com', mx([10, 'mx-aol.mail.gm0.yahoodns.net']), 'yahoodns.net'],
  ['icloud.com', mx([10, 'mx01.mail.icloud.com'], [10, 'mx02.mail.icloud.com']), 'icloud.com'],
  ['shop.example', mx([20, 'backup.other.example'], [10, 'mail.shop.co.uk.']), 'shop.co.uk'],
  ['equal.example', mx([10, 'b.two.example'], [10, 'a.one.example']), 'one.example'],
  ['hosted.example', mx([10, 'mail.shop.github.io']), 'shop.github.io'],
  ['null.example', mx([0, '.']), 'null.example'],
  ['mail.plain.example', { kind: 'no_data' } as const, 'plain.example'],
  ['gone.example', { kind: 'nxdomain' } as const, 'gone.example'],
  ['mail.silent.example', { kind: 'temporary', reason: 'SERVFAIL' } as const, 'mail.silent.example'],
  ['[192.0.2.1]', null, '[192.0.2.1]'],
  ['[IPv6:2001:db8::1]', null, '[ipv6:2001:db8::1]'],
])('mail for %s goes to a destination of its own name', (domain, lookup, destination) => {
  expect(destinationFor(domain, lookup)).toBe(destination)
})

test('a host without a registrable domain is its own destination', () => {
  expect(['localhost', '192.0.2.1', '2001:db8::1', 'co.uk'].map(destinationOfHost)).toEqual([
    'localhost',
    '192.0.2.1',
    '2001:db8::1',
    'co.uk',
  ])
})

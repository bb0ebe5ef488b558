import { describe, expect, test } from 'bun:test'
import type { DnsRecord } from '../model/domain.ts'
import type { Resolver } from '../net/dns/resolver.ts'
import { hintFor } from './hints.ts'

/** DNS that has records only at these names, by type. */
function hintWith(
  record: Partial<DnsRecord> & { status: string; found?: readonly string[] },
  there: Partial<Record<'mx' | 'cname' | 'txt', string>> = {},
) {
  const at = (type: 'mx' | 'cname' | 'txt') => async (name: string) =>
    there[type] === name ? { kind: 'records', records: [] } : { kind: 'nxdomain' }
  const resolver = { mx: at('mx'), cname: at('cname'), txt: at('txt') } as unknown as Resolver
  const whole = { purpose: 'dkim', type: 'TXT', name: 's1._domainkey.shop.test', value: 'v=DKIM1; p=abc', found: [] }
  return hintFor({ ...whole, ...record } as Parameters<typeof hintFor>[0], {
    domain: 'shop.test',
    resolver,
  })
}

describe('advice for a record', () => {
  test('that is correct is only given for a DMARC record with another value', async () => {
    const dmarc = { purpose: 'dmarc', value: 'v=DMARC1; p=none', status: 'valid' } as const
    expect(await hintWith({ ...dmarc, found: ['v=DMARC1; p=reject'] })).toBe(
      'You already have a DMARC record. It can stay unchanged. With this value, this server also receives DMARC reports.',
    )
    expect(await hintWith({ ...dmarc, found: [dmarc.value] })).toBeNull()
    expect(await hintWith({ status: 'valid', found: ['other'] })).toBeNull()
  })

  test.each([
    ['TXT', 'txt'],
    ['MX', 'mx'],
    ['CNAME', 'cname'],
  ] as const)('of type %s that is missing says where the form has put it', async (type, key) => {
    const doubled = 's1._domainkey.shop.test.shop.test'
    expect(await hintWith({ type, status: 'missing' }, { [key]: doubled })).toBe(
      `The record is at ${doubled}: the form appends shop.test automatically. Enter s1._domainkey only.`,
    )
    expect(await hintWith({ type, status: 'missing' })).toBeNull()
    for (const other of ['txt', 'mx', 'cname'] as const)
      if (other !== key) expect(await hintWith({ type, status: 'missing' }, { [other]: doubled })).toBeNull()
  })

  test('that DNS could not answer is none', async () => {
    expect(await hintWith({ status: 'unknown' })).toBeNull()
  })

  test.each<[string, Parameters<typeof hintWith>[0], string | null]>([
    [
      'SPF without this server',
      {
        purpose: 'spf',
        status: 'mismatch',
        found: ['other', 'v=spf1 mx -all'],
        value: 'v=spf1 a:mail.sender.test ip4:192.0.2.7 ~all',
      },
      'Keep one record that includes this server: v=spf1 a:mail.sender.test ip4:192.0.2.7 mx -all',
    ],
    [
      'two DMARC records',
      { purpose: 'dmarc', status: 'mismatch', found: ['v=DMARC1; p=none', 'v=DMARC1; p=none'] },
      'Several records are all ignored. Keep only one.',
    ],
    [
      'a faulty DMARC record',
      { purpose: 'dmarc', status: 'mismatch', found: ['v=DMARC1'] },
      'Set p= to none, quarantine or reject.',
    ],
    [
      'another return path',
      { purpose: 'return_path', status: 'mismatch' },
      'Bounces go to this MX. Remove all other MX records of this name.',
    ],
    [
      'another tracking name',
      { purpose: 'tracking', status: 'mismatch' },
      'Links in messages use this name. Point it to this server.',
    ],
    ['another ownership record', { purpose: 'ownership' as DnsRecord['purpose'], status: 'mismatch' }, null],
    [
      'two DKIM keys',
      { status: 'mismatch', found: ['v=DKIM1; p=abc', 'v=DKIM1; p=def'] },
      'There is a second key at this name, and receivers may use either. Remove the other one.',
    ],
    [
      'a DKIM key in quotes',
      { status: 'mismatch', found: ['something else', '"v=DKIM1; p=abc"'] },
      'The record contains quotes or backslashes. Enter the value exactly as shown, without them.',
    ],
    [
      'a DKIM key that is cut off',
      { status: 'mismatch', found: ['v=DKIM1;  p=a'] },
      'The record is cut off after 13 of 14 characters. Split it into strings of up to 255 characters, or use another DNS provider.',
    ],
    [
      'another DKIM key',
      { status: 'mismatch', found: ['v=DKIM1; p=other'] },
      'There is a different key at this name, maybe from an earlier installation. Replace it with the one above.',
    ],
    [
      'no DKIM key',
      { status: 'mismatch', found: ['something else'] },
      'There is a different key at this name, maybe from an earlier installation. Replace it with the one above.',
    ],
  ])('for %s', async (_, record, hint) => {
    expect(await hintWith(record)).toBe(hint)
  })
})

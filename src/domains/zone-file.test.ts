import { expect, test } from 'bun:test'
import type { DnsRecord } from '../model/domain.ts'
import { zoneFile } from './zone-file.ts'

const record = (change: Partial<DnsRecord> & { found?: string[] }) => ({
  purpose: 'dkim' as const,
  type: 'TXT' as const,
  name: 's1._domainkey.acme.example',
  value: 'v=DKIM1; p=abc',
  priority: null,
  required: true,
  found: [],
  ...change,
})

test('writes every record on one line with its full name, long texts as several strings', () => {
  const key = `v=DKIM1; k=rsa; p=${'A'.repeat(392)}`
  const text = zoneFile(
    'acme.example',
    [
      record({ value: key }),
      record({
        purpose: 'return_path',
        type: 'MX',
        name: 'bounces.acme.example',
        value: 'mail.acme.example',
        priority: 10,
      }),
      record({ purpose: 'tracking', type: 'CNAME', name: 'links.acme.example', value: 'mail.acme.example' }),
      record({ purpose: 'spf', value: 'a "quoted" \\ text', name: 'bounces.acme.example' }),
    ],
    [{ type: 'A', name: 'mail.acme.example', value: '192.0.2.1' }],
  )
  expect(text.split('\n').slice(1)).toEqual([
    '; Only a name with a CNAME record has no other ones: remove its earlier records.',
    's1._domainkey.acme.example. 3600 IN TXT (',
    `    "${key.slice(0, 255)}"`,
    `    "${key.slice(255)}" )`,
    'bounces.acme.example. 3600 IN MX 10 mail.acme.example.',
    'links.acme.example. 3600 IN CNAME mail.acme.example.',
    'bounces.acme.example. 3600 IN TXT "a \\"quoted\\" \\\\ text"',
    'mail.acme.example. 3600 IN A 192.0.2.1',
    '',
  ])
})

test('writes records that redirect mail or already exist as comments', () => {
  const text = zoneFile(
    'acme.example',
    [
      record({
        purpose: 'mx',
        type: 'MX',
        name: 'acme.example',
        value: 'mail.acme.example',
        priority: 10,
        required: false,
      }),
      record({ purpose: 'dmarc', name: '_dmarc.acme.example', value: 'v=DMARC1; p=none', required: false }),
    ],
    [],
  )
  const live = text.split('\n').filter((line) => line !== '' && !line.startsWith(';'))
  expect(live).toEqual(['_dmarc.acme.example. 3600 IN TXT "v=DMARC1; p=none"'])
  const kept = zoneFile('acme.example', [record({ purpose: 'dmarc', found: ['v=DMARC1; p=reject'] })], [])
  expect(kept.split('\n').filter((line) => line !== '' && !line.startsWith(';'))).toEqual([])
})

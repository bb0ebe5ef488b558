import { expect, test } from 'bun:test'
import { dnsTable, type PublishedRecord } from './dns-table.ts'

const RECORD: PublishedRecord = {
  purpose: 'dmarc',
  type: 'TXT',
  name: '_dmarc.acme.example',
  value: 'v=DMARC1; p=none',
  priority: null,
  required: false,
  status: 'mismatch',
  found: ['v=DMARC1; \x1b[2J\x1b]0;title\x07', '\u202egnp.exe\n\u009b31m p=reject; ü'],
}

test('a DNS record cannot control the terminal', () => {
  const note = dnsTable([RECORD]).split('\n').slice(2).join('\n')
  expect(note).toBe(
    '_dmarc.acme.example has a different value: v=DMARC1; \\u001b[2J\\u001b]0;title\\u0007 | \\u202egnp.exe\\u000a\\u009b31m p=reject; ü',
  )
})

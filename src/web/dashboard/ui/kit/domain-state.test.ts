import { expect, test } from 'bun:test'
import { domainState } from './domain-state.ts'

const record = (status: string, change = {}) => ({ purpose: 'dkim', required: true, status, found: [], ...change })
const domain = (change: object) => ({
  status: 'verified',
  sends_live: true,
  proved_by: 'dkim',
  proof_missing_since: null,
  dns_records: [record('valid'), record('valid')],
  ...change,
})

test.each([
  ['Ready', 'good', '', {}],
  ['Sending', 'warn', '1 of 2 required records to fix', { dns_records: [record('valid'), record('missing')] }],
  [
    'Can’t send',
    'bad',
    '2 of 2 required records to fix',
    { sends_live: false, proved_by: 'txt', dns_records: Array(2).fill(record('mismatch', { found: ['v=DKIM9'] })) },
  ],
  [
    'Receives only',
    'calm',
    '1 of 1 required records to fix',
    { sends_live: false, proved_by: 'txt', dns_records: [record('missing')] },
  ],
  [
    'Can’t send',
    'warn',
    '1 of 1 required records to fix',
    { sends_live: false, proved_by: null, status: 'pending', dns_records: [record('pending')] },
  ],
  ['Can’t send', 'bad', 'Check DNS to verify it', { sends_live: false, proved_by: null, status: 'failed' }],
  ['Sending', 'warn', 'Proof of ownership is missing', { proof_missing_since: '2026-11-01T00:00:00Z' }],
])('a domain is %p (%s) with %p left to do', (word, tone, reason, change) => {
  expect(domainState(domain(change)) as object).toEqual({ word, tone, reason })
})

import { expect, test } from 'bun:test'
import { readTlsRpt } from '../mail/tls-report.ts'
import type { Domain, RecordPurpose } from '../model/domain.ts'
import { reportAddress } from './report-address.ts'
import { dmarcValue, requestsReports, tlsRptValue } from './report-records.ts'

const domainWith = (purpose: RecordPurpose, found: string[], name = 'acme.example'): Domain =>
  ({
    id: 'dom_01kams0000abcdefghjkmnpqrs',
    name,
    returnPathHost: `bounces.${name}`,
    findings: [{ purpose, type: 'TXT', name: `_dmarc.${name}`, status: 'valid', found }],
  }) as unknown as Domain
const ADDRESS = reportAddress(domainWith('dmarc', []))
const OURS = `mailto:${ADDRESS}`

test('the address is at the return path host, the same each time, and of the length of a local part', () => {
  expect(ADDRESS).toMatch(/^reports-[0-9a-f]{20}@bounces\.acme\.example$/)
  const other = { ...domainWith('dmarc', []), id: 'dom_01kams0000abcdefghjkmnpqrt' }
  expect(reportAddress(other)).not.toBe(ADDRESS)
})

const RECORDS: [found: string[], proposed: string][] = [
  [[], `v=DMARC1; p=none; rua=${OURS}`],
  [['v=DMARC1; p=none'], `v=DMARC1; p=none; rua=${OURS}`],
  [['v=DMARC1;p=reject;adkim=s'], `v=DMARC1; p=reject; adkim=s; rua=${OURS}`],
  [
    ['v=DMARC1; p=quarantine; rua=mailto:a@x.example,mailto:b@x.example!10m; pct=50;'],
    `v=DMARC1; p=quarantine; pct=50; rua=mailto:a@x.example,mailto:b@x.example!10m,${OURS}`,
  ],
  [
    [`v=DMARC1; p=reject; rua=mailto:a@x.example, ${OURS.toUpperCase()}!5M`],
    `v=DMARC1; p=reject; rua=mailto:a@x.example, ${OURS.toUpperCase()}!5M`,
  ],
  // What receivers ignore is not repeated.
  [['v=DMARC1; p=none', 'v=DMARC1; p=reject'], `v=DMARC1; p=none; rua=${OURS}`],
  [[`v=DMARC1; p=none; x=${'a'.repeat(900)}`], `v=DMARC1; p=none; rua=${OURS}`],
  [['v=DMARC1; p=none; x=\u0007'], `v=DMARC1; p=none; rua=${OURS}`],
]
test.each(RECORDS)('with %p in DNS, the proposed record keeps the policy and adds our address', (found, proposed) => {
  const domain = domainWith('dmarc', found)
  expect(dmarcValue(domain)).toBe(proposed)
  expect(requestsReports(proposed, domain)).toBe(true)
  expect(dmarcValue(domainWith('dmarc', [proposed]))).toBe(proposed)
})

test('a subdomain keeps the policy that its parent has for subdomains', () => {
  const value = (found: string) => dmarcValue(domainWith('dmarc', [found], 'news.acme.example'))
  expect(value('v=DMARC1; p=reject; sp=none; rua=mailto:a@x.example')).toMatch(
    /^v=DMARC1; p=none; rua=mailto:a@x\.example,mailto:reports-\w+@bounces\.news\.acme\.example$/,
  )
  expect(value('v=DMARC1; p=reject')).toMatch(/^v=DMARC1; p=reject; rua=/)
})

test('the TLS record keeps other addresses', () => {
  const value = (found: string[]) => tlsRptValue(domainWith('tls_rpt', found))
  expect(value([])).toBe(`v=TLSRPTv1; rua=${OURS}`)
  expect(value(['v=TLSRPTv1;rua=https://x.example/r'])).toBe(`v=TLSRPTv1; rua=https://x.example/r,${OURS}`)
  expect(value(['v=spf1 -all'])).toBe(`v=TLSRPTv1; rua=${OURS}`)
  expect(readTlsRpt([value(['v=TLSRPTv1;rua=https://x.example/r'])])).toEqual(['https://x.example/r', OURS])
})

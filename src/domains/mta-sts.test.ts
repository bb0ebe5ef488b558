import { expect, test } from 'bun:test'
import { ownServer } from '../../test/support/own-server.ts'
import { readMtaSts, readMtaStsId } from '../mail/mta-sts.ts'
import type { Domain, Finding } from '../model/domain.ts'
import { mtaStsPage, ownMtaSts } from './mta-sts.ts'
import { dnsRecords } from './records.ts'

const HOSTNAME = 'mail.acme.test'
const own = ownMtaSts({ hostname: HOSTNAME, publicUrl: 'https://post.acme.test', mode: 'testing' })!

const MX: Finding = { purpose: 'mx', type: 'MX', name: 'acme.test', status: 'valid', found: [`10 ${HOSTNAME}`] }
const domainWith = (...findings: Finding[]): Domain => ({
  id: 'dom_1',
  organizationId: 'org_1',
  name: 'acme.test',
  status: 'verified',
  createdAt: 0,
  verifiedAt: 0,
  lastCheckedAt: 0,
  dkim: [],
  returnPathHost: 'bounces.acme.test',
  tracking: { opens: false, clicks: false, unsubscribe: false, host: null },
  findings,
  provedBy: 'dkim',
  missingSince: null,
  reason: null,
  nextCheckAt: null,
  publishAt: null,
  publishFault: null,
})

test('publishes a policy that reads back unchanged where HTTPS reaches the server', () => {
  expect(readMtaSts(own.text)).toEqual({ mode: 'testing', mx: [HOSTNAME], maxAgeSeconds: 86_400 })
  const strict = ownMtaSts({ hostname: HOSTNAME, publicUrl: 'https://post.acme.test', mode: 'enforce' })!
  expect(readMtaSts(strict.text)).toEqual({ mode: 'enforce', mx: [HOSTNAME], maxAgeSeconds: 604_800 })
  expect(strict.policyId).not.toBe(own.policyId)
  expect(ownMtaSts({ hostname: HOSTNAME, publicUrl: 'http://post.acme.test', mode: 'enforce' })).toBeNull()
  expect(ownMtaSts({ hostname: HOSTNAME, publicUrl: 'https://post.acme.test', mode: 'off' })).toBeNull()
})

test('announces the policy with two optional records, and with none if no policy is published', () => {
  const records = dnsRecords(domainWith(), ownServer(HOSTNAME, { mtaSts: own })).filter(({ purpose }) =>
    purpose.startsWith('mta_sts'),
  )
  expect(records).toMatchObject([
    { type: 'TXT', name: '_mta-sts.acme.test', required: false },
    { type: 'CNAME', name: 'mta-sts.acme.test', value: 'post.acme.test', required: false },
  ])
  expect(readMtaStsId([records[0]!.value])).toBe(own.policyId)
  expect(dnsRecords(domainWith(), ownServer(HOSTNAME)).some(({ purpose }) => purpose.startsWith('mta_sts'))).toBe(false)
})

test.each([
  ['mta-sts.acme.test', [MX], 200],
  ['MTA-STS.acme.test:8443', [MX], 200],
  ['mta-sts.other.test', [MX], 404],
  ['acme.test', [MX], 404],
  [null, [MX], 404],
  ['mta-sts.acme.test', [], 404],
  ['mta-sts.acme.test', [{ ...MX, status: 'mismatch' as const }], 404],
  ['mta-sts.acme.test', [{ ...MX, found: [`10 ${HOSTNAME}`, '20 mx.elsewhere.test'] }], 404],
])('host %s, MX %j: %i', async (host, findings, status) => {
  const page = pageOf(domainWith(...findings))
  const answer = await page.handle(new Request('https://any/', { headers: host === null ? {} : { host } }))
  expect(answer.status).toBe(status)
  expect(answer.headers.get('content-type')).toStartWith('text/plain')
  if (status === 200) expect(await answer.text()).toBe(own.text)
})

// threat: unproved-mta-sts
test('an unverified domain has no MTA-STS host', async () => {
  const request = new Request('https://any/', { headers: { host: 'mta-sts.acme.test' } })
  for (const status of ['pending', 'failed'] as const) {
    const domain = { ...domainWith(MX), status }
    expect((await pageOf(domain).handle(request)).status).toBe(404)
    expect((await pageOf(domain, false).handle(request)).status).toBe(200)
  }
})

function pageOf(domain: Domain, requireVerified = true) {
  const findByName = async (name: string) => (name === domain.name ? domain : null)
  return mtaStsPage(own, HOSTNAME, { findByName }, requireVerified)
}

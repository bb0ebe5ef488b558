import { beforeEach, describe, expect, test } from 'bun:test'
import { gzipSync } from 'node:zlib'
import { reportAddress } from '../../src/domains/report-address.ts'
import { FIXED_LIMITS } from '../../src/model/limits.ts'
import { aggregateXml, mailWith, reportMail, type SampleReport, tlsJson } from '../support/policy-reports.ts'
import { createInboundSetup, type InboundSetup, MAIL, SESSION, START, spoken } from './setup.ts'

const DAY = 86_400_000
const ALL = { from: 0, to: START + DAY }
/** Yesterday, in seconds. */
const BEGIN = Math.floor((START - (START % DAY) - DAY) / 1000)
const OURS: SampleReport = {
  domain: 'ours.test',
  begin: BEGIN,
  rows: [
    { ip: '192.0.2.1', count: 7 },
    { ip: '198.51.100.9', count: 2, spf: 'fail', dkim: 'fail', disposition: 'reject' },
  ],
}

let setup: InboundSetup
let address: string
beforeEach(async () => {
  setup = await createInboundSetup()
  address = reportAddress(setup.domain)
})
const send = (raw: Buffer | string, to = [address]) => setup.send(to, raw.toString('latin1'))
const outcomes = () =>
  setup.reported.filter((line) => line.startsWith('policy report')).map((line) => JSON.parse(line.slice(14)))
const stored = async (domainId = setup.domain.id) => (await setup.store.policyReports.dmarc(domainId, ALL, 9)).totals

describe('a report about our domain', () => {
  test('counts, and leaves no inbound message', async () => {
    expect(await send(reportMail(OURS))).toBe('report accepted')
    const { sources, totals } = await setup.store.policyReports.dmarc(setup.domain.id, ALL, 9)
    expect(sources).toMatchObject([
      { sourceIp: '192.0.2.1', messages: 7, passed: 7, reporters: ['google.com'] },
      { sourceIp: '198.51.100.9', messages: 2, passed: 0, rejected: 2 },
    ])
    expect(totals).toMatchObject({ reports: 1, messages: 9, firstAt: BEGIN * 1000 })
    expect(outcomes()).toEqual([{ domain: setup.domain.id, kind: 'dmarc', outcome: 'stored', reporter: 'google.com' }])
    const page = { limit: 9, after: null }
    const filter = { organizationId: setup.organization.id, routeId: null, domainId: null, from: null, to: null }
    const list = await setup.store.inbound.list(
      { ...filter, status: null, createdAfter: null, createdBefore: null },
      page,
    )
    expect(list.records).toEqual([])
  })

  test('of TLS counts the sessions of our domain, also failures without a reason', async () => {
    const json = tlsJson('ours.test', { begin: BEGIN })
    await send(mailWith(gzipSync(json.replace('"total-failure-session-count":3', '"total-failure-session-count":9'))))
    expect((await setup.store.policyReports.tls(setup.domain.id, ALL, 9)).results).toMatchObject([
      { policy: 'sts', result: '', sessions: 40 },
      { result: 'unspecified', sessions: 6 },
      { result: 'certificate-expired', host: 'mx.example.com', sessions: 2 },
      { result: 'validation-failure', sessions: 1 },
    ])
  })

  test('may go to the address in any letter case', async () => {
    await send(reportMail(OURS), [address.toUpperCase().replace(/@.*/, '@bounces.ours.test')])
    expect((await stored()).reports).toBe(1)
  })

  test('that is repeated, damaged, too old or beyond the limit is accepted and changes nothing', async () => {
    for (const raw of [
      reportMail(OURS),
      reportMail({ ...OURS, rows: [{ ip: '192.0.2.99', count: 1000 }] }),
      mailWith(gzipSync(aggregateXml(OURS)).subarray(0, 200)),
      reportMail({ ...OURS, reportId: 'old', begin: BEGIN - 40 * 86_400 }),
      reportMail({ ...OURS, reportId: 'future', begin: BEGIN + 4 * 86_400 }),
      reportMail({ ...OURS, reportId: 'long', begin: BEGIN - 30 * 86_400 - 9, end: BEGIN + 3 * 86_400 }),
    ]) {
      expect(await send(raw)).toBe('report accepted')
    }
    for (let at = 0; at < FIXED_LIMITS.reportsOfReporter; at++) await send(reportMail({ ...OURS, reportId: `${at}` }))
    expect((await stored()).messages).toBe(9 * FIXED_LIMITS.reportsOfReporter)
    const kinds = ['stored', 'repeated', 'damaged', 'out_of_time', 'out_of_time', 'out_of_time']
    expect(outcomes().map(({ outcome }) => outcome)).toEqual([
      ...kinds,
      ...Array(FIXED_LIMITS.reportsOfReporter - 1).fill('stored'),
      'limit',
    ])
  })

  test('without an ID counts once for its period', async () => {
    for (const begin of [BEGIN, BEGIN, BEGIN + 60]) await send(reportMail({ ...OURS, reportId: '', begin }))
    expect((await stored()).reports).toBe(2)
  })
})

// threat: report-forged
test('a report about another domain counts for nobody, even if that domain is here too', async () => {
  const other = await setup.addDomain('theirs.test')
  await send(reportMail({ ...OURS, domain: 'theirs.test' }))
  await send(reportMail({ ...OURS, domain: 'sub.ours.test' }))
  await send(mailWith(tlsJson('theirs.test', { begin: BEGIN })))
  expect([await stored(), await stored(other.id)]).toMatchObject([{ reports: 0 }, { reports: 0 }])
  expect(outcomes().map(({ outcome }) => outcome)).toEqual(['other_domain', 'other_domain', 'other_domain'])
})

// threat: report-forged
test('a report without authentication is refused, and deferred while DNS gives no answer', async () => {
  setup.findings.verdicts = { ...setup.findings.verdicts, dmarc: 'fail' }
  expect(send(reportMail(OURS))).rejects.toThrow('550 5.7.1 message rejected: neither SPF nor DKIM')
  setup.findings.verdicts = { ...setup.findings.verdicts, dmarc: 'temperror' }
  expect(send(reportMail(OURS))).rejects.toThrow('451 4.7.0')
  expect((await stored()).reports).toBe(0)
})

test('other mail to the address is refused', async () => {
  expect(send(MAIL)).rejects.toThrow('550 5.7.1 this address accepts only DMARC aggregate reports and TLS reports')
  expect(send(mailWith('%PDF-1.7', { type: 'application/pdf', name: 'a.pdf' }))).rejects.toThrow('550 5.7.1 this')
})

test('the address of a domain exists only at its return path host, while the domain is verified', async () => {
  const claim = await setup.addDomain('claim.test', { status: 'pending' })
  const other = await setup.addDomain('theirs.test')
  const refused = [
    reportAddress(claim),
    address.replace('bounces.', ''),
    address.replace('ours.test', 'theirs.test'),
    address.replace('reports-', 'reports-0'),
    'reports@bounces.ours.test',
  ]
  for (const each of refused) {
    expect(setup.handler.onRecipient(SESSION, spoken(each), []), each).rejects.toThrow(/^550 5\.(7|1)\.1/)
  }
  const mine = await setup.handler.onRecipient(SESSION, spoken(address), [])
  for (const each of [reportAddress(other), 'abuse@bounces.ours.test']) {
    expect(setup.handler.onRecipient(SESSION, spoken(each), [mine])).rejects.toThrow('452 4.5.3')
  }
  expect(setup.handler.onRecipient(SESSION, spoken(address), [mine])).resolves.toMatchObject({ kind: 'policy_report' })
})

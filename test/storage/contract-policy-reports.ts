import { expect } from 'bun:test'
import type { ReportedSource } from '../../src/mail/aggregate-report.ts'
import { FIXED_LIMITS } from '../../src/model/limits.ts'
import { dayStart, type ReceivedReport } from '../../src/model/policy-report.ts'
import type { Store } from '../../src/storage/store.ts'
import type { Holds } from './contract.ts'
import { removeAll } from './contract-retention.ts'
import { found, ORGANIZATION, START } from './records.ts'

const DAY = 86_400_000
const TODAY = dayStart(START)

const source = (sourceIp: string, messages: number, change: Partial<ReportedSource> = {}): ReportedSource => ({
  sourceIp,
  messages,
  spfAligned: messages,
  dkimAligned: 0,
  passed: messages,
  quarantined: 0,
  rejected: 0,
  ...change,
})

export const reportOf = (
  reportId: string,
  sources: ReportedSource[],
  change: Partial<ReceivedReport> = {},
): ReceivedReport => ({
  organizationId: ORGANIZATION,
  domainId: 'dom_1',
  reporter: 'reporter.test',
  reportId,
  receivedAt: START,
  beginsAt: TODAY - DAY,
  endsAt: TODAY - 1000,
  content: { kind: 'dmarc', sources },
  ...change,
})

const tlsOf = (reportId: string, change: Partial<ReceivedReport> = {}): ReceivedReport => ({
  ...reportOf(reportId, []),
  content: {
    kind: 'tls',
    results: [
      { policy: 'sts', result: '', host: '', sessions: 40 },
      { policy: 'sts', result: 'certificate-expired', host: 'mx.example.com', sessions: 2 },
    ],
  },
  ...change,
})

const ALL = { from: 0, to: TODAY + 100 * DAY }
const NOTHING = {
  reports: 0,
  sources: 0,
  reporters: 0,
  days: 0,
  firstAt: null,
  lastAt: null,
  messages: 0,
  spfAligned: 0,
  dkimAligned: 0,
  passed: 0,
  quarantined: 0,
  rejected: 0,
}
const addAll = async (store: Store, reports: readonly ReceivedReport[]) => {
  for (const report of reports) expect(await store.policyReports.add(report)).toBe('stored')
}

export function policyReportPromises(holds: Holds): void {
  holds('sources are added up over reports, reporters and days, most messages first', async (store, _, means) => {
    expect(await store.policyReports.dmarc('dom_1', ALL, 9)).toEqual({ sources: [], totals: NOTHING })
    await addAll(store, [
      reportOf('1', [source('192.0.2.1', 5), source('2001:db8::1', 3, { passed: 0, spfAligned: 0, rejected: 3 })]),
      reportOf('1', [source('192.0.2.1', 2, { dkimAligned: 2 })], { reporter: 'another.test' }),
      reportOf('2', [source('192.0.2.1', 1, { quarantined: 1 })], { beginsAt: TODAY - 9, endsAt: TODAY + 5 }),
      reportOf('3', [source('192.0.2.1', 4)], { beginsAt: TODAY, endsAt: TODAY + DAY }),
      reportOf('1', [source('192.0.2.7', 100)], { domainId: 'dom_2' }),
    ])
    const reopened = await means.reopen()
    const both = ['another.test', 'reporter.test']
    expect(await reopened.policyReports.dmarc('dom_1', ALL, 9)).toEqual({
      sources: [
        {
          ...source('192.0.2.1', 12, { dkimAligned: 2, quarantined: 1 }),
          reporters: both,
          firstAt: TODAY - DAY,
          lastAt: TODAY + DAY,
        },
        {
          ...source('2001:db8::1', 3, { passed: 0, spfAligned: 0, rejected: 3 }),
          reporters: ['reporter.test'],
          firstAt: TODAY - DAY,
          lastAt: TODAY - 1000,
        },
      ],
      totals: {
        reports: 4,
        sources: 2,
        reporters: 2,
        days: 2,
        firstAt: TODAY - DAY,
        lastAt: TODAY + DAY,
        messages: 15,
        spfAligned: 12,
        dkimAligned: 2,
        passed: 12,
        quarantined: 1,
        rejected: 3,
      },
    })
    const ofToday = await reopened.policyReports.dmarc('dom_1', { from: TODAY, to: TODAY }, 9)
    expect(ofToday).toMatchObject({ sources: [{ messages: 4 }], totals: { messages: 4, days: 1 } })
    expect((await reopened.policyReports.dmarc('dom_1', ALL, 1)).sources).toHaveLength(1)
  })

  // threat: report-repeated
  holds('a repeated report changes nothing, whatever it contains now', async (store) => {
    await addAll(store, [reportOf('1', [source('192.0.2.1', 5)]), tlsOf('1')])
    const before = await store.policyReports.dmarc('dom_1', ALL, 9)
    expect(await store.policyReports.add(reportOf('1', [source('192.0.2.1', 900)]))).toBe('repeated')
    expect(await store.policyReports.add({ ...tlsOf('1'), receivedAt: START + DAY })).toBe('repeated')
    expect(await store.policyReports.dmarc('dom_1', ALL, 9)).toEqual(before)
    expect((await store.policyReports.tls('dom_1', ALL, 9)).results).toMatchObject([{ sessions: 40 }, { sessions: 2 }])
    const [one, other] = await Promise.all(['2', '2'].map((id) => store.policyReports.add(reportOf(id, []))))
    expect([one, other].sort()).toEqual(['repeated', 'stored'])
  })

  holds('domains with reports since a day are listed in order', async (store) => {
    await addAll(store, [
      reportOf('1', [], { domainId: 'dom_1' }),
      reportOf('2', [], { domainId: 'dom_2', receivedAt: START - 3 * DAY }),
      reportOf('3', [], { domainId: 'dom_3', receivedAt: START - 3 * DAY }),
      reportOf('4', [], { domainId: 'dom_3' }),
    ])
    const { reportedDomains } = store.policyReports
    const today = START - (START % DAY)
    expect(await reportedDomains(today, '', 9)).toEqual(['dom_1', 'dom_3'])
    expect(await reportedDomains(today - 9 * DAY, '', 9)).toEqual(['dom_1', 'dom_2', 'dom_3'])
    expect(await reportedDomains(today - 9 * DAY, 'dom_1', 1)).toEqual(['dom_2'])
    expect(await reportedDomains(today, 'dom_3', 9)).toEqual([])
  })

  // threat: report-flood
  holds('a reporter, a domain and a day have a limited number of reports and sources', async (store) => {
    const { reportsOfReporter, reportsPerDay, reportedSources } = FIXED_LIMITS
    for (let at = 0; at < reportsPerDay; at++) {
      const reporter = `r${Math.floor(at / reportsOfReporter)}.test`
      expect(await store.policyReports.add(reportOf(`${at}`, [], { reporter }))).toBe('stored')
      if (at === reportsOfReporter - 1)
        expect(await store.policyReports.add(reportOf('x', [], { reporter }))).toBe('limit')
    }
    expect(await store.policyReports.add(reportOf('x', []))).toBe('limit')
    expect(await store.policyReports.add(reportOf('x', [], { receivedAt: START + DAY }))).toBe('stored')
    expect(await store.policyReports.add(reportOf('x', [], { domainId: 'dom_2' }))).toBe('stored')

    const many = (from: number) =>
      Array.from({ length: 300 }, (_, at) => source(`10.${from}.${at >> 8}.${at & 255}`, 1 + at))
    for (let at = 0; at < 5; at++) {
      await addAll(store, [reportOf(`many ${at}`, many(at), { domainId: 'dom_3' })])
    }
    const { sources, totals } = await store.policyReports.dmarc('dom_3', ALL, 10_000)
    expect(totals).toMatchObject({ messages: (5 * 300 * 301) / 2, sources: reportedSources - 1 })
    expect(sources).toHaveLength(reportedSources - 1)
    expect(sources.every(({ sourceIp }) => sourceIp !== '')).toBe(true)
  })

  // threat: report-flood
  holds('a day has a limited number of TLS results, and all sessions count', async (store) => {
    const results = (report: number) => [
      { policy: 'sts', result: '', host: '', sessions: 10 },
      ...Array.from({ length: 99 }, (_, at) => ({
        ...{ policy: 'sts', result: 'validation-failure', host: `mx${report}.${at}.example`, sessions: 1 },
      })),
    ]
    for (let at = 0; at < 12; at++)
      await addAll(store, [tlsOf(`${at}`, { content: { kind: 'tls', results: results(at) } })])
    const found = (await store.policyReports.tls('dom_1', ALL, 10_000)).results
    expect(found.length).toBeLessThanOrEqual(FIXED_LIMITS.reportedTlsResults)
    const sum = (isSuccess: boolean) =>
      found.filter(({ result }) => (result === '') === isSuccess).reduce((all, { sessions }) => all + sessions, 0)
    expect([sum(true), sum(false)]).toEqual([12 * 10, 12 * 99])
    expect(
      found
        .filter(({ policy }) => policy === 'unspecified')
        .map(({ result }) => result)
        .sort(),
    ).toEqual(['', 'unspecified'])
  })

  holds('TLS results are added up by policy, failure and host', async (store) => {
    expect(await store.policyReports.tls('dom_1', ALL, 9)).toEqual({ results: [], reports: 0 })
    await addAll(store, [tlsOf('1'), tlsOf('2', { reporter: 'another.test', endsAt: TODAY }), reportOf('1', [])])
    const seen = { reporters: ['another.test', 'reporter.test'], firstAt: TODAY - DAY, lastAt: TODAY }
    expect(await store.policyReports.tls('dom_1', ALL, 9)).toEqual({
      results: [
        { policy: 'sts', result: '', host: '', sessions: 80, ...seen },
        { policy: 'sts', result: 'certificate-expired', host: 'mx.example.com', sessions: 4, ...seen },
      ],
      reports: 2,
    })
    expect((await store.policyReports.tls('dom_1', { from: TODAY, to: ALL.to }, 9)).results).toEqual([])
  })

  holds('reports are removed with the retention of the plan', async (store, records) => {
    await found(store, records)
    const old = Array.from({ length: 150 }, (_, at) => source(`10.0.0.${at}`, 1))
    await addAll(store, [
      reportOf('old', old, { beginsAt: TODAY - 9 * DAY, receivedAt: START - 8 * DAY }),
      tlsOf('old', { beginsAt: TODAY - 9 * DAY, receivedAt: START - 8 * DAY }),
      reportOf('young', [source('192.0.2.1', 5)]),
      tlsOf('young'),
      reportOf('old', old, { beginsAt: TODAY - 9 * DAY, domainId: 'dom_2', organizationId: 'org_other' }),
    ])
    await removeAll(store, TODAY - 2 * DAY, 30)
    expect((await store.policyReports.dmarc('dom_1', ALL, 9)).totals).toMatchObject({ messages: 5, reports: 1 })
    expect(await store.policyReports.tls('dom_1', ALL, 9)).toMatchObject({
      reports: 1,
      results: [{ sessions: 40 }, {}],
    })
    expect((await store.policyReports.dmarc('dom_2', ALL, 9)).totals.messages).toBe(150)
    expect(await store.policyReports.add(reportOf('young', []))).toBe('repeated')
  })
}

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
  reporter: 'google.com',
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
  claimed: 0,
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

/** Sends plausible reports about a domain on so many days before today, or before the `day` before it. */
async function makeKnown(
  store: Store,
  reporter: string,
  { domainId, days = 7, day = 1 }: { domainId: string; days?: number; day?: number },
) {
  for (let at = day; at < day + days; at++) {
    const receivedAt = START - at * DAY
    const period = { beginsAt: TODAY - (at + 1) * DAY, endsAt: TODAY - at * DAY - 1000 }
    await addAll(store, [
      reportOf(`known ${at}`, [source('192.0.2.1', 1)], { ...period, reporter, domainId, receivedAt }),
    ])
  }
}

export function policyReportPromises(holds: Holds): void {
  holds('sources are added up over reports, reporters and days, most messages first', async (store, _, means) => {
    expect(await store.policyReports.dmarc('dom_1', ALL, 9)).toEqual({ sources: [], totals: NOTHING, unknown: [] })
    await addAll(store, [
      reportOf('1', [source('192.0.2.1', 5), source('2001:db8::1', 3, { passed: 0, spfAligned: 0, rejected: 3 })]),
      reportOf('1', [source('192.0.2.1', 2, { dkimAligned: 2 })], { reporter: 'amazonses.com' }),
      reportOf('2', [source('192.0.2.1', 1, { quarantined: 1 })], { beginsAt: TODAY - 9, endsAt: TODAY + 5 }),
      reportOf('3', [source('192.0.2.1', 4)], { beginsAt: TODAY, endsAt: TODAY + DAY }),
      reportOf('1', [source('192.0.2.7', 100)], { domainId: 'dom_2' }),
    ])
    const reopened = await means.reopen()
    const both = ['amazonses.com', 'google.com']
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
          reporters: ['google.com'],
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
        claimed: 15,
        spfAligned: 12,
        dkimAligned: 2,
        passed: 12,
        quarantined: 1,
        rejected: 3,
      },
      unknown: [],
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
  holds('unknown reporters use up only their own part of the reports of a day, and each one a few', async (store) => {
    const { reportsOfUnknownReporter, reportsOfUnknownPerDay, reportsOfReporter, reportsPerDay } = FIXED_LIMITS
    const { add } = store.policyReports
    await makeKnown(store, 'known.test', { domainId: 'dom_1' })
    /** Sends until it is refused → the number of reports before. */
    const flood = async (reporter: string) => {
      for (let count = 0; ; count++) {
        if ((await add(reportOf(`${reporter} ${count}`, [source('192.0.2.66', 1)], { reporter }))) === 'limit')
          return count
      }
    }
    const strangers: number[] = []
    for (let at = 0; at < 25; at++) strangers.push(await flood(`stranger${at}.test`))
    expect(strangers.slice(0, 20)).toEqual(Array(20).fill(reportsOfUnknownReporter))
    expect(strangers.reduce((sum, count) => sum + count, 0)).toBe(reportsOfUnknownPerDay)
    expect(await flood('known.test')).toBe(reportsOfReporter)
    expect(await flood('google.com')).toBe(reportsOfReporter)
    for (let at = 0; at < 10; at++) await makeKnown(store, `k${at}.test`, { domainId: 'dom_1' })
    const known: number[] = []
    for (let at = 0; at < 10; at++) known.push(await flood(`k${at}.test`))
    expect(known.reduce((sum, count) => sum + count, 0)).toBe(
      reportsPerDay - reportsOfUnknownPerDay - reportsOfReporter,
    )
    expect(await flood('microsoft.com')).toBe(reportsOfReporter)
    expect(await add(reportOf('x', [], { reporter: 'new.test', receivedAt: START + DAY }))).toBe('stored')
    expect(await add(reportOf('x', [], { reporter: 'new.test', domainId: 'dom_2' }))).toBe('stored')
  })

  // threat: report-forged
  holds('unknown reporters are apart from the statistics, until plausible reports on seven days', async (store) => {
    const { add, dmarc, tls } = store.policyReports
    const lie = source('203.0.113.9', 1_000_000_000, { passed: 0, spfAligned: 0 })
    await addAll(store, [reportOf('1', [source('192.0.2.1', 5)])])
    const before = await dmarc('dom_1', ALL, 9)
    for (let day = 0; day < 10; day++) {
      await addAll(store, [reportOf(`lie ${day}`, [lie], { reporter: 'liar.test', receivedAt: START - day * DAY })])
    }
    await addAll(store, [tlsOf('lie', { reporter: 'liar.test' })])
    expect(await dmarc('dom_1', ALL, 9)).toEqual({
      ...before,
      unknown: [{ reporter: 'liar.test', reports: 10, messages: 10_000_000_000 }],
    })
    expect(await tls('dom_1', ALL, 9)).toEqual({ results: [], reports: 0 })

    await makeKnown(store, 'honest.test', { domainId: 'dom_1', days: 6 })
    expect((await dmarc('dom_1', ALL, 9)).unknown).toHaveLength(2)
    expect(await add(reportOf('today', [source('192.0.2.1', 3)], { reporter: 'honest.test' }))).toBe('stored')
    const { totals, unknown } = await dmarc('dom_1', ALL, 9)
    expect(totals).toMatchObject({ messages: 5 + 6 + 3, reporters: 2, reports: 8 })
    expect(unknown).toMatchObject([{ reporter: 'liar.test' }])
    expect((await dmarc('dom_2', ALL, 9)).totals.reports).toBe(0)
  })

  // threat: report-forged
  holds('a report with more messages than count is stored in proportion, and its claim is kept', async (store) => {
    await makeKnown(store, 'known.test', { domainId: 'dom_1', day: 8 })
    const counts = { passed: 250_000, spfAligned: 100_000, rejected: 750_000 }
    await addAll(store, [
      reportOf('1', [source('192.0.2.1', 1_000_000, counts), source('192.0.2.2', 10)], { reporter: 'known.test' }),
      reportOf('2', [source('192.0.2.3', 500)], { reporter: 'known.test' }),
      reportOf('3', [source('192.0.2.4', 1_000_000_000)]),
    ])
    const { sources, totals } = await store.policyReports.dmarc('dom_1', { from: TODAY - DAY, to: TODAY }, 9)
    expect(sources.map(({ sourceIp, messages, passed, rejected }) => [sourceIp, messages, passed, rejected])).toEqual([
      ['192.0.2.4', 10_000_000, 10_000_000, 0],
      ['192.0.2.1', 9_999, 2_499, 7_499],
    ])
    expect(totals).toMatchObject({ messages: 10_009_999, claimed: 1_001_000_510 })
  })

  // threat: report-flood
  holds('a day has a limited number of sources, of which unknown reporters get a part', async (store) => {
    const { reportedSources, reportedByUnknown } = FIXED_LIMITS
    const many = (from: number) =>
      Array.from({ length: 300 }, (_, at) => source(`10.${from}.${at >> 8}.${at & 255}`, 1 + at))
    for (let at = 0; at < 3; at++) {
      const reporter = `r${at}.test`
      await addAll(store, [reportOf(`strange ${at}`, many(100 + at), { domainId: 'dom_3', reporter })])
    }
    for (let at = 0; at < 5; at++) {
      await addAll(store, [reportOf(`many ${at}`, many(at), { domainId: 'dom_3' })])
    }
    const { sources, totals } = await store.policyReports.dmarc('dom_3', ALL, 10_000)
    expect(totals).toMatchObject({ messages: (5 * 300 * 301) / 2, sources: reportedSources - reportedByUnknown - 3 })
    expect(sources).toHaveLength(reportedSources - reportedByUnknown - 3)
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
    await addAll(store, [tlsOf('1'), tlsOf('2', { reporter: 'amazonses.com', endsAt: TODAY }), reportOf('1', [])])
    const seen = { reporters: ['amazonses.com', 'google.com'], firstAt: TODAY - DAY, lastAt: TODAY }
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

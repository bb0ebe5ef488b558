/** DMARC and TLS reports as reporters send them. The expectations were made by reading the files, which are outside the
 *  checkout. */
import { describe, expect, test } from 'bun:test'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { readPolicyReport } from '../../src/mail/policy-report.ts'
import { mailWith } from '../support/policy-reports.ts'

const CORPUS = join(import.meta.dir, '../../../shared/corpora/dmarc')
const isHere = existsSync(CORPUS)
if (!isHere) console.warn(`skipped: no reports in ${CORPUS}`)

interface Expected {
  organization: string
  reportId: string
  /** Seconds since 1970. */
  begin: number
  end: number
  domain: string
  policy?: string
  /** Records with their messages, and the aligned and rejected ones. */
  messages: number
  sources: number
  spf?: number
  dkim?: number
  rejected?: number
}

const one = { messages: 1, sources: 1 }
const ACCURATE = {
  ...one,
  organization: 'accurateplastics.com', // only in the e-mail address
  reportId: 'example.com:1538463741',
  begin: 1538413632,
  end: 1538413632,
  domain: 'example.com',
}
const GOOGLE = {
  organization: 'google.com',
  reportId: '11038226378739404135',
  begin: 1718236800,
  end: 1718323199,
  domain: 'example.com',
  messages: 3047,
  sources: 15,
  spf: 2637,
  dkim: 3046,
}

/** Part of the file name → the report. */
const DMARC: Record<string, Expected> = {
  'aggregate_!example.com!': ACCURATE,
  invalid_utf_8: ACCURATE,
  'infonacot.gob.mx': {
    ...one,
    organization: 'XYZ Corporation',
    reportId: '2940',
    begin: 1536853302,
    end: 1536939702,
    domain: 'example.com',
  },
  'aggregate_example.net!': {
    ...one,
    organization: 'example.net',
    reportId: 'b043f0e264cf4ea995e93765242f6dfb',
    begin: 1529366400,
    end: 1529452799,
    domain: 'example.com',
  },
  'fastmail.com': {
    ...one,
    organization: 'FastMail Pty Ltd',
    reportId: '102675056',
    begin: 1516060800,
    end: 1516147199,
    domain: 'indemed.com',
  },
  'ikea.com': {
    ...one,
    organization: 'ikea.com',
    reportId: 'aggr_report_2018_10_05_5bc7e9b4f3e8a',
    begin: 1538690400,
    end: 1538776800,
    domain: 'example.de',
  },
  upper_cased_pass: {
    ...one,
    organization: 'example.com',
    reportId: 'aggr_report_example.com_20191202_1638',
    begin: 1574955300,
    end: 1575304683,
    domain: 'example.com',
    policy: 'reject',
    spf: 1,
    dkim: 1,
  },
  'mimecast-weird-gzip': {
    ...one,
    organization: 'Mimecast',
    reportId: '157a5fe30ec76f4bc0d8bccfc96c118a167a1280fee7c7465af5115e73082e5e',
    begin: 1693353600,
    end: 1693439999,
    domain: 'ab.id.au',
    policy: 'reject',
    spf: 1,
    dkim: 1,
  },
  'protection.outlook.com': {
    ...one,
    organization: 'Outlook.com',
    reportId: 'cfeafefe4129445e8c81018bd9177197',
    begin: 1711756800,
    end: 1711843200,
    domain: 'example.com',
  },
  'rfc9990-example.net': {
    organization: 'example.net',
    reportId: 'dmarcbis-test-report-001',
    begin: 1700000000,
    end: 1700086399,
    domain: 'example.com',
    policy: 'reject',
    messages: 7,
    sources: 2,
    spf: 5,
    dkim: 5,
    rejected: 2,
  },
  'rfc9990-sample': {
    organization: 'Sample Reporter',
    reportId: '3v98abbp8ya9n3va8yr8oa3ya',
    begin: 302832000,
    end: 302918399,
    domain: 'example.com',
    policy: 'quarantine',
    messages: 123,
    sources: 1,
    dkim: 123,
  },
  'veeam.com': {
    ...one,
    organization: 'veeam.com',
    reportId: 'sonexushealth.com:1530233361',
    begin: 1530133200,
    end: 1530219600,
    domain: 'example.com',
  },
  'nice-input': GOOGLE,
}

describe.skipIf(!isHere)('reports of the corpus', () => {
  const files = isHere ? readdirSync(CORPUS).filter((name) => !name.startsWith('LICENSE')) : []
  const read = (name: string) => {
    const bytes = readFileSync(join(CORPUS, name))
    return readPolicyReport(name.endsWith('.eml') ? bytes : mailWith(bytes))
  }

  test('give what the files say', () => {
    const used = new Set<string>()
    const aggregates = files.filter((name) => name.includes('aggregate_') || name.includes('extract_'))
    expect(aggregates.length).toBeGreaterThan(13)
    for (const name of aggregates) {
      const [key, expected] = Object.entries(DMARC).find(([part]) => name.includes(part)) ?? []
      if (key === undefined || expected === undefined) throw new Error(`no expectation for ${name}`)
      used.add(key)
      const found = read(name)
      if (found.kind !== 'dmarc') throw new Error(`${name}: ${JSON.stringify(found)}`)
      const { sources, ...head } = found.report
      const { organization, reportId, begin, end, domain, policy = 'none' } = expected
      expect(head, name).toEqual({
        organization,
        reportId,
        beginsAt: begin * 1000,
        endsAt: end * 1000,
        domain,
        policy: policy as typeof head.policy,
      })
      const sum = (of: keyof (typeof sources)[number]) => sources.reduce((total, each) => total + Number(each[of]), 0)
      const { messages, spf = 0, dkim = 0, rejected = 0 } = expected
      expect(sources, name).toHaveLength(expected.sources)
      const sums = [sum('messages'), sum('spfAligned'), sum('dkimAligned'), sum('rejected')]
      expect(sums, name).toEqual([messages, spf, dkim, rejected])
    }
    expect([...used].sort()).toEqual(Object.keys(DMARC).sort())
  })

  test('of TLS give sessions and failures', () => {
    const tls = files.filter((name) => name.includes('smtp_tls'))
    const found = tls.map(read).flatMap((each) => (each.kind === 'tls' ? [each.report] : []))
    expect(found.map(({ organization }) => organization).sort()).toEqual(['Example Inc.', 'Google Inc.'])
    const failures = [
      { result: 'validation-failure', host: 'example.com', sessions: 2 },
      { result: 'validation-failure', host: 'example.com', sessions: 1 },
    ]
    expect(found.find(({ organization }) => organization.startsWith('E'))?.policies).toEqual([
      { domain: 'example.com', type: 'sts', successful: 0, failed: 3, failures },
    ])
    expect(found.find(({ organization }) => organization.startsWith('G'))?.policies).toEqual([
      { domain: 'cardinalhealth.ca', type: 'no-policy-found', successful: 48, failed: 0, failures: [] },
    ])
  })

  test('about single messages are no reports for this address', () => {
    const failures = files.filter((name) => name.includes('-failure_'))
    expect(failures.length).toBeGreaterThan(3)
    for (const name of failures) expect(read(name).kind, name).toBe('none')
  })
})

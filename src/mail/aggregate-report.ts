import { isIP } from 'node:net'
import { decodeCharset } from './charset.ts'
import { DamagedReport } from './unpack-report.ts'
import { readXml, XmlFault } from './xml.ts'

/** A DMARC aggregate report. Everything in it is the reporter's claim. RFC 7489 appendix C, RFC 9990 */
export interface AggregateReport {
  /** Name of the reporting organization; '' if missing. */
  organization: string
  reportId: string
  /** ms UTC */
  beginsAt: number
  endsAt: number
  /** The domain whose policy the report is about, lower case. */
  domain: string
  policy: Disposition
  /** By source, most messages first. */
  sources: ReportedSource[]
}

export type Disposition = 'none' | 'quarantine' | 'reject'

/** Messages from one address. */
export interface ReportedSource {
  /** IPv4, or IPv6 in its shortest form; '' for the sum of the sources beyond `sources`. */
  sourceIp: string
  messages: number
  /** With an aligned domain that passed. */
  spfAligned: number
  dkimAligned: number
  /** Either of them, which is what passes DMARC. */
  passed: number
  /** What the receiver did. */
  quarantined: number
  rejected: number
}

export const AGGREGATE_LIMITS = {
  /** A report with more is refused. The largest ones of real domains have some thousand. */
  records: 20_000,
  /** Kept one by one: those with the most messages. Storing more takes the store longer than 5 ms. */
  sources: 300,
  /** Per record; more counts as this many. */
  messages: 1_000_000_000,
}

/** Unpacked XML → the report. Understands RFC 7489 and RFC 9990, other namespaces, an enclosing element, values in any
 *  letter case, mixed-in text, and UTF-8 with invalid bytes. Records without a valid address are skipped; unknown
 *  elements too. Throws DamagedReport: damaged or truncated XML, no `feedback` element, no domain, no period, too many
 *  records, a DOCTYPE. */
export function readAggregateReport(xml: Uint8Array): AggregateReport {
  const reading = createReading()
  try {
    readXml(decodedXml(xml), reading)
  } catch (error) {
    if (error instanceof XmlFault) throw new DamagedReport(error.message)
    throw error
  }
  return reading.report()
}

/** A byte order mark decides, then the XML declaration; UTF-8 otherwise. */
function decodedXml(bytes: Uint8Array): string {
  const [first, second] = bytes
  if ((first === 0xff && second === 0xfe) || (first === 0xfe && second === 0xff)) {
    return decodeCharset(bytes, 'utf-16') ?? ''
  }
  const start = Buffer.from(bytes.subarray(0, 200)).toString('latin1')
  const charset = /^\s{0,20}<\?xml[^>]{0,100} encoding=["']([\w.-]{1,40})["']/.exec(start)?.[1] ?? 'utf-8'
  return decodeCharset(bytes, charset) ?? decodeCharset(bytes, 'utf-8') ?? ''
}

function createReading() {
  const path: string[] = []
  /** Texts of the report's head, and of the current record, by their path below `feedback` or `record`. */
  const head = new Map<string, string>()
  let record = new Map<string, string>()
  let isInRecord = false
  let isComplete = false
  let records = 0
  const sources = new Map<string, ReportedSource>()

  const keep = (name: string, text: string) => {
    const parent = path.at(-1) ?? ''
    if (PLACES[parent]?.includes(name) !== true) return
    const texts = isInRecord ? record : head
    const place = `${parent}/${name}`
    if (!texts.has(place)) texts.set(place, text)
  }
  return {
    open: (name: string) => {
      if (name === 'record' && path.at(-1) === 'feedback') {
        if (++records > AGGREGATE_LIMITS.records) {
          throw new DamagedReport(`the report has more than ${AGGREGATE_LIMITS.records} records`)
        }
        record = new Map()
        isInRecord = true
      }
      path.push(name)
    },
    close: (name: string, text: string) => {
      path.pop()
      keep(name, text)
      if (name === 'feedback') isComplete = true
      if (name !== 'record' || path.at(-1) !== 'feedback') return
      isInRecord = false
      addTo(sources, record)
    },
    report: (): AggregateReport => {
      if (!isComplete) throw new DamagedReport('the XML has no complete feedback element')
      return { ...headOf(head), sources: largest([...sources.values()], AGGREGATE_LIMITS.sources) }
    },
  }
}

/** Elements that count, by their parent. */
const PLACES: Partial<Record<string, readonly string[]>> = Object.assign(Object.create(null), {
  report_metadata: ['org_name', 'email', 'report_id'],
  date_range: ['begin', 'end'],
  policy_published: ['domain', 'p'],
  row: ['source_ip', 'count'],
  policy_evaluated: ['disposition', 'dkim', 'spf'],
})

function headOf(texts: ReadonlyMap<string, string>): Omit<AggregateReport, 'sources'> {
  const domain = (texts.get('policy_published/domain') ?? '').toLowerCase().replace(/\.$/, '')
  if (!/^[\w.-]{1,253}$/.test(domain)) throw new DamagedReport('the report names no domain')
  const beginsAt = timeOf(texts.get('date_range/begin'))
  const endsAt = timeOf(texts.get('date_range/end'))
  if (beginsAt === null || endsAt === null || endsAt < beginsAt)
    throw new DamagedReport('the report has no valid period')
  const email = texts.get('report_metadata/email') ?? ''
  return {
    organization: shown(texts.get('report_metadata/org_name') || email.slice(email.lastIndexOf('@') + 1)),
    reportId: shown(texts.get('report_metadata/report_id') ?? ''),
    beginsAt,
    endsAt,
    domain,
    policy: dispositionOf(texts.get('policy_published/p')),
  }
}

/** Without control characters, and short. */
export function shown(text: string): string {
  return text
    .replace(/[\p{C}\p{Zl}\p{Zp}]/gu, '')
    .slice(0, 200)
    .toWellFormed()
}

/** Seconds since 1970, fractions allowed → ms. */
function timeOf(text = ''): number | null {
  return /^\d{1,11}(?:\.\d{1,9})?$/.test(text) ? Math.floor(Number(text)) * 1000 : null
}

function dispositionOf(text = ''): Disposition {
  const said = text.toLowerCase()
  return said === 'quarantine' || said === 'reject' ? said : 'none'
}

function addTo(sources: Map<string, ReportedSource>, texts: ReadonlyMap<string, string>): void {
  const sourceIp = addressOf(texts.get('row/source_ip'))
  const count = texts.get('row/count') ?? ''
  if (sourceIp === null || !/^\d{1,15}$/.test(count)) return
  const messages = Math.min(Number(count), AGGREGATE_LIMITS.messages)
  const isPass = (name: string) => texts.get(`policy_evaluated/${name}`)?.toLowerCase() === 'pass'
  const [spf, dkim] = [isPass('spf'), isPass('dkim')]
  const disposition = dispositionOf(texts.get('policy_evaluated/disposition'))
  add(sources, {
    sourceIp,
    messages,
    spfAligned: spf ? messages : 0,
    dkimAligned: dkim ? messages : 0,
    passed: spf || dkim ? messages : 0,
    quarantined: disposition === 'quarantine' ? messages : 0,
    rejected: disposition === 'reject' ? messages : 0,
  })
}

function addressOf(text = ''): string | null {
  if (isIP(text) === 4) return text
  return isIP(text) === 6 && !text.includes('%') ? new URL(`http://[${text}]`).hostname.slice(1, -1) : null
}

function add(sources: Map<string, ReportedSource>, more: ReportedSource): void {
  const known = sources.get(more.sourceIp)
  if (known === undefined) {
    sources.set(more.sourceIp, { ...more })
    return
  }
  for (const name of COUNTS) known[name] += more[name]
}

const COUNTS = ['messages', 'spfAligned', 'dkimAligned', 'passed', 'quarantined', 'rejected'] as const

/** Sources → the `most` with the most messages, largest first, and the sum of the others without an address. */
export function largest(sources: readonly ReportedSource[], most: number): ReportedSource[] {
  const sorted = sources.toSorted((a, b) => b.messages - a.messages)
  const kept = new Map(sorted.slice(0, most).map((source) => [source.sourceIp, source]))
  for (const source of sorted.slice(most)) add(kept, { ...source, sourceIp: '' })
  return [...kept.values()]
}

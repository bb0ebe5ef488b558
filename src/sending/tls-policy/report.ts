import { gzipSync } from 'node:zlib'
import { writeMtaSts } from '../../mail/mta-sts.ts'
import type { KeptMtaSts } from '../../model/mta-sts.ts'
import type { TlsPolicy } from '../../model/tls-policy.ts'
import type { TlsCount } from '../../model/tls-session.ts'

/** The reporting organization. */
export interface Reporter {
  organization: string
  contact: string
  /** Our host name. */
  submitter: string
}

/** Counts of a domain in a UTC day and its MTA-STS policy, if any → the gzipped report with its id and file name; equal
 *  counts give the same id. RFC 8460 §4.4, §5.1 */
export function tlsReport(
  { domain, day }: { domain: string; day: number },
  counts: readonly TlsCount[],
  mtaSts: KeptMtaSts | null,
  { organization, contact, submitter }: Reporter,
): { reportId: string; fileName: string; gzipped: Buffer } {
  const endsAt = day + DAY_MS - 1000
  const reportId = `${utc(day).slice(0, 10)}.${domain}@${submitter}`
  const byType = Map.groupBy(counts, ({ policy }) => POLICY_TYPES[policy])
  const body = {
    'organization-name': organization,
    'date-range': { 'start-datetime': utc(day), 'end-datetime': utc(endsAt) },
    'contact-info': contact,
    'report-id': reportId,
    policies: [...byType].map(([type, ofType]) => ({
      policy: { 'policy-type': type, ...policyText(type, mtaSts), 'policy-domain': domain },
      summary: {
        'total-successful-session-count': sum(ofType.filter(({ failure }) => failure === null)),
        'total-failure-session-count': sum(ofType.filter(({ failure }) => failure !== null)),
      },
      'failure-details': ofType.filter(({ failure }) => failure !== null).map(failureDetail),
    })),
  }
  const fileName = `${submitter}!${domain}!${day / 1000}!${endsAt / 1000}.json.gz`
  return { reportId, fileName, gzipped: gzipSync(JSON.stringify(body)) }
}

const DAY_MS = 86_400_000

/** RFC 8460 §4.2 */
const POLICY_TYPES: Record<TlsPolicy, 'sts' | 'tlsa' | 'no-policy-found'> = {
  mta_sts: 'sts',
  mta_sts_testing: 'sts',
  dane: 'tlsa',
  none: 'no-policy-found',
  required: 'no-policy-found',
}

function policyText(type: string, kept: KeptMtaSts | null) {
  if (type !== 'sts' || kept === null) return {}
  return { 'policy-string': writeMtaSts(kept.policy).trimEnd().split('\r\n'), 'mx-host': kept.policy.mx }
}

function failureDetail({ failure, host, address, source, sessions }: TlsCount) {
  return {
    'result-type': failure,
    ...(source === null ? {} : { 'sending-mta-ip': source }),
    ...(host === null ? {} : { 'receiving-mx-hostname': host }),
    ...(address === null ? {} : { 'receiving-ip': address }),
    'failed-session-count': sessions,
  }
}

const sum = (counts: readonly TlsCount[]) => counts.reduce((total, { sessions }) => total + sessions, 0)
/** RFC 3339 without fractions. */
const utc = (ms: number) => `${new Date(ms).toISOString().slice(0, 19)}Z`

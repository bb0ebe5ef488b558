import { registrableDomain } from '../../domains/name.ts'
import { asciiDomain } from '../../mail/address.ts'
import { readHeaderFields } from '../../mail/header-fields.ts'
import { readPolicyReport } from '../../mail/policy-report.ts'
import { largeReporterOf } from '../../model/reporter.ts'
import type { Authentication } from './authenticate.ts'
import { headOf } from './head.ts'
import type { ReadingJob } from './inbound-result.ts'
import { authenticated, type ReaderContext } from './read.ts'
import type { ReportRead } from './report-read.ts'

/** Reads a mail to a report address: who sent it, and the report. Only authenticated mail is unpacked. Rejects only when
 *  memory runs out. */
export async function readReportMail(
  job: Pick<ReadingJob, 'raw' | 'envelope'>,
  context: ReaderContext,
): Promise<ReportRead> {
  context.onWork()
  const { from } = headOf(readHeaderFields(job.raw).fields)
  const found = await authenticated(job, from, context)
  const reporter = reporterOf(from, job.envelope.returnPath, found)
  context.onWork()
  return {
    reporter,
    isUndecided: reporter === null && found.verdicts.dmarc === 'temperror',
    content: reporter === null ? { kind: 'none' } : readPolicyReport(job.raw),
  }
}

/** The registrable domain of the author, or the domain of a large receiver's reports. DMARC decides; for a domain without
 *  a DMARC record, a passed SPF or DKIM domain of the same organization. */
function reporterOf(from: string, returnPath: string, { verdicts, results }: Authentication): string | null {
  const domain = asciiDomain(domainOf(from))
  if (domain === '') return null
  const author = registrableDomain(domain)
  const reporter = largeReporterOf(domain) ?? author
  if (verdicts.dmarc === 'pass') return reporter
  if (verdicts.dmarc !== 'none') return null
  const signers = results.flatMap(({ method, result, properties }) =>
    method === 'dkim' && result === 'pass' ? properties.filter(([name]) => name === 'header.d') : [],
  )
  const passed = signers.map(([, signer]) => signer.toLowerCase())
  if (verdicts.spf === 'pass') passed.push(domainOf(returnPath))
  return passed.some((name) => name !== '' && registrableDomain(name) === author) ? reporter : null
}

function domainOf(address: string): string {
  return address.slice(address.lastIndexOf('@') + 1).toLowerCase()
}

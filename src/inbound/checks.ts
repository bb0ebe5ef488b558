import { isIP } from 'node:net'
import type { ARCResult, DKIMResult, DMARCResult, DNSResolver, SPFResult } from 'mailauth'
import { arc } from 'mailauth/lib/arc'
import { evaluateDmarc } from 'mailauth/lib/dmarc'
import { spf } from 'mailauth/lib/spf'
import { formatDomain, getAlignment } from 'mailauth/lib/tools'
import { verifiedDkim } from './dkim-verification.ts'

/** mailauth's results by method. */
export interface Found {
  dkim: { results: DKIMResult[]; headerFrom: string[] }
  spf: SPFResult
  arc: ARCResult
  /** False when the author is unclear. */
  dmarc: DMARCResult | false
  /** Why DMARC was skipped. */
  dmarcSkipReason: string | undefined
}

/** Mail and client → the results of mailauth's own `authenticate` with `strict`, in the same order, without the header
 *  fields it derives. A test compares the two. */
export async function checked(
  mail: Buffer,
  by: { ip: string; helo: string; sender: string; mta: string },
  resolver: DNSResolver,
): Promise<Found> {
  const common = { resolver, strict: true, minBitLength: 1024 } // RFC 8301 §3.2
  const verifier = await verifiedDkim(mail, { ...common, sender: by.sender })
  const { results, headerFrom, fromFields } = verifier
  const spfResult = await spf({ ...by, helo: heloOf(by), resolver, strict: true })
  const arcResult = await arc(verifier.arc, { ...common, ip: by.ip })
  const passed = results.filter(({ status }) => status.result === 'pass')
  const { response, dkimAligned, reason } = await evaluateDmarc({
    headerFrom,
    fromFields,
    spfDomains: spfResult.status.result === 'pass' && spfResult.domain ? [spfResult.domain] : [],
    dkimDomains: passed.map(({ id, signingDomain, status: { aligned, underSized } }) => ({
      id,
      domain: signingDomain ?? '',
      aligned,
      underSized,
    })),
    arcResult,
    resolver,
    strict: true,
  } as Parameters<typeof evaluateDmarc>[0])
  if (response && dkimAligned) align(results, response, dkimAligned)
  return { dkim: { results, headerFrom }, spf: spfResult, arc: arcResult, dmarc: response, dmarcSkipReason: reason }
}

/** Address literals are in brackets. RFC 5321 §4.1.3 */
function heloOf({ helo, ip }: { helo: string; ip: string }): string {
  const name = helo || ip
  return isIP(name) ? `[${name}]` : name
}

/** mailauth's DKIM verifier guesses alignment: it knows neither the author's DMARC record nor the organizational
 *  domain. */
function align(results: readonly DKIMResult[], dmarc: DMARCResult, aligned: ReadonlySet<string>): void {
  const from = dmarc.status.header?.from ?? ''
  for (const { status, signingDomain = '' } of results) {
    if (status.result === 'pass') status.aligned = aligned.has(formatDomain(signingDomain)) ? signingDomain : false
    else if (dmarc.alignment?.dkim.strict) {
      const same = getAlignment(from, [signingDomain], true)
      status.aligned = (status.aligned && same !== false && same.domain) || false
    }
  }
}

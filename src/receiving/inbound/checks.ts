import { isIP } from 'node:net'
import type { ARCResult, DMARCResult, DNSResolver, SPFResult } from 'mailauth'
import { arc } from 'mailauth/lib/arc'
import { evaluateDmarc } from 'mailauth/lib/dmarc'
import { spf } from 'mailauth/lib/spf'
import { formatDomain } from 'mailauth/lib/tools'
import { bounded } from './bounded-head.ts'
import { MIN_BITS, mailFields, type SignatureResult, verifiedSignatures, type WholeMail } from './signatures.ts'

/** Results by method. */
export interface Found {
  /** In the order of the header; `isAligned`: for the author's domain. */
  dkim: (SignatureResult & { isAligned: boolean })[]
  spf: SPFResult
  arc: Pick<ARCResult, 'status' | 'i'>
  /** False when the author is unclear. */
  dmarc: DMARCResult | false
  /** Why DMARC was skipped. */
  dmarcSkipReason: string | undefined
  /** The addresses of all From fields. */
  authors: string[]
}

/** Mail and client at the time `now` (ms) → the results of mailauth with `strict`. */
export async function checked(
  mail: Buffer,
  by: { ip: string; helo: string; sender: string; mta: string },
  resolver: DNSResolver,
  now: number,
): Promise<Found> {
  const { dkim, chain, authors, fromFields } = await verifiedSignatures(wholeMail(mail), resolver, now)
  const spfResult = await spf({ ...by, helo: heloOf(by), resolver, strict: true })
  const arcResult = await arc(chain, { resolver, strict: true, minBitLength: MIN_BITS })
  const { response, dkimAligned, reason } = await evaluateDmarc({
    headerFrom: authors,
    fromFields,
    spfDomains: spfResult.status.result === 'pass' && spfResult.domain ? [spfResult.domain] : [],
    dkimDomains: dkim.filter(({ result }) => result === 'pass').map(({ domain }) => ({ domain })),
    arcResult,
    resolver,
    strict: true,
  } as Parameters<typeof evaluateDmarc>[0])
  const isAligned = (domain: string) => dkimAligned?.has(formatDomain(domain)) ?? false
  return {
    dkim: dkim.map((each) => ({ ...each, isAligned: isAligned(each.domain) })),
    spf: spfResult,
    arc: arcResult,
    dmarc: response,
    dmarcSkipReason: reason,
    authors,
  }
}

/** Mail → the results of its DKIM signatures, in the order of the header; none for a malformed header. */
export async function checkedSignatures(mail: Buffer, resolver: DNSResolver, now: number): Promise<SignatureResult[]> {
  return (await verifiedSignatures(wholeMail(bounded(mail).raw), resolver, now)).dkim
}

/** Splits a mail that `bounded` has checked. Line ends become CRLF. */
export function wholeMail(mail: Buffer): WholeMail {
  const raw = withCrLf(mail)
  const bodyAt = bodyOf(raw)
  return { fields: mailFields(raw.toString('latin1', 0, bodyAt)), body: raw.subarray(bodyAt) }
}

/** Address literals are in brackets. RFC 5321 §4.1.3 */
function heloOf({ helo, ip }: { helo: string; ip: string }): string {
  const name = helo || ip
  return isIP(name) ? `[${name}]` : name
}

const [LF, CR] = [10, 13]

/** Offset behind the first empty line; the end if there is none. */
function bodyOf(raw: Buffer): number {
  if (raw[0] === CR && raw[1] === LF) return 2
  const end = raw.indexOf('\r\n\r\n')
  return end < 0 ? raw.length : end + 4
}

/** Returns the same bytes if every LF follows a CR, as in all mail received by SMTP. */
function withCrLf(mail: Buffer): Buffer {
  for (let at = mail.indexOf(LF); at >= 0; at = mail.indexOf(LF, at + 1)) {
    if (mail[at - 1] !== CR) return Buffer.from(mail.toString('latin1').replace(/(?<!\r)\n/g, '\r\n'), 'latin1')
  }
  return mail
}

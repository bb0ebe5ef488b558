import type { AuthenticationResult } from '../../mail/authentication-results.ts'
import { rangesOf } from '../../mail/field-ranges.ts'
import type { ArcResult, DkimResult, DmarcResult, SpfResult, Verdicts } from '../../model/inbound-message.ts'
import { mailauthResolver, type Resolver } from '../../net/dns/resolver.ts'
import type { Clock } from '../../os/clock.ts'
import { authorOf, judgeUnclearAuthor, type Policy } from './author.ts'
import { bounded, type HeadFault } from './bounded-head.ts'
import { checked, type Found } from './checks.ts'

/** SPF, DKIM, DMARC and ARC results of a mail. */
export interface Authentication {
  verdicts: Verdicts
  /** The DMARC policy of the author's domain. */
  dmarcPolicy: Policy
  /** One line of ASCII; null unless DMARC says fail or permerror. */
  dmarcReason: string | null
  /** For the Authentication-Results field. */
  results: AuthenticationResult[]
}

/** The parts of a mail that authentication needs. `from`: the displayed address, empty if none. */
export interface Claim {
  raw: Uint8Array
  remoteAddress: string
  helo: string
  returnPath: string
  from: string
}

/** Mail and envelope → authentication results. RFC 7208, RFC 6376, RFC 9989, RFC 8617, in the terms of RFC 8601.
 *  DNS queries unanswered after `limitMs`, and DNS failures before, give `temperror` (for ARC, which has no temperror,
 *  `fail`). For the null return path, SPF checks the HELO name.
 *  The DKIM result is a passing signature, preferably of the author's domain; otherwise the first of temperror, policy,
 *  fail, neutral, permerror, none. Signatures that cover only part of the body never pass (`policy`): anyone may have
 *  written the rest. Only the first 20 signatures are checked. With a fault of the header (bounded-head.ts), the DKIM
 *  result is permerror and ARC fails. Rejects only on a bug. */
export async function authenticate(
  claim: Claim,
  deps: { resolver: Resolver; clock: Clock; hostname: string; limitMs: number },
): Promise<Authentication> {
  const { raw, fault } = bounded(claim.raw)
  const { lookup, end } = withDeadline(deps)
  try {
    const by = { ip: claim.remoteAddress, helo: claim.helo, sender: claim.returnPath, mta: deps.hostname }
    const found = await checked(raw, by, lookup, deps.clock.now())
    return await judged(claim, found, fault, lookup)
  } finally {
    end()
  }
}

type Lookup = (name: string, type: string) => Promise<string[][] | string[]>

const DKIM_ORDER: readonly DkimResult[] = ['pass', 'temperror', 'policy', 'fail', 'neutral', 'permerror', 'none']

/** mailauth has no time limit of its own. */
function withDeadline(deps: { resolver: Resolver; clock: Clock; limitMs: number }) {
  const ask = mailauthResolver(deps.resolver)
  const over = new AbortController()
  let isLate = false
  const late = deps.clock.sleep(deps.limitMs, over.signal).then(() => {
    if (over.signal.aborted) return [] // the deadline has passed and nothing waits for the answer
    isLate = true
    throw tooLate()
  })
  late.catch(() => {})
  const lookup = (name: string, type: string) => {
    if (isLate) return Promise.reject(tooLate())
    return Promise.race([ask(name, type), late])
  }
  return { lookup: lookup as Lookup, end: () => over.abort() }
}

const tooLate = () => Object.assign(new Error('authentication took too long'), { code: 'ETIMEOUT' })

async function judged(claim: Claim, found: Found, fault: HeadFault | null, lookup: Lookup): Promise<Authentication> {
  const spf = found.spf.status
  const isUnread = (key: string) => fault !== null && rangesOf(claim.raw, key).length > 0
  const arc = isUnread('arc-seal') ? 'fail' : (found.arc.status.result as ArcResult)
  const unread: Signature = { result: 'permerror', isAligned: false, comment: fault, properties: [] }
  const signatures = isUnread('dkim-signature') ? [unread] : found.dkim.map(signatureOf).sort(byRank)
  const dkim = signatures[0]?.result ?? 'none'
  const dmarc = await judgedDmarc(claim, found, lookup, { spf: spf.result, dkim })
  return {
    verdicts: {
      spf: spf.result as SpfResult,
      dkim,
      dmarc: dmarc.result,
      arc,
    },
    dmarcPolicy: dmarc.policy,
    dmarcReason: dmarc.reason,
    results: [
      { method: 'spf', result: spf.result, comment: null, properties: spfProperties(claim) },
      ...signatures.map(({ isAligned, ...each }) => ({ method: 'dkim' as const, ...each })),
      { method: 'dmarc', result: dmarc.result, comment: dmarc.comment, properties: [['header.from', dmarc.domain]] },
      {
        method: 'arc',
        result: arc,
        comment: found.arc.i ? `i=${found.arc.i}` : null,
        properties: arc === 'none' ? [] : [['smtp.remote-ip', claim.remoteAddress]],
      },
    ],
  }
}

interface Signature {
  result: DkimResult
  isAligned: boolean
  comment: string | null
  properties: [string, string][]
}

/** header.b distinguishes signatures of one domain. RFC 8601 §2.7.1, RFC 6008 */
function signatureOf({ result, isAligned, comment, ...found }: Found['dkim'][number]): Signature {
  return {
    result,
    isAligned,
    comment,
    properties: [
      ['header.d', found.domain],
      ['header.s', found.selector],
      ['header.a', found.algorithm],
      ['header.b', found.value.slice(0, 8)],
    ],
  }
}

function byRank(a: Signature, b: Signature): number {
  const byResult = DKIM_ORDER.indexOf(a.result) - DKIM_ORDER.indexOf(b.result)
  return byResult !== 0 ? byResult : Number(b.isAligned) - Number(a.isAligned)
}

/** Only the domain: the local part is not verified and may come from an attacker. */
function spfProperties({ returnPath, helo }: Claim): [string, string][] {
  const domain = returnPath.slice(returnPath.lastIndexOf('@') + 1)
  return [returnPath === '' ? ['smtp.helo', helo] : ['smtp.mailfrom', domain]]
}

interface DmarcJudgement {
  result: DmarcResult
  policy: Policy
  reason: string | null
  comment: string | null
  domain: string
}

async function judgedDmarc(
  claim: Claim,
  found: Found,
  lookup: Lookup,
  others: { spf: string; dkim: string },
): Promise<DmarcJudgement> {
  const author = authorOf(claim.from, found)
  if (author.isUnclear) return judgeUnclearAuthor(author, lookup)
  const policy = (author.dmarc.policy ?? 'none') as Policy
  const domain = author.domain
  const comment = author.dmarc.policy === undefined ? null : `p=${policy}`
  const result = author.dmarc.status.result as DmarcResult
  if (result !== 'fail') return { result, policy, reason: null, comment, domain }
  const reason = `DMARC policy of ${domain} is ${policy}, and neither SPF (${others.spf}) nor DKIM (${others.dkim}) authenticates the message`
  return { result, policy, reason, comment, domain }
}

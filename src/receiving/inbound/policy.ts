import { asciiDomain } from '../../mail/address.ts'
import type { RouteAuthentication } from '../../model/inbound-route.ts'
import { SCAN_LIMITS } from '../smtp-server/scan.ts'
import type { InboundResult, MailHead } from './inbound-result.ts'
import { cannotAuthenticate, loopDetected, notAuthenticated } from './replies.ts'

/** Policy checks for inbound mail. Each returns nothing or throws SmtpReply. */

/** Refuses (554 5.4.6) mail that this installation already forwarded, and mail with too many hops. */
export function requireNoLoop(head: Pick<MailHead, 'hops' | 'loop'>, loopTag: string): void {
  // Several tags when several installations forwarded it.
  if (head.loop?.split(/[\s,]+/).includes(loopTag)) throw loopDetected('this server has already forwarded this message')
  if (head.hops > SCAN_LIMITS.received) throw loopDetected(`${head.hops} hops`)
}

/** Enforces a route's `authentication`: 550 5.7.1 with the reason; 451 4.7.0 while DNS gives no answer, since a later
 *  attempt may pass. RFC 7489 §6.6.2, §10.3. */
export function requireProof(
  authentication: RouteAuthentication,
  result: Pick<InboundResult, 'verdicts' | 'dmarcPolicy' | 'dmarcReason'>,
): void {
  const { dmarc } = result.verdicts
  if (authentication === 'none' || dmarc === 'pass') return
  if (dmarc === 'temperror') throw cannotAuthenticate()
  const reason = result.dmarcReason ?? `DMARC result of the author domain is ${dmarc}`
  switch (authentication) {
    case 'require_pass':
      throw notAuthenticated(reason)
    case 'dmarc':
      if (dmarc === 'fail' && result.dmarcPolicy === 'reject') throw notAuthenticated(reason)
      return
    default:
      authentication satisfies never
  }
}

/** Refuses to forward mail that names one of our domains as author and fails that domain's DMARC policy: 550 5.7.1, and
 *  451 4.7.0 while DNS gives no answer. Our return path and signature align with such a name, so a forgery would leave
 *  here as genuine. `domain`: the domain that forwards; its parents and subdomains count as the same, as in relaxed
 *  alignment (RFC 9989 §4.10.2). Other authors are not checked. */
export function requireOwnName(domain: string, result: Pick<InboundResult, 'verdicts' | 'dmarcPolicy' | 'head'>): void {
  const { verdicts, dmarcPolicy, head } = result
  if (verdicts.dmarc === 'pass') return
  const named = namedIn(head.fromHeader)
  // Genuine mail never names this many authors; treat it as naming ours.
  const mayBeOurs = named === null || named.some((each) => areRelated(each, domain))
  if (!mayBeOurs) return
  if (verdicts.dmarc === 'temperror') throw cannotAuthenticate()
  if (dmarcPolicy === 'none') return
  throw notAuthenticated(`DMARC policy of ${domain} is ${dmarcPolicy}, and the message is not authenticated`)
}

/** Every domain in a From header, malformed ones included, once each. Null when there are too many, or one has no
 *  A-label and could be any domain. */
function namedIn(fromHeader: string): string[] | null {
  const named = new Set<string>()
  let internationalized = 0
  for (const [, name = ''] of fromHeader.matchAll(/@([^\s@<>()[\]",;:\\]+)/g)) {
    const plain = name.toLowerCase().replace(/\.$/, '')
    if (named.has(plain)) continue
    if (/[^\x00-\x7f]/.test(plain)) internationalized++
    if (named.size >= MAX_NAMED || internationalized > MAX_INTERNATIONALIZED) return null
    named.add(plain)
  }
  const ascii = [...named].map((name) => (/^[\x00-\x7f]*$/.test(name) ? name : asciiDomain(name)))
  return ascii.includes('') ? null : ascii
}

const MAX_NAMED = 1_000
/** Each takes up to 0.2 ms of the main thread. */
const MAX_INTERNATIONALIZED = 20

function areRelated(a: string, b: string): boolean {
  return a === b || a.endsWith(`.${b}`) || (a.includes('.') && b.endsWith(`.${a}`))
}

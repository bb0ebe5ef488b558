import { asciiDomain } from '../mail/address.ts'
import type { RouteAuthentication } from '../model/inbound-route.ts'
import { SCAN_LIMITS } from '../smtp-server/scan.ts'
import type { InboundResult, MailHead } from './inbound-result.ts'
import { cannotAuthenticate, loopDetected, notAuthenticated } from './replies.ts'

/** What mail must not be, and what it must prove. Each throws SmtpReply or says nothing. */

/** Refuses (554 5.4.6) mail that this installation has sent on before, and mail that has been round too often. */
export function requireNoLoop(head: Pick<MailHead, 'hops' | 'loop'>, loopTag: string): void {
  // Several tags when several installations have sent it on: each knows its own.
  if (head.loop?.split(/[\s,]+/).includes(loopTag)) throw loopDetected('we have sent this mail on before')
  if (head.hops > SCAN_LIMITS.received) throw loopDetected(`it came by ${head.hops} hosts`)
}

/** Refuses what a route's `authentication` does not let in: 550 5.7.1 with the reason; 451 4.7.0 while the DNS does not
 *  tell, since a later attempt may be let in. RFC 7489 §6.6.2, §10.3. */
export function requireProof(
  authentication: RouteAuthentication,
  result: Pick<InboundResult, 'verdicts' | 'dmarcPolicy' | 'dmarcReason'>,
): void {
  const { dmarc } = result.verdicts
  if (authentication === 'none' || dmarc === 'pass') return
  if (dmarc === 'temperror') throw cannotAuthenticate()
  const reason = result.dmarcReason ?? `DMARC of the author domain is ${dmarc}`
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

/** Refuses to send on what names a domain of ours as its author and fails the policy which that domain published: 550
 *  5.7.1, and 451 4.7.0 while the DNS does not tell. Our return path and signature are aligned with such a name, so a
 *  forgery would leave here as genuine. `domain`: in whose name it would be sent on. What is above or below it counts as
 *  the same, as for relaxed alignment (RFC 9989 §4.10.2). Other names are none of our business: we vouch for none. */
export function requireOwnName(domain: string, result: Pick<InboundResult, 'verdicts' | 'dmarcPolicy' | 'head'>): void {
  const { verdicts, dmarcPolicy, head } = result
  if (verdicts.dmarc === 'pass') return
  const named = namedIn(head.fromHeader)
  // No honest mail names so many authors; whether one of them is of ours is not looked at any more.
  const mayBeOurs = named === null || named.some((each) => areRelated(each, domain))
  if (!mayBeOurs) return
  if (verdicts.dmarc === 'temperror') throw cannotAuthenticate()
  if (dmarcPolicy === 'none') return
  throw notAuthenticated(
    `${domain} asks for ${dmarcPolicy} of what is sent in its name without proof, and we would sign it`,
  )
}

/** Every domain in a From header, of a malformed one too, once each; null when they are too many to look at, or one has no
 *  A-labels: then it may be any. */
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

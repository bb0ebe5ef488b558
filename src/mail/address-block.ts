import type { Classified } from './bounce-class.ts'
import type { Reply } from './reply.ts'

/** Whether a refusal (4yz or 5yz) and its classification mean that the server blocks the IP address we send from: it is
 *  on a blocklist, its reputation is too low, or it has no PTR record. Mail from another address may be accepted then.
 *  False for refusals because of a domain, the content, the rate or the recipient. Never throws. */
export function blocksAddress(reply: Reply, { rule }: Classified): boolean {
  if (NO_PTR.has(reply.enhanced?.slice(2) ?? '')) return true
  const text = reply.text.slice(0, LONGEST_TEXT)
  const known = BLOCKS[rule]
  return known?.test(text) === true && !ABOUT_A_DOMAIN.test(text)
}

/** RFC 7372 §3.3: 7.25 reverse DNS validation failed. */
const NO_PTR: ReadonlySet<string> = new Set(['7.25'])

const LONGEST_TEXT = 2_000

const ANY = /(?:)/
const NAMES_ADDRESS = /\bIPs?\b|\bIPv[46]\b|\b\d{1,3}(?:\.\d{1,3}){3}\b|\b(?:host|server|client|network)\b/i
const NAMES_LIST = /\bRBL\b|DNSBL|(?:block|black|deny) ?-?list/i

/** Rule of mail/bounce-class.ts → what its text must say. */
const BLOCKS: Readonly<Record<string, RegExp | undefined>> = {
  'gmail-unsolicited': NAMES_ADDRESS,
  'outlook-banned-address': /banned|\bIP\b/i,
  'outlook-block-list': ANY,
  // The codes TS and TSS are about the address, BL names a list.
  'yahoo-deferred': ANY,
  'proofpoint-reputation': ANY,
  'mimecast-reputation': ANY,
  'barracuda-reputation': ANY,
  'block-list': ANY,
  'client-blocked': NAMES_ADDRESS,
  reputation: new RegExp(`${NAMES_ADDRESS.source}|${NAMES_LIST.source}`, 'i'),
}

/** Lists of domains, and reputation of a domain. */
const ABOUT_A_DOMAIN =
  /\b(?:dbl\.spamhaus|surbl|uribl|rhsbl)\b|\b(?:sending|sender(?:'s)?|from|envelope|your) domain\b|reputation of the (?:sending )?domain/i

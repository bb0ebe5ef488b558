import { getDomain } from 'tldts'
import type { Rule } from './mail.ts'
import { FREE_MAIL_DOMAINS } from './phrases.ts'
import { isShouting } from './wording.ts'

/** Checks sender, reply addresses and the urgency headers. */
export const addresses: Rule = ({ input: { from, replyTo, headers } }, report) => {
  const { name } = from
  if (NO_REPLY.test(from.local) && replyTo.length === 0) report('from_no_reply')
  if (name === null) report('from_name_missing')
  else {
    const address = addressIn(name)
    if (address !== null && address.toLowerCase() !== `${from.local}@${from.domain}`.toLowerCase()) {
      report('from_name_address', `: ${address}`)
    } else if (isShouting(name, 8)) report('from_name_capitals')
  }

  const home = getDomain(from.domain) ?? from.domain
  const others = replyTo.filter(({ domain }) => (getDomain(domain) ?? domain) !== home)
  const free = others.find(({ domain }) => FREE_MAIL_DOMAINS.has(domain))
  if (free !== undefined) report('reply_to_free_mail', `: ${free.domain}`)
  else if (others[0] !== undefined) report('reply_to_other_domain', `: ${others[0].domain}`)

  if (headers.some(([header, value]) => isUrgent(header.toLowerCase(), value))) report('header_high_priority')
}

const NO_REPLY = /^(?:no|do[-_.]?not|never|nicht|keine?)[-_.]?(?:reply|respond|answer|antworten?)/i
/** The part after the local part. It starts at the `@`, so that no part of a long name is read twice. */
const AT_DOMAIN = /@[^\s<>@"']{1,250}\.[a-z]{2,}/gi
const NOT_LOCAL = /[\s<>@"']/

/** Display name → the first address in it; null for none. */
function addressIn(name: string): string | null {
  for (const { 0: domain, index } of name.matchAll(AT_DOMAIN)) {
    let start = index
    while (start > 0 && index - start < LONGEST_LOCAL && !NOT_LOCAL.test(name.charAt(start - 1))) start--
    if (start < index) return name.slice(start, index) + domain
  }
  return null
}

const LONGEST_LOCAL = 64 // RFC 5321 §4.5.3.1.1

function isUrgent(header: string, value: string): boolean {
  if (header === 'x-priority') return /^\s*[12]\b/.test(value)
  return (
    (header === 'importance' || header === 'x-msmail-priority' || header === 'priority') && /high|urgent/i.test(value)
  )
}

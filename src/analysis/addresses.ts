import { getDomain } from 'tldts'
import type { Rule } from './mail.ts'
import { FREE_MAIL_DOMAINS } from './phrases.ts'
import { isShouting } from './wording.ts'

/** Sender, reply addresses and what the header says of urgency. */
export const addresses: Rule = ({ input: { from, replyTo, headers } }, report) => {
  const { name } = from
  if (NO_REPLY.test(from.local) && replyTo.length === 0) report('from_no_reply')
  if (name === null) report('from_name_missing')
  else {
    const address = ADDRESS.exec(name)?.[0]
    if (address !== undefined && address.toLowerCase() !== `${from.local}@${from.domain}`.toLowerCase()) {
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
const ADDRESS = /[^\s<>@"']{1,64}@[^\s<>@"']{1,250}\.[a-z]{2,}/i

function isUrgent(header: string, value: string): boolean {
  if (header === 'x-priority') return /^\s*[12]\b/.test(value)
  return (
    (header === 'importance' || header === 'x-msmail-priority' || header === 'priority') && /high|urgent/i.test(value)
  )
}

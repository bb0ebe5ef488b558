import { parse } from 'tldts'
import { toALabel } from '../mail/address.ts'

/** Domain name as entered → its stored form (lower-case A-label), or what to enter instead if it cannot be a
 *  sending domain. Refused: invalid names, IP addresses, single labels, and public suffixes (`com`, `co.uk`). Subdomains are
 *  allowed. Never throws. */
export function checkDomainName(text: string): { name: string } | { fault: string } {
  const name = toALabel(text.trim().replace(/\.$/, ''))
  if (name === null) return { fault: 'Enter a domain such as mail.example.com' }
  if (parse(name).domain === null) return { fault: 'Enter a registrable domain, not a public suffix' }
  return { name }
}

/** Name → its registrable domain, such as `example.co.uk` of `mail.example.co.uk`. Returns the name itself if there is
 *  none. */
export function registrableDomain(name: string): string {
  return parse(name).domain ?? name
}

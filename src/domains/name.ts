import { parse } from 'tldts'
import { toALabel } from '../mail/address.ts'

/** Domain name as a person writes it → the name to store (lower-case A-label), or why it cannot be a sending domain,
 *  as a predicate. Refused: what is no domain name, addresses of machines, one label, and names under which the public
 *  registers (`com`, `co.uk`). Subdomains are fine. Never throws. */
export function checkDomainName(text: string): { name: string } | { fault: string } {
  const name = toALabel(text.trim().replace(/\.$/, ''))
  if (name === null) return { fault: 'must be a domain name such as example.com' }
  if (parse(name).domain === null) return { fault: 'must be a domain that one can register, not a public suffix' }
  return { name }
}

/** Name → the one that was registered: `mail.example.co.uk` → `example.co.uk`.
 *  Itself where there is none. */
export function registrableDomain(name: string): string {
  return parse(name).domain ?? name
}

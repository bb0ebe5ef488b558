import { isIpLiteral, isPublicUnicast } from './ip.ts'

/** Whether a URL is safe to use: https, or http to this machine or a private IP address. Plain HTTP to other hosts can
 *  be intercepted. A hostname may resolve to any address, so localhost is the only one allowed (RFC 6761 §6.3). */
export function isNear(url: URL): boolean {
  if (url.protocol === 'https:') return true
  const host = url.hostname.replace(/^\[|\]$/g, '')
  if (url.protocol !== 'http:') return false
  return host === 'localhost' || host.endsWith('.localhost') || (isIpLiteral(host) && !isPublicUnicast(host))
}

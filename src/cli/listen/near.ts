import { isIpLiteral, isPublicUnicast } from '../../net/ip.ts'

/** Whether a URL stays near: https, or http to this machine or to an address of a private network. What is said to others
 *  in clear can be read on the way. A name may lead anywhere, so of names only localhost counts (RFC 6761 §6.3). */
export function isNear(url: URL): boolean {
  if (url.protocol === 'https:') return true
  const host = url.hostname.replace(/^\[|\]$/g, '')
  if (url.protocol !== 'http:') return false
  return host === 'localhost' || host.endsWith('.localhost') || (isIpLiteral(host) && !isPublicUnicast(host))
}

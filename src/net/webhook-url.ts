import { isIP } from 'node:net'

/** The target of a POST: where to connect, which name the certificate needs, and what the request line contains. */
export interface PostTarget {
  /** Host name as an A-label without trailing dot, or an address without brackets. */
  host: string
  port: number
  /** As in the URL, with the port unless it is 443. */
  hostHeader: string
  /** Path and query. */
  path: string
  /** Addresses known without DNS: the address itself, or those of localhost. Null for other names. */
  addresses: string[] | null
}

/** Parses a URL into its target, or returns the reason why Postrider does not post there. IPv4 in decimal, octal or
 *  hexadecimal is treated as an address (WHATWG URL). Never throws. */
export function parsePostTarget(text: string): PostTarget | { refused: string } {
  if (text.length > MAX_URL_LENGTH) return { refused: `the URL is longer than ${MAX_URL_LENGTH} characters` }
  if (/[\s\x00-\x1f\x7f\\]/.test(text)) return { refused: 'the URL contains spaces, control characters or backslashes' }
  if (!URL.canParse(text)) return { refused: 'the URL is not valid' }
  const url = new URL(text)
  if (url.protocol !== 'https:' || !/^https:\/\/[^/]/i.test(text))
    return { refused: 'the URL must start with https://' }
  if (url.username || url.password) return { refused: 'the URL must not contain a user name or password' }
  const port = Number(url.port || 443)
  if (REFUSED_PORTS.has(port)) return { refused: `the port ${port} belongs to another protocol` }
  const host = url.hostname.replace(/^\[|\]$/g, '').replace(/\.$/, '')
  if (host === '') return { refused: 'the URL has no host' }
  return { host, port, hostHeader: url.host, path: url.pathname + url.search, addresses: knownAddresses(host) }
}

/** Returns null if the URL may be stored, else the reason. Makes no DNS query: the addresses of a name are checked at every
 *  delivery. A fragment is accepted. */
export function checkWebhookUrl(url: string, mayConnect: (ip: string) => boolean): string | null {
  const target = parsePostTarget(url)
  if ('refused' in target) return target.refused
  if (target.addresses === null || target.addresses.some(mayConnect)) return null
  return `the host ${target.host} is not a public address`
}

const MAX_URL_LENGTH = 2048

/** Ports of services that would read a TLS handshake as commands, or where no webhooks are served: ssh, telnet, mail, dns,
 *  ldap, databases and caches. */
export const REFUSED_PORTS: ReadonlySet<number> = new Set([
  0, 21, 22, 23, 25, 53, 110, 111, 119, 139, 143, 389, 445, 465, 587, 636, 993, 995, 1433, 1521, 2525, 3306, 5432, 6379,
  11211, 27017,
])

function knownAddresses(host: string): string[] | null {
  if (isIP(host)) return [host]
  return host === 'localhost' || host.endsWith('.localhost') ? ['127.0.0.1', '::1'] : null // RFC 6761 §6.3
}

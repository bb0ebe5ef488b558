/** Parsers for the notations of config values; `undefined` for invalid text. Pure, without network access. */
import { isIP, isIPv6 } from 'node:net'
import { domainToASCII } from 'node:url'

/** An address to listen on or connect to; an IPv6 host has no brackets. */
export interface Endpoint {
  readonly host: string
  readonly port: number
}

/** The relay for all outgoing mail. `implicitTls`: implicit TLS (RFC 8314 §3.3), else STARTTLS. */
export interface Smarthost {
  readonly host: string
  readonly port: number
  readonly implicitTls: boolean
  readonly user: string | null
  readonly password: string | null
}

/** `ip:port`, `[v6]:port` or `localhost:port` → Endpoint; null for `off`. Port 0 lets the system choose. */
export function parseListen(text: string): Endpoint | null | undefined {
  if (text === 'off') return null
  return parseIpPort(text.replace(/^localhost:/, '127.0.0.1:'))
}

/** `ip:port` or `[v6]:port` → Endpoint. */
export function parseIpPort(text: string): Endpoint | undefined {
  const [, v6, v4, digits] = /^(?:\[([^\]]+)\]|([^:]+)):(\d{1,5})$/.exec(text) ?? []
  const host = v6 ?? v4
  if (host === undefined || isIP(host) !== (v6 ? 6 : 4) || Number(digits) > 65535) return undefined
  return { host: host.toLowerCase(), port: Number(digits) }
}

/** An IP address without zone → its shortest form, the same for every notation of the address. */
export function parseAddress(text: string): string | undefined {
  if (isIP(text) === 4) return text
  return isIPv6(text) ? URL.parse(`http://[${text}]`)?.hostname.slice(1, -1) : undefined
}

/** Endpoint → `host:port`, IPv6 in brackets; the opposite of parseIpPort. */
export function formatEndpoint({ host, port }: Endpoint): string {
  return isIPv6(host) ? `[${host}]:${port}` : `${host}:${port}`
}

/** Parses `ip/prefix` and returns it in lower case. Host bits are ignored. */
export function parseCidr(text: string): string | undefined {
  const [, ip = '', prefix] = /^([^/]+)\/(\d{1,3})$/.exec(text) ?? []
  const family = isIP(ip)
  if (family === 0 || Number(prefix) > (family === 4 ? 32 : 128)) return undefined
  return text.toLowerCase()
}

/** Parses a hostname of at least two labels; returns its A-label form, lower case, without a trailing dot. Rejects IP
 *  addresses. */
export function parseHostName(text: string): string | undefined {
  const name = parseShortHostName(text)
  return name?.includes('.') ? name : undefined
}

/** The same, but a single label is valid, as in a closed network. */
export function parseShortHostName(text: string): string | undefined {
  const name = domainToASCII(text.replace(/\.$/, ''))
  const labels = name.split('.')
  if (name.length > 253 || /^\d*$/.test(labels.at(-1) ?? '')) return undefined
  return labels.every((label) => LABEL.test(label)) ? name : undefined
}

/** `2026-11-24` → the same, if the calendar has that date. */
export function parseDate(text: string): string | undefined {
  if (!/^\d{4}-\d{2}-\d{2}$/.test(text)) return undefined
  const at = Date.parse(text)
  return Number.isNaN(at) || new Date(at).toISOString().slice(0, 10) !== text ? undefined : text
}

/** `http(s)://host[:port]` → the origin, without a final slash. */
export function parseOrigin(text: string): string | undefined {
  const url = URL.parse(text)
  if (!url || !['http:', 'https:'].includes(url.protocol) || url.username || url.password) return undefined
  return url.pathname === '/' && !/[?#]/.test(text) ? url.origin : undefined
}

/** `smtp://` or `smtps://`, `[user:password@]host[:port]` → Smarthost; null for '', which means each domain's MX. User
 *  and password are percent-encoded. Without a port: 587, or 465 for smtps (RFC 8314 §3.3). */
export function parseSmarthost(text: string): Smarthost | null | undefined {
  if (text === '') return null
  const url = URL.parse(text)
  if (!url || !['smtp:', 'smtps:'].includes(url.protocol)) return undefined
  if (!['', '/'].includes(url.pathname) || /[?#]/.test(text) || url.port === '0') return undefined
  const host = url.hostname.replace(/^\[|\]$/g, '').toLowerCase()
  const user = percentDecoded(url.username)
  const password = percentDecoded(url.password)
  if (!isHost(host) || user === undefined || password === undefined) return undefined
  if ((user === '') !== (password === '')) return undefined
  const implicitTls = url.protocol === 'smtps:'
  const port = url.port === '' ? (implicitTls ? 465 : 587) : Number(url.port)
  return { host, port, implicitTls, user: user || null, password: password || null }
}

/** `s3://bucket` or `s3://bucket/prefix` → its parts; '' becomes null. A prefix ends with a slash. */
export function parseBucketUrl(text: string): { bucket: string; prefix: string } | null | undefined {
  if (text === '') return null
  const [, bucket, path = ''] = /^s3:\/\/([a-z0-9][a-z0-9.-]{1,61}[a-z0-9])(?:\/([\w./-]{0,200}))?$/.exec(text) ?? []
  if (bucket === undefined) return undefined
  return { bucket, prefix: path === '' || path.endsWith('/') ? path : `${path}/` }
}

/** RFC 1123 §2.1: letters, digits and inner hyphens, at most 63. */
const LABEL = /^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/

/** A hostname, `localhost` or an IP address; returns its A-label form in lower case. */
export function parseRelayHost(text: string): string | undefined {
  return isIP(text) !== 0 || text === 'localhost' ? text.toLowerCase() : parseHostName(text)
}

const isHost = (host: string) => isIP(host) !== 0 || host === 'localhost' || parseHostName(host) !== undefined

function percentDecoded(text: string): string | undefined {
  try {
    return decodeURIComponent(text)
  } catch {
    return undefined
  }
}

/** `30m`, `12h` or `7d`, or a number of seconds with `s`, at most ten years → milliseconds; null for ''. */
export function parseOptionalSpan(text: string): number | null | undefined {
  if (text === '') return null
  const [, digits = '', unit = ''] = /^(\d{1,9})([smhd])$/.exec(text) ?? []
  const ms = Number(digits || Number.NaN) * (SPAN_UNITS_MS[unit] ?? Number.NaN)
  return ms <= 3_650 * 86_400_000 ? ms : undefined
}

const SPAN_UNITS_MS: Readonly<Record<string, number>> = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 }

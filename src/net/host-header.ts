import { isIP } from 'node:net'

/** Syntax of the `Host` header, and whether it names this server. */

/** Whether to refuse a request with 400: several Host headers (Bun joins them with commas), or anything but a host with an
 *  optional port. Accepts a missing header (HTTP/1.0) and an empty one (a request without a host). RFC 9112 §3.2. */
export function isBadHost(header: string | null): boolean {
  if (header === null || header === '' || header === lastGood) return false
  if (hostNameOf(header) === null) return true
  lastGood = header
  return false
}

/** Nearly every request has the same. */
let lastGood = ''

/** Host header → its name or address, such as `mail.example.com` of `Mail.Example.com.:8025`, and `::1` of `[::1]:80`.
 *  Null for anything that is not a host. RFC 3986 §3.2.2, without percent-encoding and without characters that DNS names
 *  do not contain. */
export function hostNameOf(header: string): string | null {
  const match = header.length <= MOST_CHARACTERS ? HOST.exec(header) : null
  if (match === null) return null
  const [, v6, name = '', port = '0'] = match
  if (Number(port) > 65_535 || (v6 !== undefined && isIP(v6) !== 6)) return null
  return v6 ?? name.replace(/\.$/, '').toLowerCase()
}

/** Creates a check whether a Host header names this server. Loopback names and IP addresses always pass: a page under a
 *  foreign name that resolves to us (DNS rebinding) sends that name, not an address. A missing header passes too, since
 *  browsers always send one. */
export function createKnownHosts(names: () => readonly string[]): (header: string | null) => boolean {
  return (header) => {
    if (header === null || header === '') return true
    const host = hostNameOf(header)
    if (host === null) return false
    return isIP(host) !== 0 || host === 'localhost' || names().some((name) => name.toLowerCase() === host)
  }
}

const HOST = /^(?:\[([0-9a-f:.]{2,45})\]|([a-z0-9_](?:[a-z0-9._-]*[a-z0-9_])?\.?))(?::(\d{0,5}))?$/i
const MOST_CHARACTERS = 300

import { Buffer } from 'node:buffer'

/** Content of a request. */
export interface RequestParts {
  method: 'POST' | 'GET'
  /** Path and query, as in a URL: ASCII without spaces. */
  path: string
  /** With the port unless it is the default one. */
  hostHeader: string
  /** Names in any case. Host, Content-Length, Accept-Encoding and connection headers are set by us. */
  headers: Readonly<Record<string, string>>
  userAgent: string
  /** Null for none. */
  body: Uint8Array | null
  keepsAlive: boolean
}

/** Returns the head as bytes, including the empty line. Throws a TypeError for headers that HTTP does not allow,
 *  which is a bug of ours. RFC 9112 §3 */
export function requestHead(parts: RequestParts): Buffer {
  const { method, path, hostHeader, body } = parts
  const own = { 'user-agent': parts.userAgent, accept: '*/*' }
  const lines = [`${method} ${path} HTTP/1.1`, `Host: ${hostHeader}`]
  const given = Object.entries(parts.headers).filter(([name]) => !OURS.has(name.toLowerCase()))
  const names = new Set(given.map(([name]) => name.toLowerCase()))
  for (const [name, value] of Object.entries(own)) if (!names.has(name)) lines.push(`${name}: ${value}`)
  for (const [name, value] of given) lines.push(`${name}: ${value}`)
  lines.push('Accept-Encoding: identity', `Connection: ${parts.keepsAlive ? 'keep-alive' : 'close'}`)
  if (body !== null) lines.push(`Content-Length: ${body.byteLength}`)
  for (const [name] of given) if (!TOKEN.test(name)) throw new TypeError('invalid header name')
  if (lines.some((line) => !LINE.test(line))) throw new TypeError('invalid header value')
  return Buffer.from(`${lines.join('\r\n')}\r\n\r\n`, 'latin1')
}

/** Headers that we always set ourselves. */
const OURS = new Set(['host', 'content-length', 'accept-encoding', 'connection', 'transfer-encoding', 'expect'])
const TOKEN = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/
const LINE = /^[\t\x20-\x7e\x80-\xff]*$/

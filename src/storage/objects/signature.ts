import { createHash, createHmac } from 'node:crypto'
import type { ObjectPlace } from './objects.ts'

/** Query parameters of a request, in any order. */
export type Query = Readonly<Record<string, string>>

/** Service, bucket, key ('' = the bucket itself) and query → the URL. Throws for a key with a segment `.` or `..`, which no
 *  URL can carry: it would name another object. */
export function objectUrl({ endpoint, region, bucket }: Place, key: string, query: Query): URL {
  const service = endpoint === '' ? `https://s3.${regionOf({ endpoint, region })}.amazonaws.com` : endpoint
  const path = `/${[bucket, ...(key === '' ? [] : key.split('/'))].map(encoded).join('/')}`
  const pairs = Object.entries(query).map(([name, value]) => `${encoded(name)}=${encoded(value)}`)
  const url = new URL(`${service}${path}${pairs.length === 0 ? '' : `?${pairs.toSorted().join('&')}`}`)
  if (url.pathname !== path) throw new Error(`object storage has no key ${key}`)
  return url
}

/** Headers that authorize a request to a URL of objectUrl at a time (ms UTC). They do not cover the body, which TLS
 *  protects: to hash it would take longer than to send it. AWS Signature Version 4, "Authenticating Requests
 *  (Authorization Header)" */
export function signedHeaders(place: Place, method: string, url: URL, at: number): Record<string, string> {
  const { accessKeyId, secretAccessKey } = place
  const time = new Date(at).toISOString().replace(/[-:]|\.\d+/g, '')
  const scope = `${time.slice(0, 8)}/${regionOf(place)}/s3/aws4_request`
  const own = { host: url.host, 'x-amz-content-sha256': UNSIGNED, 'x-amz-date': time }
  const names = Object.keys(own).join(';')
  const lines = Object.entries(own).map(([name, value]) => `${name}:${value}\n`)
  const request = [method, url.pathname, url.search.slice(1), lines.join(''), names, UNSIGNED].join('\n')
  const text = ['AWS4-HMAC-SHA256', time, scope, createHash('sha256').update(request).digest('hex')].join('\n')
  const key = scope.split('/').reduce<string | Buffer>(hmac, `AWS4${secretAccessKey}`)
  const signature = hmac(key, text).toString('hex')
  return {
    'x-amz-content-sha256': UNSIGNED,
    'x-amz-date': time,
    authorization: `AWS4-HMAC-SHA256 Credential=${accessKeyId}/${scope}, SignedHeaders=${names}, Signature=${signature}`,
  }
}

type Place = Omit<ObjectPlace, 'prefix'>

/** The region that is configured, or that the name of the service contains. Services without regions accept `auto`. */
function regionOf({ endpoint, region }: Pick<Place, 'endpoint' | 'region'>): string {
  if (region !== '') return region
  if (endpoint === '') return 'us-east-1'
  return /\/\/s3\.([a-z0-9-]{1,40})\.amazonaws\.com/.exec(endpoint)?.[1] ?? 'auto'
}

const UNSIGNED = 'UNSIGNED-PAYLOAD'
const hmac = (key: string | Buffer, text: string): Buffer => createHmac('sha256', key).update(text).digest()

/** Percent-encodes all but the unreserved characters of RFC 3986 §2.3. */
function encoded(text: string): string {
  return encodeURIComponent(text).replace(/[!'()*]/g, (found) => `%${found.charCodeAt(0).toString(16).toUpperCase()}`)
}

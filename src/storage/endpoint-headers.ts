import { type EndpointHeaders, headerNamesOf, originOf } from '../model/endpoint-headers.ts'
import type { Encryption } from './encryption.ts'

/** Columns of the headers of a webhook or a route; both are null without headers. */
export interface HeaderColumns {
  headerNames: string | null
  headers: Uint8Array | null
}

/** The names, as the record shows them. */
export function toHeaderNames(column: string | null): string[] {
  return column === null ? [] : JSON.parse(column)
}

/** Headers for an endpoint at a URL → their columns. The encrypted text contains the origin. */
export function encryptHeaders(
  headers: EndpointHeaders,
  { url, place, encryption }: { url: string; place: string; encryption: Encryption },
): HeaderColumns {
  if (headers.length === 0) return NO_HEADERS
  const text = JSON.stringify({ origin: originOf(url), headers } satisfies Kept)
  return { headerNames: JSON.stringify(headerNamesOf(headers)), headers: encryption.encrypt(text, place) }
}

/** Columns of the headers after a change of a webhook or a route; null: they stay as they are. `present` is its URL before
 *  the change; null if it had none. Headers that are not given again end with a change of the origin. */
export function changedHeaders(
  given: EndpointHeaders | undefined,
  present: string | null,
  after: { url: string; place: string; encryption: Encryption },
): HeaderColumns | null {
  if (given !== undefined) return encryptHeaders(given, after)
  return present !== null && originOf(present) === originOf(after.url) ? null : NO_HEADERS
}

/** Column → the headers for a request to this URL; none if they were given for another origin, whoever changed the URL.
 *  Throws EncryptionKeyUnusable if they were encrypted with another key. */
export function decryptHeaders(
  column: Uint8Array | null | undefined,
  { url, place, encryption }: { url: string; place: string; encryption: Encryption },
): EndpointHeaders {
  if (column === null || column === undefined) return []
  const kept: Kept = JSON.parse(encryption.decrypt(column, place).toString())
  return kept.origin === originOf(url) ? kept.headers : []
}

export const NO_HEADERS: HeaderColumns = { headerNames: null, headers: null }

interface Kept {
  origin: string
  headers: EndpointHeaders
}

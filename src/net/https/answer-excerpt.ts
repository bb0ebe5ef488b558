/** Longest stored part of a response body, in bytes. */
export const EXCERPT_BYTES = 4096

/** Body bytes → text that is safe to store and display: the first 4 KiB as UTF-8 (invalid bytes become U+FFFD, a
 *  truncated last character is removed), line ends and tabs as spaces, without other control and text-direction
 *  characters. Empty for a compressed body, which we did not request. */
export function excerptOf(bytes: Uint8Array, contentEncoding?: string): string {
  if (contentEncoding && contentEncoding.trim().toLowerCase() !== 'identity') return ''
  const text = new TextDecoder().decode(bytes.subarray(0, EXCERPT_BYTES), { stream: true })
  return text
    .replace(/[\t\r\n]+/g, ' ')
    .replace(UNSEEN, '')
    .trim()
}

const UNSEEN = /[\u0000-\u001f\u007f-\u009f\u200e\u200f\u2028-\u202e\u2066-\u2069]/g

/** Location header and the requested URL → where the redirect leads, in ASCII, at most 500 characters. It has no user,
 *  query or fragment, since gateways put tokens there; `?…` stands for a query. Null without a header, and for one that is
 *  no http(s) URL or over 2,048 characters. Never throws. RFC 9110 §10.2.2 */
export function redirectTarget(value: string | undefined, requested: string): string | null {
  if (value === undefined || value === '' || value.length > LONGEST_LOCATION) return null
  const url = URL.parse(value, requested)
  if (url === null || !/^https?:$/.test(url.protocol)) return null
  return `${url.origin}${url.pathname}`.slice(0, SHOWN_LOCATION) + (url.search === '' ? '' : '?…')
}

const LONGEST_LOCATION = 2_048
const SHOWN_LOCATION = 500

/** Retry-After as seconds or as an HTTP date → whole seconds from `now` (ms UTC), 0 for a date that has passed.
 *  Null without the header or with anything else. RFC 9110 §10.2.3 */
export function retryAfterSeconds(value: string | undefined, now: number): number | null {
  const text = value?.trim() ?? ''
  if (/^\d{1,9}$/.test(text)) return Number(text)
  if (!HTTP_DATE.test(text)) return null
  const at = Date.parse(text)
  return Number.isNaN(at) ? null : Math.max(0, Math.ceil((at - now) / 1000))
}

/** IMF-fixdate; the two obsolete forms do not occur in a new header. RFC 9110 §5.6.7 */
const HTTP_DATE = /^[A-Z][a-z]{2}, \d{2} [A-Z][a-z]{2} \d{4} \d{2}:\d{2}:\d{2} GMT$/

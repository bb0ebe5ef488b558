/** A target of clicks that the operator has blocked because it was abused. */
export interface BlockedLink {
  id: string
  /** `host`: the host and everything below it, at any port. `url`: the URL and everything that begins with it. */
  kind: 'host' | 'url'
  /** As targetOf writes it: `evil.example`, `evil.example/path`. */
  value: string
  reason: string
  createdAt: number
}

/** How many there may be: each click is compared with them. */
export const MOST_BLOCKED_LINKS = 1_000

/** Text of a host name or an http(s) URL → what to block; null for anything else. Scheme, user, default port and fragment
 *  do not matter, nor letter case and IDNA form of the host. `https://` in front makes it a URL, whatever follows: without
 *  a path it is the whole host with its port. Never throws. */
export function blockedTarget(given: string): Pick<BlockedLink, 'kind' | 'value'> | null {
  const text = given.trim()
  const isUrl = /^https?:\/\//i.test(text)
  const place = placeOf(isUrl ? text : `http://${text}`)
  if (place === null) return null
  if (isUrl) return { kind: 'url', value: place.host + (place.path === '/' ? '' : place.path) }
  return place.path === '/' && place.host === place.name && !/[/?#@]/.test(text)
    ? { kind: 'host', value: place.name }
    : null
}

/** Whether a link (http or https) leads to a blocked target. Never throws. */
export function isBlockedBy(url: string, { kind, value }: Pick<BlockedLink, 'kind' | 'value'>): boolean {
  const place = placeOf(url)
  if (place === null) return false
  if (kind === 'host') return place.name === value || place.name.endsWith(`.${value}`)
  const whole = place.host + place.path
  return whole === value || (whole.startsWith(value) && (value.endsWith('/') || '/?'.includes(whole[value.length]!)))
}

function placeOf(text: string): { name: string; host: string; path: string } | null {
  const url = URL.parse(text)
  if (url === null || !/^https?:$/.test(url.protocol) || url.hostname === '') return null
  const name = url.hostname.replace(/\.$/, '')
  return { name, host: url.port === '' ? name : `${name}:${url.port}`, path: url.pathname + url.search }
}

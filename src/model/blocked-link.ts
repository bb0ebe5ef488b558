/** A click target that the operator has blocked because of abuse. */
export interface BlockedLink {
  id: string
  /** `host`: the host and its subdomains, on any port. `url`: the URL and every URL that begins with it. */
  kind: 'host' | 'url'
  /** Normalized by targetOf: `evil.example`, `evil.example/path`. */
  value: string
  reason: string
  createdAt: number
}

/** Limit of blocked links. Each click is compared with all of them. */
export const MOST_BLOCKED_LINKS = 1_000

/** Host name or http(s) URL → the target to block; null for any other text. Scheme, user, default port, fragment,
 *  letter case and the IDNA form of the host are ignored. Text that begins with `https://` is always a URL: without
 *  a path it means the host at that port. Never throws. */
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

/** True if an http(s) link leads to a blocked target. Never throws. */
export function isBlockedBy(url: string, { kind, value }: Pick<BlockedLink, 'kind' | 'value'>): boolean {
  const place = placeOf(url)
  if (place === null) return false
  if (kind === 'host') return place.name === value || place.name.endsWith(`.${value}`)
  const whole = place.host + place.path
  return (
    whole === value || (whole.startsWith(value) && (value.endsWith('/') || '/?'.includes(whole.charAt(value.length))))
  )
}

function placeOf(text: string): { name: string; host: string; path: string } | null {
  const url = URL.parse(text)
  if (url === null || !/^https?:$/.test(url.protocol) || url.hostname === '') return null
  const name = url.hostname.replace(/\.$/, '')
  return { name, host: url.port === '' ? name : `${name}:${url.port}`, path: url.pathname + url.search }
}

import { createHmac, timingSafeEqual } from 'node:crypto'

/** The meaning of a public link in a mail. */
export type TrackingLink =
  | { kind: 'open' | 'unsubscribe'; deliveryId: string }
  /** `url` as the author wrote it, entities decoded. */
  | { kind: 'click'; deliveryId: string; url: string }

/** Where a link is valid. */
export interface LinkScope {
  /** The link's host, in lower case. */
  host: string
  /** Owner of that host; '' for the server's own. A click redirects only while this organization owns the host: a later
   *  owner has nothing to do with the targets. Pixels and unsubscriptions redirect nowhere, so the host is enough for
   *  them. */
  organizationId: string
}

/** Public links ⇄ their meaning. Paths start with `/t/` and contain only letters, digits and `-_./`, so they are valid
 *  in a header and in an attribute with or without quotes. */
export interface TrackingLinks {
  /** `/t/o/<token>.gif` */
  open(deliveryId: string): string
  /** `/t/c/<token>/<url in base64url>`: contains its target, so it never expires and needs no lookup. Throws unless
   *  `isTrackable`. */
  click(deliveryId: string, url: string): string
  /** `/t/u/<token>` */
  unsubscribe(deliveryId: string): string
  /** Request path → its meaning; null unless it was made here, character by character. */
  read(path: string): TrackingLink | null
}

/** Secret and scope → the links of that scope. A token is the 26 characters of the delivery id and 22 of a tag: 128
 *  bits of HMAC-SHA256 over kind, delivery, target and scope. So no one else can make one, turn a pixel into an
 *  unsubscription, redirect a click elsewhere, or use it under another name. Scope null: links made before scopes
 *  existed, read-only. Making throws on an invalid delivery id; reading never throws and compares in constant time. */
export function createTrackingLinks(secret: Uint8Array, scope: LinkScope | null): TrackingLinks {
  const tokenOf = (kind: Letter, body: string, url: string) => {
    const hmac = createHmac('sha256', secret)
    if (scope === null) hmac.update(`track ${kind} ${body} ${url}`)
    // No part before the URL can contain a blank; the URL is the rest.
    else hmac.update(`track2 ${kind} ${body} ${scope.host} ${kind === 'c' ? scope.organizationId : ''} ${url}`)
    const tag = hmac.digest()
    return body + tag.toString('base64url', 0, TAG_BYTES)
  }
  const make = (kind: Letter, deliveryId: string, url = '') => {
    if (scope === null) throw new Error('a tracking link requires a host')
    const body = DELIVERY_ID.exec(deliveryId)?.[1]
    if (body === undefined) throw new Error(`invalid delivery ID: ${JSON.stringify(deliveryId.slice(0, 40))}`)
    return `/t/${kind}/${tokenOf(kind, body, url)}`
  }
  const isGenuine = (kind: Letter, token: string, url: string) =>
    timingSafeEqual(Buffer.from(token), Buffer.from(tokenOf(kind, token.slice(0, ID_CHARS), url)))

  return {
    open: (deliveryId) => `${make('o', deliveryId)}.gif`,
    click: (deliveryId, url) => {
      if (!isTrackable(url)) throw new Error('only http and https links can be tracked')
      return `${make('c', deliveryId, url)}/${Buffer.from(url).toString('base64url')}`
    },
    unsubscribe: (deliveryId) => make('u', deliveryId),
    read(path) {
      const [, kind, token, target] = PATH.exec(path) ?? []
      if (!isLetter(kind) || token === undefined || SHAPE[kind] !== shapeOf(target)) return null
      const url = kind === 'c' ? targetOf(target ?? '') : ''
      if (url === null || !isGenuine(kind, token, url)) return null
      const deliveryId = `dlv_${token.slice(0, ID_CHARS)}`
      if (kind === 'c') return { kind: 'click', deliveryId, url }
      return { kind: kind === 'o' ? 'open' : 'unsubscribe', deliveryId }
    },
  }
}

/** Whether clicks on the link can be counted: http or https with a host, at most 4,000 characters. Never throws. */
export function isTrackable(url: string): boolean {
  return url.length <= MAX_URL && /^https?:\/\//i.test(url) && url.isWellFormed() && URL.canParse(url)
}

/** Proxies accept request lines of 8 KiB; base64 adds a third. */
const MAX_URL = 4_000
const ID_CHARS = 26
const TAG_BYTES = 16
const DELIVERY_ID = /^dlv_([0-9a-hjkmnp-tv-z]{26})$/
const PATH = /^\/t\/([ocu])\/([0-9a-hjkmnp-tv-z]{26}[\w-]{22})(\.gif|\/[\w-]{1,22000})?$/

type Letter = 'o' | 'c' | 'u'
const isLetter = (kind: string | undefined): kind is Letter => kind === 'o' || kind === 'c' || kind === 'u'
const SHAPE = { o: 'gif', c: 'target', u: 'none' } as const

function shapeOf(target: string | undefined) {
  return target === undefined ? 'none' : target === '.gif' ? 'gif' : 'target'
}

/** The URL in a click link; null unless `click` would write it in exactly this way, so that each URL has one link. */
function targetOf(target: string): string | null {
  const encoded = target.slice(1)
  const url = Buffer.from(encoded, 'base64url').toString()
  return isTrackable(url) && Buffer.from(url).toString('base64url') === encoded ? url : null
}

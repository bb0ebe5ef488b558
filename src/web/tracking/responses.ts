import { createHash } from 'node:crypto'

/** Responses of the public links. Values from messages are escaped; the pages store, load and run nothing. */

/** One transparent pixel, GIF89a. */
export function pixel(): Response {
  return new Response(POINT, { headers: { ...PRIVATE, 'content-type': 'image/gif' } })
}

/** Redirects to the link of the message. A URL with characters not allowed in a header is serialized as a browser would. */
export function redirect(url: string): Response {
  const location = /^[\x21-\x7e]+$/.test(url) ? url : new URL(url).href
  return new Response(null, { status: 302, headers: { ...PRIVATE, location } })
}

/** `sender` is the message's From. The button posts to the URL of the page. */
export function askPage(sender: string): Response {
  return page(
    200,
    'Unsubscribe',
    `<p>Unsubscribe from email sent by <b>${escaped(sender)}</b>?</p><form method="post"><button name="confirm" value="yes">Unsubscribe</button></form>`,
  )
}

/** After the button, and for one-click unsubscribe requests. */
export function donePage(): Response {
  return page(200, 'Unsubscribed', '<p>You will not receive further email from this sender.</p>')
}

/** Asks whether the organization may forward mail for `matched` to `email`. */
export function forwardAskPage({
  organization,
  matched,
  email,
}: Record<'organization' | 'matched' | 'email', string>): Response {
  return page(
    200,
    'Confirm forwarding',
    `<p>The organization <b>${escaped(organization)}</b> asks: forward mail for <b>${escaped(matched)}</b> to <b>${escaped(email)}</b>?</p><form method="post"><button name="confirm" value="yes">Confirm</button></form><p>If you did not expect this request, close this page. Nothing will be forwarded.</p>`,
  )
}

/** After that button. `stop`: path of the link that ends the forwarding. */
export function forwardConfirmedPage(matched: string, email: string, stop: string): Response {
  return page(
    200,
    'Forwarding confirmed',
    `<p>Mail for <b>${escaped(matched)}</b> is now forwarded to <b>${escaped(email)}</b>.</p><p><a href="${escaped(stop)}">Stop forwarding</a></p>`,
  )
}

export function forwardStopPage(email: string): Response {
  return page(
    200,
    'Stop forwarding',
    `<p>Stop forwarding mail to <b>${escaped(email)}</b>? You will not be asked to confirm again.</p><form method="post"><button name="confirm" value="yes">Stop forwarding</button></form>`,
  )
}

export function forwardStoppedPage(email: string): Response {
  return page(200, 'Forwarding stopped', `<p>Mail is no longer forwarded to <b>${escaped(email)}</b>.</p>`)
}

/** The same page for forged and expired links, so it reveals nothing. */
export function unknownPage(): Response {
  return page(404, 'Link not found', '<p>This link is incomplete or has expired.</p>')
}

/** For a click on a target that the operator has blocked. */
export function blockedPage(): Response {
  return page(
    410,
    'Link blocked',
    '<p>The operator of this mail server has blocked this link because it was abused.</p>',
  )
}

/** For a body larger than that of an unsubscribe request. */
export function tooLargePage(): Response {
  return page(413, 'Request too large', '<p>The request body is too large.</p>')
}

const POINT = Buffer.from('R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAICRAEAOw==', 'base64')

/** Responses are personal: no cache, no index, no Referer. */
const PRIVATE = {
  'cache-control': 'no-store, no-cache, must-revalidate, private, max-age=0',
  pragma: 'no-cache',
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
  'x-robots-tag': 'noindex, nofollow',
}

const STYLE =
  'body{font:1.1em/1.5 system-ui,sans-serif;max-width:32em;margin:4em auto;padding:0 1em;overflow-wrap:anywhere}' +
  'button{font:inherit;padding:.5em 1.2em}@media(prefers-color-scheme:dark){body{background:#111;color:#eee}}'
const STYLE_HASH = createHash('sha256').update(STYLE).digest('base64')
const POLICY = `default-src 'none'; style-src 'sha256-${STYLE_HASH}'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'`

function page(status: number, title: string, body: string): Response {
  const html =
    `<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">` +
    `<title>${title}</title><style>${STYLE}</style></head><body><h1>${title}</h1>${body}</body></html>\n`
  const headers = {
    ...PRIVATE,
    'content-type': 'text/html; charset=utf-8',
    'content-security-policy': POLICY,
    'x-frame-options': 'DENY',
  }
  return new Response(html, { status, headers })
}

function escaped(text: string): string {
  return text.replace(/[&<>"']/g, (sign) => `&#${sign.charCodeAt(0)};`)
}

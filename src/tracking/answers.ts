import { createHash } from 'node:crypto'

/** What the public links answer. Everything that comes from a mail is escaped; nothing is remembered, loaded or run. */

/** The smallest picture there is: one transparent point. GIF89a. */
export function pixel(): Response {
  return new Response(POINT, { headers: { ...PRIVATE, 'content-type': 'image/gif' } })
}

/** Where the author's link leads. A link that cannot stand in a header as it is, is written as a browser would. */
export function redirect(url: string): Response {
  const location = /^[\x21-\x7e]+$/.test(url) ? url : new URL(url).href
  return new Response(null, { status: 302, headers: { ...PRIVATE, location } })
}

/** `sender` as the mail's From. The button posts to the page's own address. */
export function askPage(sender: string): Response {
  return page(
    200,
    'Unsubscribe',
    `<p>Stop mail from <b>${escaped(sender)}</b>?</p><form method="post"><button name="confirm" value="yes">Unsubscribe</button></form>`,
  )
}

/** Behind the button, and for a program that has unsubscribed. */
export function donePage(): Response {
  return page(200, 'Unsubscribed', '<p>You will get no more mail from this sender.</p>')
}

/** Whether what is addressed to `matched` may be sent on to `email`. */
export function forwardAskPage(matched: string, email: string): Response {
  return page(
    200,
    'Confirm forwarding',
    `<p>Forward mail for <b>${escaped(matched)}</b> to <b>${escaped(email)}</b>?</p><form method="post"><button name="confirm" value="yes">Confirm</button></form><p>If you did not expect this, close the page. Nothing is forwarded.</p>`,
  )
}

/** Behind that button. `stop`: path of the link that ends it. */
export function forwardConfirmedPage(matched: string, email: string, stop: string): Response {
  return page(
    200,
    'Forwarding confirmed',
    `<p>Mail for <b>${escaped(matched)}</b> is forwarded to <b>${escaped(email)}</b>.</p><p><a href="${escaped(stop)}">Stop forwarding</a></p>`,
  )
}

export function forwardStopPage(email: string): Response {
  return page(
    200,
    'Stop forwarding',
    `<p>Stop forwarding mail to <b>${escaped(email)}</b>? You are not asked again.</p><form method="post"><button name="confirm" value="yes">Stop forwarding</button></form>`,
  )
}

export function forwardStoppedPage(email: string): Response {
  return page(200, 'Forwarding stopped', `<p>No more mail is forwarded to <b>${escaped(email)}</b>.</p>`)
}

/** For a link that nobody made as well as for one that nobody knows any more: it tells nothing. */
export function unknownPage(): Response {
  return page(404, 'Not found', '<p>This link leads nowhere. It may be too old, or not complete.</p>')
}

/** For a click whose target the operator has blocked. */
export function blockedPage(): Response {
  return page(
    410,
    'Link blocked',
    '<p>The operator of this mail server has blocked this link because it was abused.</p>',
  )
}

/** For a body that no form of ours sends. */
export function tooLargePage(): Response {
  return page(413, 'Too large', '<p>This was more than an unsubscription needs.</p>')
}

const POINT = Buffer.from('R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAICRAEAOw==', 'base64')

/** An answer is one reader's, and where he comes from is nobody's business. */
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

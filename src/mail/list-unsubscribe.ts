import type { Verp } from './verp.ts'

/** Ways to stop getting such mail, best first → the header field that offers them, CRLF ended, not folded (a URI must not
 *  be, and mail clients do not agree on the rest). They are URIs as they stand. Never throws. RFC 2369 §2, §3.2. */
export function listUnsubscribe(uris: readonly [string, ...string[]]): string {
  return `List-Unsubscribe: ${uris.map((uri) => `<${uri}>`).join(', ')}\r\n`
}

/** A delivery, the host of its return path and the link to its own page → the header fields by which its recipient can
 *  stop mail of that sender. One click is offered for https links alone, as RFC 8058 §3.1 wants it; an http link is a
 *  page to look at. Throws on anything that is no delivery id. */
export function unsubscribeFields(
  deliveryId: string,
  returnPathHost: string,
  verp: Pick<Verp, 'encode'>,
  link: string,
): string {
  const address = `${verp.encode(deliveryId, 'unsubscribe')}@${returnPathHost}`
  const fields = listUnsubscribe([link, `mailto:${address}?subject=${UNSUBSCRIBE_SUBJECT}`])
  return link.startsWith('https://') ? `${fields}List-Unsubscribe-Post: ${ONE_CLICK}\r\n` : fields
}

/** What the mail of somebody who wants to stop has as its subject: programs write it for him. */
export const UNSUBSCRIBE_SUBJECT = 'unsubscribe'

/** What the header announces is what a program then posts. RFC 8058 §3.1, §3.2 */
const ONE_CLICK = 'List-Unsubscribe=One-Click'

import type { Verp } from './verp.ts'

/** Unsubscribe URIs, best first → the header field, ending in CRLF, not folded (a URI must not be, and clients disagree
 *  on the rest). URIs are written unchanged. Never throws. RFC 2369 §2, §3.2 */
export function listUnsubscribe(uris: readonly [string, ...string[]]): string {
  return `List-Unsubscribe: ${uris.map((uri) => `<${uri}>`).join(', ')}\r\n`
}

/** A delivery, its return path host and the link to its page → the header fields for unsubscribing from the sender.
 *  Offers one-click for https links only (RFC 8058 §3.1); an http link opens a page. Throws on an invalid delivery
 *  id. */
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

/** Subject of unsubscribe mails; programs fill it in. */
export const UNSUBSCRIBE_SUBJECT = 'unsubscribe'

/** The body that programs post, as the header announces. RFC 8058 §3.1, §3.2 */
const ONE_CLICK = 'List-Unsubscribe=One-Click'

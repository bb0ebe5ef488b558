import type { Verp } from './verp.ts'

/** Ways to stop getting such mail, best first → the header field that offers them, CRLF ended, not folded (a URI must not
 *  be, and mail clients do not agree on the rest). They are URIs as they stand. Never throws. RFC 2369 §2, §3.2. */
export function listUnsubscribe(uris: readonly [string, ...string[]]): string {
  return `List-Unsubscribe: ${uris.map((uri) => `<${uri}>`).join(', ')}\r\n`
}

/** A delivery and the host of its return path → the header fields by which its recipient can stop mail of that sender:
 *  an address that is this delivery's own. Throws on anything that is no delivery id. */
export function unsubscribeFields(deliveryId: string, returnPathHost: string, verp: Pick<Verp, 'encode'>): string {
  const address = `${verp.encode(deliveryId, 'unsubscribe')}@${returnPathHost}`
  return listUnsubscribe([`mailto:${address}?subject=${UNSUBSCRIBE_SUBJECT}`])
}

/** What the mail of somebody who wants to stop has as its subject: programs write it for him. */
export const UNSUBSCRIBE_SUBJECT = 'unsubscribe'

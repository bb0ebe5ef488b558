/** What records count as in `stored_bytes`, the limit of a plan. Content at its size, and a fixed number for the rows around
 *  it, so that many small messages are not free. */

/** What a recipient occupies beside the content of its message: the rows of its delivery, an attempt and an event with
 *  their indexes (measured: 3.1 kB with a short subject, of which the event repeats metadata and subject). */
export const RECIPIENT_BYTES = 2048
/** Records of mail that came in, beside its content. */
export const INBOUND_BYTES = 2048

/** A message with so many recipients → what it counts as. Metadata as JSON. */
export function messageStoredBytes(sizeBytes: number, recipients: number, metadata: string, subject: string): number {
  return sizeBytes + recipients * (RECIPIENT_BYTES + Buffer.byteLength(metadata) + Buffer.byteLength(subject))
}

/** An inbound message → the same. Its readable form is kept beside the raw one. */
export function inboundStoredBytes(sizeBytes: number): number {
  return 2 * sizeBytes + INBOUND_BYTES
}

/** The texts of a version of a template → the same. */
export function templateStoredBytes(texts: {
  subject: string | null
  html: string | null
  text: string | null
}): number {
  const { subject, html, text } = texts
  return Buffer.byteLength(subject ?? '') + Buffer.byteLength(html ?? '') + Buffer.byteLength(text ?? '')
}

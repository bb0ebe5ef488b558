/** What records count towards `stored_bytes`, the limit of a plan: the size of the content, and a fixed number for
 *  the rows with it, so that many small messages count too. */

/** Bytes that a recipient occupies besides the content: the rows of its delivery, an attempt and an event with their
 *  indexes (measured: 3.1 kB with a short subject, of which the event repeats metadata and subject). */
const RECIPIENT_BYTES = 2048
/** Bytes of a further event about a recipient, besides metadata and subject: its row with indexes, and a delivery. */
const EVENT_BYTES = 1024
/** Bytes of records for an inbound mail besides its content. */
export const INBOUND_BYTES = 2048

/** Message with its number of recipients → the bytes it counts. Metadata counts as JSON. `events`: about each recipient
 *  that are counted, at least one. */
export function messageStoredBytes(
  sizeBytes: number,
  recipients: number,
  metadata: string,
  subject: string,
  events = 1,
): number {
  const repeated = Buffer.byteLength(metadata) + Buffer.byteLength(subject)
  return sizeBytes + recipients * (RECIPIENT_BYTES + (events - 1) * EVENT_BYTES + events * repeated)
}

/** Inbound message → the bytes it counts. Its parsed form is stored beside the raw mail. */
export function inboundStoredBytes(sizeBytes: number): number {
  return 2 * sizeBytes + INBOUND_BYTES
}

/** Texts of a template version, and the JSON of its other fields → the bytes they count. */
export function templateStoredBytes(
  { subject, html, text }: { subject: string | null; html: string | null; text: string | null },
  extra: string | null = null,
): number {
  return [subject, html, text, extra].reduce((sum, each) => sum + Buffer.byteLength(each ?? ''), 0)
}

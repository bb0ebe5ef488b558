import type { ApiResponse } from '../operation.ts'

/** Record ID and raw message (RFC 5322) → response that downloads it as `ID.eml`. */
export function rawAnswer(id: string, body: Uint8Array): ApiResponse {
  const headers = { 'content-disposition': `attachment; filename="${id}.eml"`, ...PRIVATE }
  return { status: 200, body, contentType: 'message/rfc822', headers }
}

/** Headers for message content: no MIME sniffing, no referrer, no caching. */
export const PRIVATE = {
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'cache-control': 'private, no-store',
}

/** Raw received mail and the position of an attachment, from 1 → its bytes, read in a confined reader; null if there is
 *  none. */
export type AttachmentOf = (raw: Uint8Array, place: number) => Promise<Uint8Array | null>

/** The position in a path, from 1; 0 for everything else. */
export function placeOf(parameter: string | undefined): number {
  return /^[1-9]\d{0,3}$/.test(parameter ?? '') ? Number(parameter) : 0
}

/** Bytes of an attachment → response that downloads them as unknown bytes, whatever the sender calls them. Without
 *  `filename`, the client chooses the name. */
export function attachmentAnswer(body: Uint8Array, filename: string | null): ApiResponse {
  const headers = { 'content-disposition': downloadAs(filename), ...PRIVATE }
  return { status: 200, body, contentType: 'application/octet-stream', headers }
}

/** Content-Disposition with the name in ASCII for old clients, and in UTF-8. Nothing of the name ends the value or the
 *  line. RFC 6266 §4.3, RFC 8187 §3.2 */
function downloadAs(filename: string | null): string {
  if (filename === null) return 'attachment'
  const ascii = filename.replace(/[^\w .-]/g, '_')
  const utf8 = encodeURIComponent(filename.toWellFormed()).replace(
    /['()*]/g,
    (each) => `%${each.charCodeAt(0).toString(16).toUpperCase()}`,
  )
  return `attachment; filename="${ascii}"; filename*=UTF-8''${utf8}`
}

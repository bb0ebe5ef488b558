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

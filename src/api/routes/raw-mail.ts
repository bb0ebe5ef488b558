import type { ApiResponse } from '../operation.ts'

/** Raw message → download response, with the record's ID as file name. */
export function rawAnswer(id: string, body: Uint8Array): ApiResponse {
  const headers = { 'content-disposition': `attachment; filename="${id}.eml"`, ...PRIVATE }
  return { status: 200, body, contentType: 'message/rfc822', headers }
}

/** Headers for message content: no MIME sniffing, no caching. */
export const PRIVATE = {
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'cache-control': 'private, no-store',
}

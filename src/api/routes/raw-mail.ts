import type { ApiResponse } from '../operation.ts'

/** Bytes of a mail → the answer that hands it out as a file, named by the record's id. */
export function rawAnswer(id: string, body: Uint8Array): ApiResponse {
  const headers = { 'content-disposition': `attachment; filename="${id}.eml"`, ...PRIVATE }
  return { status: 200, body, contentType: 'message/rfc822', headers }
}

/** Headers under which the content of a mail is given out: guessed at by no browser, kept by no cache. */
export const PRIVATE = {
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'cache-control': 'private, no-store',
}

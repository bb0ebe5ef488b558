import type { ApiResponse } from './operation.ts'

/** A response as it is sent. */
export interface Rendered {
  status: number
  body: string | Uint8Array<ArrayBuffer>
  contentType: string
  headers: Record<string, string> | undefined
}

/** Response → bytes or text to send. A string or Uint8Array with its own `contentType` is sent unchanged; everything
 *  else becomes JSON. The result is deterministic, so a replay is byte-identical. */
export function render(answer: ApiResponse): Rendered {
  const { status, body, headers, contentType } = answer
  if (typeof body === 'string' || body instanceof Uint8Array) {
    return { status, body: body as string | Uint8Array<ArrayBuffer>, contentType: contentType ?? JSON_TYPE, headers }
  }
  return { status, body: JSON.stringify(body) ?? '', contentType: contentType ?? JSON_TYPE, headers }
}

/** Response of DELETE. */
export function deleted(id: string): ApiResponse {
  return { status: 200, body: { id, deleted: true } }
}

/** Headers of every response that depends on the caller: not cacheable, and no MIME sniffing. */
export const PERSONAL = {
  'cache-control': 'private, no-store',
  'x-content-type-options': 'nosniff',
  vary: 'Authorization, Cookie',
}

export const JSON_TYPE = 'application/json; charset=utf-8'

import type { ApiResponse } from './operation.ts'

/** An answer as it goes over the wire. */
export interface Rendered {
  status: number
  body: string | Uint8Array<ArrayBuffer>
  contentType: string
  headers: Record<string, string> | undefined
}

/** Answer → bytes or text to send. With a `contentType` of its own a string or Uint8Array goes as it is; everything
 *  else becomes JSON. Same answer, same text: a remembered one is repeated byte for byte. */
export function render(answer: ApiResponse): Rendered {
  const { status, body, headers, contentType } = answer
  if (typeof body === 'string' || body instanceof Uint8Array) {
    return { status, body: body as string | Uint8Array<ArrayBuffer>, contentType: contentType ?? JSON_TYPE, headers }
  }
  return { status, body: JSON.stringify(body) ?? '', contentType: contentType ?? JSON_TYPE, headers }
}

/** What DELETE answers (contract §1). */
export function deleted(id: string): ApiResponse {
  return { status: 200, body: { id, deleted: true } }
}

/** Headers of every answer that depends on who asks: no cache keeps it, and no browser takes it for another type. */
export const PERSONAL = {
  'cache-control': 'private, no-store',
  'x-content-type-options': 'nosniff',
  vary: 'Authorization, Cookie',
}

export const JSON_TYPE = 'application/json; charset=utf-8'

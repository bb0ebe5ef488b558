import type { ApiResponse } from './operation.ts'

/** A response whose body is ready to send. */
export interface Rendered {
  status: number
  body: string | Uint8Array<ArrayBuffer>
  contentType: string
  headers: Record<string, string> | undefined
}

/** Response of a handler → rendered response. A string or Uint8Array stays unchanged; any other body becomes JSON. The
 *  default content type is JSON. Deterministic, so a replay is byte-identical. Never throws for JSON values. */
export function render(answer: ApiResponse): Rendered {
  const { status, body, headers, contentType } = answer
  if (typeof body === 'string' || body instanceof Uint8Array) {
    return { status, body: body as string | Uint8Array<ArrayBuffer>, contentType: contentType ?? JSON_TYPE, headers }
  }
  return { status, body: JSON.stringify(body) ?? '', contentType: contentType ?? JSON_TYPE, headers }
}

/** ID of a deleted record → the response of DELETE: 200 with `{id, deleted: true}`. */
export function deleted(id: string): ApiResponse {
  return { status: 200, body: { id, deleted: true } }
}

/** Headers of every response that depends on the caller: not cacheable, and no MIME sniffing. */
export const PERSONAL = {
  'cache-control': 'private, no-store',
  'x-content-type-options': 'nosniff',
  vary: 'Authorization, Cookie',
}

/** Content type of JSON responses. */
export const JSON_TYPE = 'application/json; charset=utf-8'

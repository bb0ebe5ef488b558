import { promisify } from 'node:util'
import { brotliCompress, constants, gzip } from 'node:zlib'
import { acceptedCoding } from '../../net/content-coding.ts'
import { isRecord } from '../../os/records.ts'
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

/** Like render, but other requests continue while the records of a long list become JSON. */
export async function renderInTurns(answer: ApiResponse): Promise<Rendered> {
  if (!isList(answer.body)) return render(answer)
  const { data, ...rest } = answer.body
  const texts: string[] = []
  let characters = 0
  for (const record of data) {
    const text = JSON.stringify(record)
    texts.push(text)
    characters += text.length
    if (characters < CHARACTERS_A_TURN) continue
    characters = 0
    await new Promise(setImmediate)
  }
  return render({ ...answer, body: `{"data":[${texts.join()}],${JSON.stringify(rest).slice(1)}` })
}

/** Whether it is a page of records (page.ts), which come first. Asks for names one by one: bytes have millions. */
function isList(body: unknown): body is { data: object[]; has_more: boolean } {
  if (!isRecord(body) || !('has_more' in body) || !Array.isArray(body.data)) return false
  return Object.keys(body)[0] === 'data'
}

/** Takes less than 5 ms. */
const CHARACTERS_A_TURN = 2 ** 19

/** Response to GET → the same, compressed if the client accepts it and the body is a text of 1 kB to 1 MB. Other methods
 *  and error responses stay as they are. RFC 9110 §8.4 */
export async function compressed(rendered: Rendered, { method, headers }: Request): Promise<Rendered> {
  const { status, body, contentType } = rendered
  if (method !== 'GET' || status !== 200 || body.length < SMALLEST_BYTES || !TEXT.test(contentType)) return rendered
  if (body.length > LARGEST_BYTES) return rendered // unread: no text has fewer bytes than characters
  const coding = acceptedCoding(headers.get('accept-encoding'))
  if (coding === null) return rendered
  const whole = Buffer.from(body as string)
  if (whole.byteLength > LARGEST_BYTES) return rendered
  const bytes = await (coding === 'br' ? byBrotli(whole, BROTLI) : byGzip(whole, GZIP))
  return {
    ...rendered,
    body: new Uint8Array(bytes),
    headers: { ...rendered.headers, 'content-encoding': coding, vary: 'Authorization, Cookie, Accept-Encoding' },
  }
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

/** Smaller bodies fit into one packet with their headers. */
const SMALLEST_BYTES = 1024
/** Larger ones are sent in slices (large-responses.ts). */
const LARGEST_BYTES = 2 ** 20
/** A list of messages becomes a tenth in 1 ms per 100 kB, on another thread. */
const BROTLI = { params: { [constants.BROTLI_PARAM_QUALITY]: 4 } }
const GZIP = { level: 5 }
const TEXT = /^(?:application\/json|text\/)/

const byBrotli = promisify(brotliCompress)
const byGzip = promisify(gzip)

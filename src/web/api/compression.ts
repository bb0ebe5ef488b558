import { promisify } from 'node:util'
import { brotliCompress, constants, gzip } from 'node:zlib'
import { acceptedCoding } from '../../net/content-coding.ts'
import type { Rendered } from './rendered-response.ts'

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

/** Response to GET → the same, compressed if the client accepts it and the body is a text of 1 kB to 1 MB. Other methods
 *  and error responses stay as they are. RFC 9110 §8.4 */
export async function compressed(rendered: Rendered, { method, headers }: Request): Promise<Rendered> {
  const { status, body, contentType } = rendered
  if (method !== 'GET' || status !== 200 || body.length < SMALLEST_BYTES || !TEXT.test(contentType)) return rendered
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

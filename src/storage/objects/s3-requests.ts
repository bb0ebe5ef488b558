import { readXml, XmlFault } from '../../mail/xml.ts'
import { visible } from '../../net/visible-text.ts'
import { systemClock } from '../../os/clock.ts'
import type { ObjectPlace } from './objects.ts'
import { objectUrl, type Query, signedHeaders } from './signature.ts'

/** A request to a bucket. */
export interface S3Request {
  method: 'GET' | 'PUT' | 'POST' | 'DELETE'
  /** '' = the bucket itself. */
  key: string
  query?: Query
  body?: Uint8Array<ArrayBuffer> | string
  /** Ends the request, also while its answer is read. */
  signal?: AbortSignal
}

/** The service refused, or its answer cannot be used. The message is one short line. */
export class S3Failure extends Error {
  /** Such as `NoSuchKey`; null if the service named none. */
  readonly code: string | null
  /** True for 5xx and 429: the same request can succeed later. */
  readonly isTemporary: boolean

  constructor(
    message: string,
    { code = null, isTemporary = false }: { code?: string | null; isTemporary?: boolean } = {},
  ) {
    super(message)
    this.name = 'S3Failure'
    this.code = code
    this.isTemporary = isTemporary
  }
}

/** Sends signed requests to a bucket. */
export interface S3 {
  /** Resolves with an answer of 2xx, whose body waits to be read or cancelled. Rejects with S3Failure for any other, with
   *  the error of the connection, or of the signal. */
  ask(request: S3Request): Promise<Response>
}

/** Bucket → S3. The service is not trusted: redirects are not followed, since they would lead a message, or a request
 *  with an effect, to another host; nothing is unpacked; and no more of an answer is read than the caller allows. Not
 *  Bun's own client, which follows redirects, reads answers of any size into memory, and goes on after a deadline (1.4.5). */
export function s3(place: Omit<ObjectPlace, 'prefix'>): S3 {
  return {
    ask: async ({ method, key, query = {}, body, signal }) => {
      const url = objectUrl(place, key, query)
      const response = await fetch(url, {
        method,
        headers: { ...signedHeaders(place, method, url, systemClock.now()), 'accept-encoding': 'identity' },
        ...(body !== undefined && { body }),
        ...(signal !== undefined && { signal }),
        redirect: 'manual',
        decompress: false,
      })
      if (response.ok) return response
      throw await failureOf(response)
    },
  }
}

/** The body of an answer. Rejects with S3Failure if it is longer, of which no more is read. */
export async function readBody(response: Response, mostBytes: number): Promise<Uint8Array<ArrayBuffer>> {
  const bytes = await readBeginning(response, mostBytes + 1)
  if (bytes.byteLength <= mostBytes) return bytes
  throw new S3Failure(`the answer is longer than ${mostBytes} bytes`)
}

/** The first bytes of the body of an answer. No more is read. */
export async function readBeginning({ body }: Response, mostBytes: number): Promise<Uint8Array<ArrayBuffer>> {
  const bytes = new Uint8Array(mostBytes)
  let length = 0
  const reader = body?.getReader()
  while (reader !== undefined && length < mostBytes) {
    const { done, value } = await reader.read()
    if (done) break
    const taken = value.subarray(0, mostBytes - length)
    bytes.set(taken, length)
    length += taken.byteLength
  }
  await reader?.cancel()
  return bytes.subarray(0, length)
}

/** Ends an answer whose body does not matter. */
export async function discard({ body }: Response): Promise<void> {
  await body?.cancel()
}

async function failureOf(response: Response): Promise<S3Failure> {
  const { status } = response
  const { code, message } = errorIn(new TextDecoder().decode(await readBeginning(response, MOST_ERROR_BYTES)))
  const said = [code ?? `status ${status}`, message].filter((part) => part !== '').join(': ')
  const isRedirect = status >= 300 && status < 400
  const text = isRedirect
    ? `${said}. Redirects are not followed: check storage.s3_endpoint and storage.s3_region`
    : said
  return new S3Failure(text, { code, isTemporary: status >= 500 || status === 429 })
}

/** XML of a service → the error in it; nothing if there is none. */
export function errorIn(xml: string): { code: string | null; message: string } {
  const found = new Map<string, string>()
  try {
    readXml(xml, { open: () => {}, close: (name, text) => void (found.has(name) || found.set(name, text)) })
  } catch (thrown) {
    // Cut, or not XML. The error may come before.
    if (!(thrown instanceof XmlFault)) throw thrown
  }
  const code = found.get('Code') ?? ''
  return { code: CODE.test(code) ? code : null, message: visible((found.get('Message') ?? '').slice(0, MOST_MESSAGE)) }
}

const CODE = /^[A-Za-z]{1,64}$/
const MOST_MESSAGE = 200
const MOST_ERROR_BYTES = 8_192

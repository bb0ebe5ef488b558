import { createReadStream, statSync } from 'node:fs'
import { join } from 'node:path'
import { messageOf } from '../../os/thrown.ts'

/** Where the files of a release come from. */
export interface Source {
  /** As it was given, for messages. */
  name: string
  /** Bytes of a file of the release, in chunks. Rejects with SourceFailure, also beyond `mostBytes`. */
  read(file: string, mostBytes: number): AsyncGenerator<Uint8Array>
}

/** A file of a release cannot be read; `message` names it and the reason. */
export class SourceFailure extends Error {}

const MOST_REDIRECTS = 5
/** Until the first byte, and between two chunks. */
const SILENCE_MS = 30_000
/** For a whole file: 60 MB at half a megabit per second. */
const LONGEST_MS = 20 * 60_000

/** URL or folder of a release → Source. Plain HTTP is allowed, since the signature proves what arrives. Throws SourceFailure
 *  for URLs of other schemes and with credentials in them. */
export function sourceOf(from: string): Source {
  if (!/^[a-z][a-z0-9+.-]*:\/\//i.test(from))
    return { name: from, read: (file, most) => fromFolder(join(from, file), most) }
  const base = URL.parse(from.endsWith('/') ? from : `${from}/`)
  if (base === null || !['https:', 'http:'].includes(base.protocol)) {
    throw new SourceFailure(`${from}: expected a folder, or a URL that begins with https://`)
  }
  if (base.username !== '' || base.password !== '') throw new SourceFailure('the URL may not contain a password')
  return { name: from, read: (file, most) => fromUrl(new URL(file, base), most) }
}

/** The whole file as text. */
export async function textOf(source: Source, file: string, mostBytes: number): Promise<string> {
  const parts: Uint8Array[] = []
  for await (const part of source.read(file, mostBytes)) parts.push(part)
  return Buffer.concat(parts).toString()
}

async function* fromFolder(path: string, mostBytes: number): AsyncGenerator<Uint8Array> {
  const found = statSync(path, { throwIfNoEntry: false })
  if (found === undefined) throw new SourceFailure(`${path}: no such file`)
  if (!found.isFile()) throw new SourceFailure(`${path}: not a file`)
  if (found.size > mostBytes) throw new SourceFailure(`${path}: larger than ${mostBytes} bytes`)
  yield* createReadStream(path, { highWaterMark: 1024 * 1024 }) as AsyncIterable<Uint8Array>
}

async function* fromUrl(url: URL, mostBytes: number): AsyncGenerator<Uint8Array> {
  const ending = new AbortController()
  const end = (why: string) => () => ending.abort(new Error(why))
  const whole = setTimeout(end(`not complete after ${LONGEST_MS / 60_000} minutes`), LONGEST_MS)
  let silence = setTimeout(end(`nothing received for ${SILENCE_MS / 1000} s`), SILENCE_MS)
  try {
    const response = await request(url, ending.signal)
    if (Number(response.headers.get('content-length') ?? 0) > mostBytes)
      throw new SourceFailure(`${url}: larger than ${mostBytes} bytes`)
    let bytes = 0
    for await (const chunk of response.body ?? []) {
      bytes += chunk.length
      if (bytes > mostBytes) throw new SourceFailure(`${url}: larger than ${mostBytes} bytes`)
      clearTimeout(silence)
      silence = setTimeout(end(`nothing received for ${SILENCE_MS / 1000} s`), SILENCE_MS)
      yield chunk
    }
  } catch (error) {
    throw error instanceof SourceFailure ? error : new SourceFailure(`${url}: ${reasonOf(error, ending.signal)}`)
  } finally {
    clearTimeout(whole)
    clearTimeout(silence)
    ending.abort()
  }
}

async function request(first: URL, signal: AbortSignal): Promise<Response> {
  let url = first
  for (let redirects = 0; redirects <= MOST_REDIRECTS; redirects++) {
    const response = await fetch(url, { signal, redirect: 'manual', headers: { 'accept-encoding': 'identity' } })
    const to = response.status >= 300 && response.status < 400 ? response.headers.get('location') : null
    if (to === null) {
      if (response.status === 200) return response
      throw new SourceFailure(`${url}: the server answered ${response.status}`)
    }
    await response.body?.cancel()
    const next = URL.parse(to, url)
    if (next?.protocol !== 'https:') throw new SourceFailure(`${url}: a redirect must lead to https://`)
    url = next
  }
  throw new SourceFailure(`${first}: more than ${MOST_REDIRECTS} redirects`)
}

const reasonOf = (error: unknown, { aborted, reason }: AbortSignal) => messageOf(aborted ? reason : error)

import { hash } from 'node:crypto'
import { promisify } from 'node:util'
import { brotliDecompress, gzip } from 'node:zlib'
import { acceptedCoding } from '../../net/content-coding.ts'
import { createTurnLimiter } from '../../os/turn-limiter.ts'
import type { PackedFile } from './pack.ts'

/** A file with its Content-Type and ETag. */
export interface StaticFile {
  file: PackedFile
  type: string
  etag: string
}

const TYPES: Record<string, string> = {
  html: 'text/html; charset=utf-8',
  js: 'text/javascript; charset=utf-8',
  css: 'text/css; charset=utf-8',
  svg: 'image/svg+xml',
  png: 'image/png',
  json: 'application/json',
  woff2: 'font/woff2',
  txt: 'text/plain; charset=utf-8',
  md: 'text/markdown; charset=utf-8', // RFC 7763
}

/** File → its Content-Type, from the extension, and a strong ETag, from a hash of the content. */
function staticFile(file: PackedFile): StaticFile {
  return {
    file,
    type: TYPES[file.name.split('.').at(-1) ?? ''] ?? 'application/octet-stream',
    etag: `"${hash('sha256', file.br, 'base64url').slice(0, 22)}"`,
  }
}

/** Files by name, read once; if that fails, the next call tries again. */
export function openOnce(files: () => Promise<PackedFile[]>): () => Promise<ReadonlyMap<string, StaticFile>> {
  let opened: Promise<ReadonlyMap<string, StaticFile>> | null = null
  return () => {
    opened ??= files().then((all) => new Map(all.map((file) => [file.name, staticFile(file)])))
    opened.catch(() => {
      opened = null
    })
    return opened
  }
}

const NOT_FOUND = { 'x-content-type-options': 'nosniff', 'referrer-policy': 'no-referrer', vary: 'Accept-Encoding' }

/** Request and file → response with the best encoding that the client accepts: Brotli, gzip or none (RFC 9110
 *  §12.5.3). 304 if the client's copy is current (§13.1.2); 404 without a file. `always` are headers of every
 *  response with a file; `status` is 404 for a file that says what is missing. */
export async function respond(
  request: Request,
  served: StaticFile | undefined,
  always: Record<string, string>,
  status: 200 | 404 = 200,
): Promise<Response> {
  if (served === undefined) return new Response('File not found\n', { status: 404, headers: NOT_FOUND })
  const { file, type, etag } = served
  const headers = { ...always, 'content-type': type, etag }
  const known = request.headers.get('if-none-match')?.split(',') ?? []
  if (status === 200 && known.some((tag) => tag.trim().replace(/^W\//, '') === etag))
    return new Response(null, { status: 304, headers })
  const coding = acceptedCoding(request.headers.get('accept-encoding'))
  const body = coding === 'br' ? file.br : await (coding === 'gzip' ? gzipOf(file) : plainOf(file))
  const init = { status, headers: coding === null ? headers : { ...headers, 'content-encoding': coding } }
  return turns.enter(body.byteLength, () => new Response(body as Uint8Array<ArrayBuffer>, init))
}

/** Requests that waited for the same file would all be answered in one turn. */
const turns = createTurnLimiter()

/** The file as it is, for programs that accept no compression. */
const plainOf = oncePerFile(async ({ br }) => new Uint8Array(await promisify(brotliDecompress)(br)))

/** The file compressed with gzip, for browsers without TLS: they do not accept Brotli. */
const gzipOf = oncePerFile(async (file) => new Uint8Array(await promisify(gzip)(await plainOf(file))))

/** The same function, but each file is converted once, on another thread: a flood of requests costs no more. */
function oncePerFile(convert: (file: PackedFile) => Promise<Uint8Array<ArrayBuffer>>): typeof convert {
  const converted = new WeakMap<PackedFile, Promise<Uint8Array<ArrayBuffer>>>()
  return (file) => {
    const made = converted.get(file) ?? convert(file)
    converted.set(file, made)
    return made
  }
}

import { hash } from 'node:crypto'
import { brotliDecompressSync, gzipSync } from 'node:zlib'
import { acceptedCoding } from '../net/content-coding.ts'
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
export function staticFile(file: PackedFile): StaticFile {
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
 *  response but 404. */
export function respond(request: Request, served: StaticFile | undefined, always: Record<string, string>): Response {
  if (served === undefined) return new Response('File not found\n', { status: 404, headers: NOT_FOUND })
  const { file, type, etag } = served
  const headers = { ...always, 'content-type': type, etag }
  const known = request.headers.get('if-none-match')?.split(',') ?? []
  if (known.some((tag) => tag.trim().replace(/^W\//, '') === etag)) return new Response(null, { status: 304, headers })
  const coding = acceptedCoding(request.headers.get('accept-encoding'))
  if (coding === 'br') return encoded(file.br, coding, headers)
  if (coding === 'gzip') return encoded(gzipOf(file), coding, headers)
  return new Response(new Uint8Array(brotliDecompressSync(file.br)), { headers })
}

const gzipped = new WeakMap<PackedFile, Uint8Array>()

/** The file compressed with gzip, for browsers without TLS: they do not accept Brotli. Made once per file. */
function gzipOf(file: PackedFile): Uint8Array {
  const known = gzipped.get(file) ?? gzipSync(brotliDecompressSync(file.br))
  gzipped.set(file, known)
  return known
}

function encoded(bytes: Uint8Array, encoding: string, headers: Record<string, string>): Response {
  return new Response(bytes as Uint8Array<ArrayBuffer>, { headers: { ...headers, 'content-encoding': encoding } })
}

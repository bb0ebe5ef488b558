import { requestTarget } from '../net/request-target.ts'

/** Serves plaintext HTTP on port 80. */
export interface PlainPages {
  fetch(request: Request): Response
  /** Serves `text` for an ACME token until the returned function is called. */
  show(token: string, text: string): () => void
}

/** Serves `GET /.well-known/acme-challenge/<token>` while the token is active (RFC 8555 §8.3). Redirects every other request
 *  to the same path at `publicUrl()` if that is https, whatever the Host header says, so this is no open redirect. Without
 *  https it answers 404. */
export function createPlainPages(publicUrl: () => string): PlainPages {
  const shown = new Map<string, string>()
  return {
    fetch: (request) => {
      const { pathname, search } = requestTarget(request)
      if (pathname.startsWith(CHALLENGES)) {
        const text = shown.get(pathname.slice(CHALLENGES.length))
        return new Response(text ?? 'Unknown token\n', { status: text === undefined ? 404 : 200, headers: PLAIN })
      }
      const url = publicUrl()
      if (!url.startsWith('https:'))
        return new Response('Not available over plaintext HTTP\n', { status: 404, headers: PLAIN })
      return new Response(null, { status: 308, headers: { location: `${url}${pathname}${search}` } })
    },
    show: (token, text) => {
      shown.set(token, text)
      return () => {
        if (shown.get(token) === text) shown.delete(token)
      }
    },
  }
}

export const CHALLENGES = '/.well-known/acme-challenge/'
const PLAIN = {
  'content-type': 'text/plain; charset=utf-8',
  'cache-control': 'no-store',
  'x-content-type-options': 'nosniff',
}

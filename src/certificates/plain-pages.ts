import { requestTarget } from '../net/request-target.ts'

/** What is answered in clear at port 80. */
export interface PlainPages {
  fetch(request: Request): Response
  /** Answers `text` for a token, where an authority asks for it, until what it returns is called. */
  show(token: string, text: string): () => void
}

/** `GET /.well-known/acme-challenge/<token>` is answered while the token is shown (RFC 8555 §8.3). Everybody else is sent to
 *  the same path at `publicUrl()` where that is https, whatever host was asked for: nobody can be sent elsewhere through us.
 *  Without https there is nothing here. */
export function createPlainPages(publicUrl: () => string): PlainPages {
  const shown = new Map<string, string>()
  return {
    fetch: (request) => {
      const { pathname, search } = requestTarget(request)
      if (pathname.startsWith(CHALLENGES)) {
        const text = shown.get(pathname.slice(CHALLENGES.length))
        return new Response(text ?? 'no such token\n', { status: text === undefined ? 404 : 200, headers: PLAIN })
      }
      const url = publicUrl()
      if (!url.startsWith('https:'))
        return new Response('nothing is answered in clear here\n', { status: 404, headers: PLAIN })
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

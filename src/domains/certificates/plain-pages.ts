import { requestTarget } from '../../net/request-target.ts'
import type { SharedCertificates } from '../../storage/store.ts'

/** Serves plaintext HTTP on port 80. */
export interface PlainPages {
  fetch(request: Request): Response | Promise<Response>
  /** Serves `text` for an ACME token, at every node, until the returned function is called. Rejects if the store cannot
   *  write it. */
  show(token: string, text: string): Promise<() => void>
}

/** Serves `GET /.well-known/acme-challenge/<token>` while the token is active (RFC 8555 §8.3). Redirects every other request
 *  to the same path at `publicUrl()` if that is https, whatever the Host header says, so this is no open redirect. Without
 *  https it answers 404. `shared`: tokens of all nodes. */
export function createPlainPages(
  publicUrl: () => string,
  shared: Pick<SharedCertificates, 'show' | 'hide' | 'shown'> | null = null,
): PlainPages {
  const shown = new Map<string, string>()
  const answer = (text: string | null) =>
    new Response(text ?? 'Unknown token\n', { status: text === null ? 404 : 200, headers: PLAIN })
  const challenge = (token: string) => {
    const text = shown.get(token) ?? null
    if (text !== null || shared === null || !TOKEN.test(token)) return answer(text)
    return shared.shown(token).then(answer, () => answer(null))
  }
  return {
    fetch: (request) => {
      const { pathname, search } = requestTarget(request)
      if (pathname.startsWith(CHALLENGES)) return challenge(pathname.slice(CHALLENGES.length))
      const url = publicUrl()
      if (!url.startsWith('https:'))
        return new Response('Not available over plaintext HTTP\n', { status: 404, headers: PLAIN })
      return new Response(null, { status: 308, headers: { location: `${url}${pathname}${search}` } })
    },
    show: async (token, text) => {
      shown.set(token, text)
      await shared?.show(token, text, CHALLENGE_MS)
      return () => {
        if (shown.get(token) === text) shown.delete(token)
        shared?.hide(token).catch(() => {}) // it ends by itself
      }
    },
  }
}

export const CHALLENGES = '/.well-known/acme-challenge/'
/** An authority checks a challenge within minutes. */
const CHALLENGE_MS = 60 * 60_000
/** RFC 8555 §8.3: base64url. */
const TOKEN = /^[\w-]{1,128}$/
const PLAIN = {
  'content-type': 'text/plain; charset=utf-8',
  'cache-control': 'no-store',
  'x-content-type-options': 'nosniff',
}

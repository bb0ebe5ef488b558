import { parsePostTarget } from '../webhook-url.ts'
import type { Exchange } from './exchange.ts'
import { ANSWER_FAULTS, FILE_LIMITS } from './limits.ts'

/** Result of a download. `why` ends the sentence `cannot be downloaded: …`: a short phrase, a status or the
 *  host of the URL, without the resolved address and without text of the peer. */
export type Downloaded =
  | { kind: 'file'; bytes: Uint8Array<ArrayBuffer>; contentType: string | null }
  | { kind: 'too_large' }
  /** Not the fault of the URL: `enter` refused, or our thread ended. */
  | { kind: 'busy' }
  | { kind: 'failed'; why: string }

/** URL → the file there, of at most `maxBytes`. `timeoutMs` covers everything. `enter` is that of ExchangeHooks.
 *  Follows up to FILE_LIMITS.redirects redirects; each target must be a URL that parsePostTarget accepts, and the
 *  exchange checks its addresses. Sends no cookies, credentials or Referer. Never rejects. */
export type Download = (
  url: string,
  limits: { maxBytes: number; timeoutMs: number; enter: (sizeBytes: number) => Promise<boolean> },
) => Promise<Downloaded>

/** Exchange → Download. `now` is a steady clock in ms. */
export function downloadBy(exchange: Exchange, now: () => number): Download {
  return async (url, { maxBytes, timeoutMs, enter }) => {
    const endsAt = now() + timeoutMs
    let at = url
    for (let redirects = 0; redirects <= FILE_LIMITS.redirects; redirects++) {
      const isFirst = redirects === 0
      const target = parsePostTarget(at)
      if ('refused' in target) return failed(isFirst ? target.refused : 'it redirects to a URL that is not accepted')
      const leftMs = endsAt - now()
      if (leftMs <= 0) return failed('timeout')
      const job = { url: at, method: 'GET', headers: {}, body: null, maxBytes, timeoutMs: leftMs, as: 'file' } as const
      const result = await exchange(job, { enter })
      if (result.kind === 'blocked')
        return failed(`${isFirst ? target.host : 'the target of a redirect'} has no public address`)
      if (result.kind === 'no_answer') return noAnswer(result.error)
      const { status, headers, file } = result
      if (file !== null) return { kind: 'file', bytes: file, contentType: headers['content-type'] ?? null }
      const next = REDIRECTS.has(status) ? locationOf(headers.location, at) : null
      if (next === null) return failed(`the server answered ${status}`)
      at = next
    }
    return failed('too many redirects')
  }
}

/** RFC 9110 §15.4; a GET stays a GET with each of them. */
const REDIRECTS: ReadonlySet<number> = new Set([301, 302, 303, 307, 308])

/** Location header and the URL of its response → the absolute URL; null without a valid one. RFC 9110 §10.2.2 */
function locationOf(location: string | undefined, base: string): string | null {
  return location === undefined ? null : (URL.parse(location, base)?.href ?? null)
}

const OURS: ReadonlySet<string> = new Set([ANSWER_FAULTS.memory, ANSWER_FAULTS.interrupted, ANSWER_FAULTS.died])

function noAnswer(error: string): Downloaded {
  if (error === ANSWER_FAULTS.large) return { kind: 'too_large' }
  return OURS.has(error) ? { kind: 'busy' } : failed(error)
}

function failed(why: string): Downloaded {
  return { kind: 'failed', why }
}

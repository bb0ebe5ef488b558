import { type MtaSts, readMtaSts } from '../../mail/mta-sts.ts'
import type { Ask } from '../../net/https/requests.ts'
import type { Clock } from '../../os/clock.ts'
import { within } from '../../os/within.ts'

/** Why an announced policy cannot be fetched, in the terms of RFC 8460 §4.3.2.2; `detail` is for people. */
export interface PolicyFailure {
  failure: 'sts-policy-fetch-error' | 'sts-policy-invalid' | 'sts-webpki-invalid'
  detail: string
}

/** Domain → its policy, or the failure. */
export type FetchPolicy = (domain: string) => Promise<MtaSts | PolicyFailure>

/** Creates FetchPolicy from an HTTPS client. It fetches `https://mta-sts.<domain>/.well-known/mta-sts.txt`: status 200,
 *  text/plain, at most 64 KiB; a redirect is a failure. Some fetches run at once, the others wait; each domain takes at
 *  most a minute in all. Never rejects. RFC 8461 §3.3 */
export function createFetchPolicy(options: { ask: Ask; clock: Clock; port?: number }): FetchPolicy {
  const { ask, clock, port = 443 } = options
  const waiting: (() => void)[] = []
  let free = AT_ONCE

  const fetchNow = async (domain: string): Promise<MtaSts | PolicyFailure> => {
    const place = port === 443 ? '' : `:${port}`
    const url = `https://mta-sts.${domain}${place}/.well-known/mta-sts.txt`
    const answer = await ask(url, { headers: {}, body: null, maxBytes: MAX_BYTES, timeoutMs: TIMEOUT_MS })
    if (answer.kind === 'blocked') return fetchError(answer.reason)
    if (answer.kind === 'no_answer') {
      const isCertificate = answer.error.startsWith('certificate')
      return isCertificate ? { failure: 'sts-webpki-invalid', detail: answer.error } : fetchError(answer.error)
    }
    if (answer.status !== 200) return fetchError(`status ${answer.status}`)
    if (!/^text\/plain[ \t]*(;|$)/i.test(answer.headers['content-type'] ?? ''))
      return fetchError('the response is not text/plain')
    if (answer.text === null) return fetchError('the response is too long or not UTF-8')
    const policy = readMtaSts(answer.text)
    return 'invalid' in policy ? { failure: 'sts-policy-invalid', detail: policy.invalid } : policy
  }

  const inTurn = async (domain: string): Promise<MtaSts | PolicyFailure> => {
    if (free > 0) free--
    else await new Promise<void>((resolve) => waiting.push(resolve)) // passed on by a finished fetch
    try {
      return await fetchNow(domain)
    } finally {
      const next = waiting.shift()
      if (next) next()
      else free++
    }
  }

  return async (domain) => {
    if (waiting.length >= MAX_WAITING) return fetchError('too many policies are being fetched')
    return (await within(clock, TIMEOUT_MS, inTurn(domain))) ?? fetchError('timeout')
  }
}

const AT_ONCE = 20
const MAX_WAITING = 500
const TIMEOUT_MS = 60_000
const MAX_BYTES = 65_536

const fetchError = (detail: string): PolicyFailure => ({ failure: 'sts-policy-fetch-error', detail })

import type { Certificate } from '../../net/tls/certificate.ts'
import type { WallClock } from '../../os/clock.ts'
import type { Log } from '../../os/log.ts'
import type { Random } from '../../os/random.ts'
import { OrderFailure } from './acme/failure.ts'
import type { RenewalWindow } from './acme/renewal-info.ts'

/** The authority's renewal advice for the certificate (RFC 9773), as last fetched. */
export interface RenewalInfo {
  /** Fetches the advice if due. Never rejects: a failed request changes nothing. */
  refresh(certificate: Certificate): Promise<void>
  /** Whether the chosen moment within the renewal window has come. */
  isDue(now: number): boolean
  /** Drops the advice after a new certificate. */
  reset(): void
}

/** Certificate → its renewal window; null if the authority gives none. */
export type WindowOf = (certificate: Certificate, signal: AbortSignal) => Promise<RenewalWindow | null>

export function createRenewalInfo(options: {
  windowOf: WindowOf
  signal: AbortSignal
  clock: WallClock
  random: Random
  log: Log
}): RenewalInfo {
  const { windowOf, signal, random, log } = options
  const { steady } = options.clock
  let askAt = 0
  /** The last advice and the moment chosen within its window. */
  let latest: { window: RenewalWindow; at: number } | null = null

  return {
    refresh: async (certificate) => {
      if (steady.now() < askAt) return
      askAt = steady.now() + ASK_AGAIN_MS
      try {
        const window = await windowOf(certificate, signal)
        if (window !== null && window.retryAfterMs !== null)
          askAt = steady.now() + Math.min(Math.max(window.retryAfterMs, HOUR_MS), DAY_MS)
        const isSame = window?.startsAt === latest?.window.startsAt && window?.endsAt === latest?.window.endsAt
        if (!isSame) latest = window && { window, at: momentIn(window, random) }
      } catch (error) {
        if (!(error instanceof OrderFailure)) log.error('renewal time not fetched from the CA', { error })
      }
    },
    isDue: (now) => latest !== null && now >= latest.at,
    reset: () => {
      askAt = 0
      latest = null
    },
  }
}

/** A random moment, so that clients do not all renew at once. RFC 9773 §4.2 */
const momentIn = ({ startsAt, endsAt }: RenewalWindow, random: Random) =>
  startsAt + random.fraction() * (endsAt - startsAt)

const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS
/** Default interval. RFC 9773 §4.3.3 */
const ASK_AGAIN_MS = 6 * HOUR_MS

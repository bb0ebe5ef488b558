import type { Certificate } from '../../net/tls/certificate.ts'
import { backoffMs } from '../../os/backoff.ts'
import type { WallClock } from '../../os/clock.ts'
import type { Log } from '../../os/log.ts'
import type { Random } from '../../os/random.ts'
import { OrderFailure } from './acme/failure.ts'
import type { Terms } from './files.ts'
import type { Reach } from './reach.ts'
import { createRenewalInfo, type WindowOf } from './renewal-info.ts'
import {
  type CertificateStorage,
  noProgress,
  type Progress,
  type StoredCertificate,
  withTerms,
} from './stored-certificate.ts'

/** The certificate from an authority: ordered, renewed after two thirds of its lifetime or when the authority advises
 *  it (RFC 9773), and ordered again when a name is missing.
 *
 *  Each attempt is counted on disk before the authority is contacted. The next one follows after 1, 6, 24, 24, … hours,
 *  or later if the authority says so; a restart does not shorten this. Each name is first probed from here, so that
 *  hopeless attempts are not made. An interrupted attempt leaves the current certificate in place. */
export interface Renewal {
  /** The certificate to serve; null if there is none or it has expired. */
  certificate(): (Certificate & Terms) | null
  /** Does what is due and resolves when done. A call during another does nothing. Rejects when the data folder cannot
   *  be written. */
  renewIfDue(): Promise<void>
  /** Skips the wait for the next attempt after an operator's change, unless the last attempt was less than RETRY_NOW_MS
   *  ago. */
  retryNow(): void
  /** Aborts work in progress. */
  stop(): Promise<void>
}

export interface RenewalDeps {
  storage: CertificateStorage
  kept: StoredCertificate
  /** The configured authority. A certificate from another one, such as its staging environment, is replaced. */
  directoryUrl: string
  /** Whether this node may contact the authority now: one node orders for all. */
  mayOrder: () => Promise<boolean>
  /** Lower case; the operator's names. A name that cannot be certified is logged. */
  names: () => Promise<readonly string[]>
  /** Current names from domains. */
  domainNames: () => Promise<readonly string[]>
  reachOf: (name: string) => Promise<Reach>
  order: (
    names: readonly string[],
    more: { signal: AbortSignal; replaces?: string | undefined },
  ) => Promise<Certificate>
  windowOf: WindowOf
  /** The certificate to serve has changed. */
  onChange: () => void
  clock: WallClock
  random: Random
  log: Log
}

const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS
const DAY_MS = 24 * HOUR_MS
const RETRY_SCHEDULE_SECONDS = [3600, 6 * 3600, 24 * 3600]
/** Wait after a failure before contacting the authority. */
const LOOK_AGAIN_MS = 5 * MINUTE_MS
/** Domain names come and go: at most one new certificate a day for them. */
const LOOK_AT_NAMES_MS = HOUR_MS
const LEFT_OUT_MS = 7 * DAY_MS
const WITHOUT_REFUSED_MS = 10 * MINUTE_MS
/** Let's Encrypt allows five failed validations per name and hour. */
const RETRY_NOW_MS = 15 * MINUTE_MS
/** Let's Encrypt's limit; RFC 8555 has none. */
const MAX_NAMES = 100

export function createRenewal(deps: RenewalDeps): Renewal {
  const { storage, directoryUrl, clock, log } = deps
  const { steady } = clock
  const ending = new AbortController()
  let { certificate, progress } = deps.kept
  let isShown = certificate !== null && certificate.endsAt > clock.now()
  let lookAt = 0
  let own: readonly string[] = []
  let loggedTrouble: string | null = null
  let underWay: Promise<void> | null = null
  const renewalInfo = createRenewalInfo({ ...deps, signal: ending.signal })

  const look = async (): Promise<void> => {
    const now = clock.now()
    showWhatHolds(now)
    await takeStored(now)
    if (!(await deps.mayOrder())) return
    const names = await deps.names()
    if (names.join() !== own.join()) lookAt = 0
    own = names
    if (progress.triedAt - now > MINUTE_MS) await keep(withClockSetBack(progress, now))
    if (certificate !== null && certificate.endsAt > now && isOfAuthority()) await renewalInfo.refresh(certificate)
    const isNew = isDue(now) && loggedTrouble === null // at the last check it was not due, or all was well
    if (now < progress.notBefore || (steady.now() < lookAt && !isNew)) return
    const plan = await planOrder({ certificate, progress }, isDue(now), { ...deps, own }, now)
    if ('names' in plan) return attempt(plan.names, now)
    const words = 'trouble' in plan ? plan.trouble : null
    lookAt = steady.now() + (words === null ? LOOK_AT_NAMES_MS : LOOK_AGAIN_MS)
    if (words !== null && words !== loggedTrouble) log.warn('certificate not ordered', { reason: words })
    loggedTrouble = words
    if (words !== progress.trouble) await keep({ ...progress, trouble: words })
  }

  /** What another node has ordered. */
  const takeStored = async (now: number): Promise<void> => {
    const stored = await storage.changed()
    if (stored === null) return
    const isNew = stored.certificate?.certificatePem !== certificate?.certificatePem
    certificate = stored.certificate
    progress = stored.progress
    if (!isNew) return
    isShown = certificate !== null && certificate.endsAt > now
    deps.onChange()
  }

  const isDue = (now: number) =>
    certificate === null || now >= renewAt(certificate) || isRenewalAdvised(now) || !isOfAuthority()

  /** A certificate whose stored state is lost has no known authority and is kept. */
  const isOfAuthority = () => progress.issuedBy === null || progress.issuedBy === directoryUrl

  /** A certificate is at least a day old before advice replaces it. */
  const isRenewalAdvised = (now: number) => renewalInfo.isDue(now) && now - progress.triedAt >= DAY_MS

  const attempt = async (names: readonly string[], now: number): Promise<void> => {
    const before = progress
    const failures = before.failures + 1
    const waitMs = backoffMs(RETRY_SCHEDULE_SECONDS, failures, 0.1, deps.random)
    await keep({
      ...before,
      failures,
      triedAt: now,
      notBefore: now + waitMs,
      trouble: 'the last attempt did not finish',
    })
    try {
      // A replacement already announced is not announced again.
      const replaces = before.failures === 0 && isOfAuthority() ? certificate?.certificatePem : undefined
      await take(await deps.order(names, { signal: ending.signal, replaces }), names)
      await keep({ ...noProgress(before.settings, directoryUrl), triedAt: now, leftOut: before.leftOut })
      lookAt = 0
      renewalInfo.reset()
    } catch (error) {
      // We aborted the attempt ourselves.
      if (ending.signal.aborted) await keep({ ...before, notBefore: now + MINUTE_MS })
      else await fail(error, names, before)
    }
  }

  /** Stores and serves the new certificate if it is what was ordered. */
  const take = async (given: Certificate, names: readonly string[]): Promise<void> => {
    const made = checked(given, names)
    if (certificate === null || made.endsAt > certificate.endsAt || made.endsAt > clock.now()) {
      await storage.keepCertificate(made)
      certificate = made
    }
    if (made.endsAt <= clock.now()) {
      throw new OrderFailure('the issued certificate has already expired. Check the clock of this machine.', {
        retryAfterMs: 3 * DAY_MS, // Let's Encrypt issues five per week for the same names
      })
    }
    log.info('certificate issued', { names: made.names, ends_at: iso(made.endsAt) })
    isShown = true
    deps.onChange()
  }

  const fail = async (error: unknown, names: readonly string[], before: Progress): Promise<void> => {
    if (!(error instanceof OrderFailure)) log.error('certificate order failed', { error })
    const failure = error instanceof OrderFailure ? error : new OrderFailure('internal error; see the log')
    const next = afterFailure(failure, { names, own, before, counted: progress }, clock.now())
    await keep(next)
    log.warn('certificate not issued', { reason: failure.message, names, next_attempt_at: iso(next.notBefore) })
  }

  const keep = async (next: Progress): Promise<void> => {
    progress = next
    await storage.keepProgress(next)
  }

  const showWhatHolds = (now: number): void => {
    const holds = certificate !== null && certificate.endsAt > now
    if (holds === isShown) return
    isShown = holds
    deps.onChange()
  }

  return {
    certificate: () => (isShown ? certificate : null),
    renewIfDue: async () => {
      if (underWay !== null || ending.signal.aborted) return
      underWay = look().finally(() => {
        underWay = null
      })
      await underWay
    },
    retryNow: () => {
      lookAt = 0
      const now = clock.now()
      if (now - progress.triedAt >= RETRY_NOW_MS) progress = { ...progress, notBefore: now }
    },
    stop: async () => {
      ending.abort()
      await underWay?.catch(() => {})
    },
  }
}

/** The names to order, or the reason why none can be; neither when nothing is to do. */
async function planOrder(
  { certificate, progress }: StoredCertificate,
  isDueNow: boolean,
  { own, domainNames, reachOf }: Pick<RenewalDeps, 'domainNames' | 'reachOf'> & { own: readonly string[] },
  now: number,
): Promise<{ names: string[] } | { trouble: string } | Record<never, never>> {
  const held = new Set(certificate?.names)
  const isLeftOut = (name: string) => now - (progress.leftOut[name] ?? Number.NEGATIVE_INFINITY) < LEFT_OUT_MS
  const ofDomains = (await domainNames()).filter((name) => !isLeftOut(name))
  const wanted = [...new Set([...own, ...ofDomains])].slice(0, MAX_NAMES)
  const asked = wanted.filter((name) => isDueNow || !held.has(name))
  const reached = await Promise.all(asked.map(async (name) => ({ name, reach: await reachOf(name) })))
  const isPromising = ({ name, reach }: { name: string; reach: Reach }) =>
    reach.kind === 'here' || (reach.kind === 'unknown' && own.includes(name))
  const good = new Set(reached.filter(isPromising).map(({ name }) => name))
  const faults = reached.flatMap(({ name, reach }) =>
    reach.kind === 'elsewhere' && own.includes(name) ? [reach.reason] : [],
  )

  const names = wanted.filter((name) => good.has(name) || (!isDueNow && held.has(name)))
  const isGain = own.some((name) => good.has(name)) || (good.size > 0 && now - progress.triedAt >= DAY_MS)
  if (names.length > 0 && (isDueNow ? !losesName(certificate, names, own, now) : isGain)) return { names }
  return faults.length > 0 ? { trouble: faults.join('; ') } : {}
}

/** Names of the current certificate stay while there is time: a name that points elsewhere for a day is not dropped. */
const losesName = (
  certificate: StoredCertificate['certificate'],
  names: readonly string[],
  own: readonly string[],
  now: number,
): boolean =>
  certificate !== null &&
  now < lastCallOf(certificate) &&
  own.some((name) => certificate.names.includes(name) && !names.includes(name))

/** The clock was ahead at the last attempt and has been set back: waits continue from now. */
function withClockSetBack(progress: Progress, now: number): Progress {
  const isPast = ([, at]: [string, number]) => at <= now
  return {
    ...progress,
    triedAt: now,
    notBefore: progress.notBefore - (progress.triedAt - now),
    leftOut: Object.fromEntries(Object.entries(progress.leftOut).filter(isPast)),
  }
}

/** The state after a failed order. If only names from domains were refused, those are left out and the operator's names
 *  are tried again soon: one domain's DNS must not prevent a certificate for the others. `before` is the state without
 *  the attempt, `counted` with it. */
function afterFailure(
  { message, retryAfterMs, refusedNames }: OrderFailure,
  {
    names,
    own,
    before,
    counted,
  }: { names: readonly string[]; own: readonly string[]; before: Progress; counted: Progress },
  now: number,
): Progress {
  const refused = refusedNames.map((name) => name.toLowerCase()).filter((name) => names.includes(name))
  const foreign = refused.filter((name) => !own.includes(name))
  const isTheirs = foreign.length > 0 && foreign.length === refused.length
  return {
    ...counted,
    triedAt: isTheirs ? before.triedAt : counted.triedAt,
    notBefore: Math.max(isTheirs ? now + WITHOUT_REFUSED_MS : counted.notBefore, now + retryAfterMs),
    trouble: message,
    leftOut: { ...before.leftOut, ...Object.fromEntries(foreign.map((name) => [name, now])) },
  }
}

/** After two thirds of the lifetime. */
const renewAt = ({ startsAt, endsAt }: Terms) => startsAt + ((endsAt - startsAt) * 2) / 3

/** From this moment a certificate with a missing name is better than none. */
const lastCallOf = ({ startsAt, endsAt }: Terms) => endsAt - (endsAt - startsAt) / 10

function checked(given: Certificate, names: readonly string[]): Certificate & Terms {
  let made: Certificate & Terms
  try {
    made = withTerms(given)
  } catch (cause) {
    throw new OrderFailure(
      `the CA sent an invalid certificate: ${cause instanceof Error ? cause.message : String(cause)}`,
    )
  }
  const missing = names.find((name) => !made.names.includes(name))
  if (missing !== undefined) throw new OrderFailure(`the CA sent a certificate without ${missing}`)
  return made
}

const iso = (ms: number) => new Date(ms).toISOString()

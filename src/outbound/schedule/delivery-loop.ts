import type { RecipientPartsOf } from '../../mail/recipient-parts.ts'
import type { StoredMail } from '../../mail/shown-content.ts'
import type { Verp } from '../../mail/verp.ts'
import type { Outcome } from '../../model/delivery.ts'
import { isOwned, isReadyToSend } from '../../model/domain.ts'
import { isForwarded } from '../../model/message.ts'
import type { Resolver } from '../../net/dns/resolver.ts'
import { createConcurrencyLimiter } from '../../net/limiters/concurrency.ts'
import type { WallClock } from '../../os/clock.ts'
import { watchClockChanges } from '../../os/clock-changes.ts'
import type { MintId } from '../../os/ids.ts'
import type { Log } from '../../os/log.ts'
import { createLoop } from '../../os/loop.ts'
import type { MailLog } from '../../os/mail-log.ts'
import { ampleMemory, type Memory } from '../../os/memory.ts'
import { createQueueRecovery } from '../../os/queue-recovery.ts'
import type { Random } from '../../os/random.ts'
import type { ClaimedDelivery, DeliveryRecord, Store } from '../../storage/store.ts'
import type { AttemptJob, AttemptResult } from '../job.ts'
import { createLargeContents } from '../large-contents.ts'
import { notAttempted } from '../not-attempted.ts'
import { internalFault } from '../outcome.ts'
import { createPoisonous } from '../poison-messages.ts'
import { publish, recordOf, type Tried } from '../record.ts'
import { simulate } from '../sandbox.ts'
import { createAdmission, GIVEN_UP, type Grant } from './admission.ts'
import { type ConfiguredTerms, createTermsOf } from './destination-limits.ts'
import type { SiteState } from './destination-state.ts'
import { createSites } from './destinations.ts'
import { createOwnerShares } from './owner-shares.ts'
import { nextAttempt } from './retry-schedule.ts'
import { type Verdict, verdictOf } from './verdict.ts'

/** The delivery engine: claim what is due, have a worker try it, record what came of it, say when next.
 *
 *  Retried: every temporary failure, by the schedule. Lost: nothing; a claim is counted in the store before the try,
 *  and a record that cannot be written is written later. Twice: a mail whose connection or whose process died between
 *  the final dot and its answer (taken.ts); it is tried again with the same Message-ID, as every mail server does. */
export interface OutboundLoop {
  start(): void
  wake(): void
  /** As os/loop.ts. */
  turningMs(): number
  /** Claims nothing further and waits up to `graceMs` for attempts in progress. What is not finished then is due again at
   *  the next start, when the lease of this process ends. */
  stop(graceMs: number): Promise<void>
  underWay(): number
  /** How we stand with a site at present. */
  stateOf(site: string): SiteState
  /** The same of every site that anything was started at, as far as is remembered. */
  sites(): SiteState[]
}

const IDLE_MS = 1_000
/** One claim is one change of the store: enough to fill the workers, short enough to keep the thread free. */
const CLAIM_MAX = 100
/** A pause of a site after a failure, of the wait before the next try (which varies by a tenth). */
const PAUSE_OF_RETRY = 0.8
/** Between tries to record an outcome while the store cannot write. */
const RECORD_AGAIN_MS = 1_000

export function createOutboundLoop(deps: {
  store: Pick<Store, 'deliveries' | 'messages'>
  /** Null = it was not tried after all. */
  attempt: (job: AttemptJob) => Promise<AttemptResult | null>
  /** For test mail whose recipient clicks. */
  storedMail: Pick<StoredMail, 'part'>
  /** What came of an attempt is in the store. */
  written: (deliveryId: string) => void
  clock: WallClock
  random: Random
  mintId: MintId
  verp: Verp
  recipientParts: RecipientPartsOf
  workerId: string
  settings: {
    retryScheduleSeconds: readonly number[]
    maxAgeSeconds: number
    /** Config `sending.require_verified_domain`. */
    requireVerified: boolean
    maxInFlight: number
    maxPerDestination: number
    sites: Readonly<Record<string, ConfiguredTerms>>
    smarthost: { host: string } | null
  }
  resolver: Pick<Resolver, 'mx'>
  /** Something was told that webhooks may want. */
  wakeWebhooks: () => void
  /** A message was given up because it kept its thread too long. */
  onPoisonous?: () => void
  /** Messages of an organization ended so many threads that its mail waits. */
  onOrganizationWaits?: () => void
  /** A delivery of this message changed. */
  onChange: (messageId: string) => void
  log: Log
  mailLog: MailLog
  memory?: Memory
}): OutboundLoop {
  const { store, clock, settings, log, workerId: worker } = deps
  /** Blockers that may be gone and of which the store was not told yet. */
  const freed = new Set<string>()
  const clockChanges = watchClockChanges(clock)
  /** Ids of claimed deliveries whose result is not stored yet. */
  const underWay = new Set<string>()
  const ladder = settings.retryScheduleSeconds
  const shares = createOwnerShares(clock.steady.now)
  const admission = createAdmission({
    shares,
    sites: createSites({
      shares,
      resolver: deps.resolver,
      smarthost: settings.smarthost?.host ?? null,
      now: clock.steady.now,
      onKnown: (blockers) => {
        for (const name of blockers) freed.add(name)
        loop.wake()
      },
    }),
    clock,
    clockGoodSince: clockChanges.goodSince,
    maxInFlight: settings.maxInFlight,
    termsOf: createTermsOf(settings.sites, settings.maxPerDestination),
    longestPauseMs: (strikes) => (ladder[Math.min(strikes, ladder.length) - 1] ?? 0) * 1000 * PAUSE_OF_RETRY,
    overdueMs: settings.maxAgeSeconds * 1000,
  })
  const slots = createConcurrencyLimiter({
    total: settings.maxInFlight,
    perKey: settings.maxInFlight,
    onFree: () => loop.wake(),
  })
  let isStopping = false
  /** The second in which all that had expired was last ended. */
  let expiredIn = Number.NaN
  const giveUp = new AbortController()
  /** What waits for room waits no longer. */
  const leaving = new AbortController()
  const poisonous = createPoisonous(store.messages, {
    clock: clock.steady,
    onGivenUp: (messageId) => {
      log.error('message failed: it exceeded the CPU limit or ended its thread twice', {
        message_id: messageId,
      })
      deps.onPoisonous?.()
    },
    onWait: (organizationId) => {
      log.error('mail of one organization delayed for up to 10 min: its messages ended several threads', {
        organization_id: organizationId,
      })
      deps.onOrganizationWaits?.()
    },
  })
  const contents = createLargeContents(store.deliveries, clock, deps.memory ?? ampleMemory)

  const tick = async (): Promise<number | null> => {
    const isMore = await recovery.turn()
    await endExpired()
    const nextAt = await claim(clock.now())
    return isMore ? clock.now() : nextAt
  }

  const claim = async (now: number): Promise<number | null> => {
    const limit = Math.min(slots.free(), CLAIM_MAX)
    if (isStopping || limit === 0) return null
    for (const blocker of admission.freed()) freed.add(blocker)
    for (const blocker of freed) {
      store.deliveries.freed(blocker)
      freed.delete(blocker)
    }
    const dueAt = store.deliveries.nextDueAt(admission.look, now)
    if (dueAt === null || dueAt > now) return dueAt
    const draft = admission.draft()
    const plan = store.deliveries.planClaims({ now, limit, look: draft.look })
    const request = { now, limit, worker, contentBytes: contents.smallBytes, plan }
    const claims = await store.deliveries.claimDue(request).catch((error) => {
      store.deliveries.putBack(plan)
      throw error
    })
    const grants = draft.commit(claims.map(({ delivery }) => delivery.queue))
    claims.forEach((claim, at) => {
      begin(claim, grants[at]!)
    })
    return slots.free() === 0 ? null : store.deliveries.nextDueAt(admission.look, clock.now())
  }

  const begin = (claim: ClaimedDelivery, grant: Grant) => {
    const { id } = claim.delivery
    underWay.add(id)
    slots.start(grant.way.site, () => carry(claim, grant).finally(() => underWay.delete(id)))
  }

  /** Once a second: what expires while its site is paused or full does not wait for that to end. */
  const endExpired = async () => {
    const now = clock.now()
    const second = Math.floor(now / 1000)
    const limit = Math.min(slots.free(), CLAIM_MAX)
    if (isStopping || limit === 0 || second === expiredIn) return
    const claims = await store.deliveries.claimExpired({ now, limit, worker })
    for (const claim of claims) begin(claim, GIVEN_UP)
    if (claims.length < limit) expiredIn = second
  }

  const recovery = createQueueRecovery({
    queue: store.deliveries,
    clock,
    clockChanges,
    workerId: worker,
    underWay: () => underWay,
    onClockSet: (byMs) => log.warn('system clock changed', { by_ms: byMs }),
  })

  const loop = createLoop({
    clock,
    idleMs: IDLE_MS,
    tick,
    onError: (error) => log.error('delivery scheduler failed', { error }),
  })

  /** One claim to its record. Never rejects. */
  const carry = async (claim: ClaimedDelivery, grant: Grant): Promise<void> => {
    const startedAt = clock.steady.now()
    const waitMs = grant === GIVEN_UP ? 0 : poisonous.waitMs(claim.message.organizationId)
    if (waitMs > 0) return giveBack(claim, grant, clock.now() + waitMs)
    const ended = await attemptOrExpire(claim, grant)
    if (ended === null) return giveBack(claim, grant, clock.now())
    const tried = await poisonous.judge(claim.message, ended)
    const { outcome, attempt } = tried
    admission.ended(grant, { outcome, reached: attempt.mxHost !== null, startedAt })
    const verdict = decide(claim, outcome)
    await recordUntilWritten(toRecord(claim, tried, verdict))
  }

  /** Null when the mail was not tried. */
  const attemptOrExpire = async (claim: ClaimedDelivery, grant: Grant): Promise<Tried | null> => {
    const { expiresAt } = claim.message
    const now = clock.now()
    if (expiresAt !== null && now >= expiresAt) return expired(claim, 'expires_in', now)
    if (grant === GIVEN_UP) return expired(claim, 'max_age', now)
    if (settings.requireVerified && !maySend(claim)) return notVerified(claim, now)
    const refused = poisonous.refusal(claim.message.id)
    if (refused !== null) return untried(claim, refused, now)
    const attempted = contents.during(claim, grant.way.site, leaving.signal, async (content) => {
      // The content goes over to a thread; what a rehearsal needs of it is looked at before.
      const reactions = claim.message.mode === 'test' ? await reactionsTo(claim, content) : []
      const attempted = await deps.attempt(toJob(claim, content, grant))
      return attempted === null ? null : { ...attempted, reactions }
    })
    return attempted.catch((error) => {
      log.error('message content unreadable', { delivery_id: claim.delivery.id, error })
      return untried(claim, internalFault(error), now)
    })
  }

  /** A large mail found no room, the thread ended over another, or its organization has to wait: it is due again at `dueAt`
   *  as if nothing had been. */
  const giveBack = async ({ delivery }: ClaimedDelivery, grant: Grant, dueAt: number): Promise<void> => {
    const { id, attempts: attempt } = delivery
    admission.returned(grant)
    await store.deliveries
      .release([{ id, attempt, worker }], dueAt)
      .catch((error) =>
        log.error('delivery not released, will be due again within a minute', { delivery_id: id, error }),
      )
  }

  /** Only who clicks looks at the mail; without its HTML there is a link in its place. */
  const reactionsTo = async ({ delivery, message }: ClaimedDelivery, content: Uint8Array) => {
    const reactions = simulate(delivery.email).then
    if (!reactions.includes('clicked')) return reactions.map((reaction) => ({ reaction, html: null }))
    const html = await deps.storedMail.part(content, 'html', message.organizationId).catch((error) => {
      log.warn('test message unreadable', { delivery_id: delivery.id, error })
      return null
    })
    const text = html === null ? null : new TextDecoder().decode(html)
    return reactions.map((reaction) => ({ reaction, html: text }))
  }

  const toJob = (
    { delivery, message, signingKeys, domainName, returnPathHost, trackingHost }: ClaimedDelivery,
    content: Uint8Array,
    { way }: Grant,
  ): AttemptJob => ({
    deliveryId: delivery.id,
    messageId: message.id,
    attempt: delivery.attempts,
    recipient: delivery.email,
    returnPath: `${deps.verp.encode(delivery.id, 'bounce')}@${returnPathHost}`,
    content,
    signingKeys: isForwarded(message) ? [] : signingKeys.map((key) => ({ domain: domainName, ...key })),
    signedAt: message.scheduledAt ?? message.createdAt,
    recipientParts: deps.recipientParts(delivery.id, message, { returnPathHost, trackingHost }),
    requireTls: message.requireTls,
    mtaSts: null,
    route: { destination: way.site, mx: way.mx, ...admission.connectionsOf(way) },
    sandbox: message.mode === 'test',
  })

  const decide = ({ delivery, message }: ClaimedDelivery, outcome: Outcome): Verdict => {
    const firstAttemptAt = message.scheduledAt ?? message.createdAt
    const next = nextAttempt({
      attempt: delivery.attempts,
      firstAttemptAt: firstAttemptAt < clockChanges.goodSince() ? null : firstAttemptAt,
      now: clock.now(),
      ladderSeconds: settings.retryScheduleSeconds,
      maxAgeSeconds: settings.maxAgeSeconds,
      expiresAt: message.expiresAt,
      random: deps.random,
    })
    return verdictOf(outcome, delivery.isSoftBounceReported, next)
  }

  const toRecord = (claim: ClaimedDelivery, tried: Tried, verdict: Verdict): DeliveryRecord =>
    recordOf(claim, tried, verdict, { worker, now: clock.now(), mintId: deps.mintId })

  /** The try has happened and cannot be taken back, so its outcome must be written, however long the store refuses;
   *  only the end of a shutdown's grace ends it, after one last try. */
  const recordUntilWritten = async (record: DeliveryRecord): Promise<void> => {
    for (;;) {
      try {
        const state = await store.deliveries.record(record)
        deps.written(record.deliveryId)
        if (state === 'lease_lost')
          return log.warn('delivery result discarded: lease ended', { delivery_id: record.deliveryId })
        break
      } catch (error) {
        log.error('delivery result not recorded, will retry', { delivery_id: record.deliveryId, error })
        if (giveUp.signal.aborted) return
        await clock.sleep(RECORD_AGAIN_MS, giveUp.signal)
      }
    }
    publish(record, deps.mailLog)
    deps.onChange(record.messageId)
    deps.wakeWebhooks()
  }

  return {
    start: loop.start,
    wake: loop.wake,
    turningMs: loop.turningMs,
    stop: async (graceMs) => {
      isStopping = true
      leaving.abort()
      const grace = new AbortController()
      await loop.stop()
      await Promise.race([slots.drained(), clock.sleep(graceMs, grace.signal)])
      grace.abort()
      giveUp.abort()
    },
    underWay: () => slots.running(),
    stateOf: admission.stateOf,
    sites: admission.sites,
  }
}

/** A message past its `expires_in`, or past its age while its site had no room: no attempt starts after that. */
function expired(claim: ClaimedDelivery, rule: 'expires_in' | 'max_age', now: number): Tried {
  const cause = { class: 'expired', rule }
  const message = 'expired before it could be delivered'
  const outcome = { kind: 'bounced', bounceType: 'soft', code: '4.4.7', message, cause } as const
  return untried(claim, outcome, now)
}

/** Live mail goes out while its domain is proved, forwarded mail while it is owned. It was so when the mail was accepted; a
 *  month may lie between that and the time it is scheduled for. */
function maySend({ message, ownership }: ClaimedDelivery): boolean {
  if (message.mode === 'test' || ownership === null) return true
  return isForwarded(message) ? isOwned(ownership, true) : isReadyToSend(ownership)
}

function notVerified(claim: ClaimedDelivery, now: number): Tried {
  const cause = { class: 'not_verified', rule: 'domain_not_verified' }
  const message = `${claim.domainName} is not verified any more`
  return untried(claim, { kind: 'bounced', bounceType: 'soft', code: '5.7.1', message, cause }, now)
}

/** No thread was given the mail. */
function untried({ delivery }: ClaimedDelivery, outcome: Exclude<Outcome, { kind: 'delivered' }>, now: number): Tried {
  const attempt = notAttempted(outcome, { number: delivery.attempts, startedAt: now, endedAt: now })
  return { outcome, attempt, reactions: [] }
}

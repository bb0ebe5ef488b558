import type { Outcome } from '../../model/delivery.ts'
import { isForwarded } from '../../model/message.ts'
import { simulate } from '../../model/sandbox.ts'
import type { WarmupKey } from '../../model/warmup.ts'
import type { ClockChanges } from '../../os/clock-changes.ts'
import { ampleMemory } from '../../os/memory.ts'
import { type ClaimedDelivery, StoreUnavailable } from '../../storage/store.ts'
import type { Attempts } from './attempts.ts'
import type { DeliveryContext } from './context.ts'
import type { AttemptJob } from './job.ts'
import { createLargeContents, type LargeContents } from './large-contents.ts'
import { internalFault } from './outcome.ts'
import { PoisonMessages } from './poison-messages.ts'
import type { Tried } from './record.ts'
import { earlierRoute } from './relays/earlier-route.ts'
import type { RelayLogins } from './relays/relay.ts'
import type { RelayCounters } from './relays/relay-counters.ts'
import { Results } from './results.ts'
import { type Admission, EXPIRED, type Grant } from './schedule/admission.ts'
import { nextAttempt } from './schedule/retry-schedule.ts'
import { EXPIRED_RULE, type Verdict, verdictOf } from './schedule/verdict.ts'
import { addressFacts, sourceOf, warmupResult } from './senders/evidence.ts'
import { createFailOver, type FailOver } from './senders/fail-over.ts'
import { expired, maySend, notVerified, unattempted } from './unattempted.ts'

/** The mail was not attempted, and is due again after this time. */
interface NotNow {
  waitMs: number
}

/** The route of an attempt. `keepsRoute`: that of an earlier one. */
interface SettledRoute {
  grant: Grant
  keepsRoute: boolean
}

/** Wait after the store could not read or write. */
const UNAVAILABLE_MS = 30_000
/** Wait for the warm-up of the only address that a mail may use. */
const USED_UP_MS = 60_000

export interface DelivererParts {
  admission: Admission
  attempts: Pick<Attempts, 'attempt' | 'written'>
  clockChanges: ClockChanges
  /** Absent: no relay needs a login. */
  logins?: RelayLogins | undefined
  relayCounters?: Pick<RelayCounters, 'count'> | undefined
}

/** Carries out claimed deliveries: finds the route, makes the attempt, and records the outcome with the time of the next
 *  attempt. */
export class Deliverer {
  /** Contents up to this size come with their claims. */
  readonly smallBytes: number
  readonly #context: DeliveryContext
  readonly #parts: DelivererParts
  readonly #contents: LargeContents
  readonly #poison: PoisonMessages
  readonly #results: Results
  readonly #failOver: FailOver = createFailOver()
  /** Aborts waits for memory. */
  readonly #stopping = new AbortController()

  constructor(context: DeliveryContext, parts: DelivererParts) {
    this.#context = context
    this.#parts = parts
    this.#contents = createLargeContents(context.store.deliveries, context.clock, context.memory ?? ampleMemory)
    this.#poison = new PoisonMessages(context)
    this.#results = new Results(context, parts.attempts, parts.relayCounters)
    this.smallBytes = this.#contents.smallBytes
  }

  /** One claim up to its record. Never rejects. */
  async deliver(claim: ClaimedDelivery, granted: Grant): Promise<void> {
    if (granted !== EXPIRED && !(await this.#mayStart(claim, granted))) return
    const settled = await this.#settleRoute(claim, granted)
    if (settled === null) return
    const { grant } = settled
    const counted = grant.warmup === null ? null : await this.#countForWarmup(claim, settled)
    if (counted === 'not counted') return
    const warmup = counted === 'too old' ? null : counted
    const startedAt = this.#context.clock.steady.now()
    const loginVersion = this.#parts.logins?.version()
    const result =
      counted === 'too old' ? expired(claim, 'max_age', this.#now()) : await this.#attemptOrEnd(claim, grant)
    if ('waitMs' in result) return this.#release(claim, grant, warmup, result.waitMs)
    const tried = await this.#poison.judge(claim.message, result)
    const renewed = grant.relay === null ? null : this.#withNewLogin(claim, tried, loginVersion)
    if (renewed !== null) {
      this.#parts.admission.returned(grant, warmup)
      return this.#results.record(claim, renewed.tried, renewed.verdict)
    }
    const address = addressFacts(tried, grant)
    this.#parts.admission.ended(grant, {
      outcome: tried.outcome,
      reached: tried.attempt.mxHost !== null,
      startedAt,
      address,
      from: sourceOf(tried, grant),
      ...(warmup !== null && { warmup: { counted: warmup, result: warmupResult(tried, warmup, grant) } }),
    })
    const isBlocked = typeof address?.blockedBy === 'string'
    const again = isBlocked ? this.#anotherWay(claim, settled, tried, address.source) : null
    const verdict = again?.verdict ?? this.#decide(claim, tried.outcome)
    if (verdict.nextAttemptAt === null) this.#failOver.forget(claim.delivery)
    await this.#results.record(claim, again?.tried ?? tried, verdict)
  }

  /** Cancels attempts that still wait for memory. */
  cancelWaits(): void {
    this.#stopping.abort()
  }

  /** Makes the next write of each pending record the last one. */
  stopRecording(): void {
    this.#results.stop()
  }

  /** False if the claim has ended: its organization must wait, its recipient is suppressed by now, or the store cannot say
   *  so. */
  async #mayStart(claim: ClaimedDelivery, grant: Grant): Promise<boolean> {
    const waitMs = this.#poison.waitMs(claim.message.organizationId)
    if (waitMs > 0) {
      await this.#release(claim, grant, 'reserved', waitMs)
      return false
    }
    try {
      if (!(await this.#results.endSuppressed(claim))) return true
    } catch (error) {
      this.#context.log.error('suppressions of a recipient not read or recorded, attempt postponed', {
        delivery_id: claim.delivery.id,
        error,
      })
      await this.#release(claim, grant, 'reserved', UNAVAILABLE_MS)
      return false
    }
    this.#parts.admission.returned(grant, 'reserved')
    this.#failOver.forget(claim.delivery)
    return false
  }

  /** The final route of an attempt that a fail-over may change: that of an earlier attempt that the server may have accepted,
   *  else the granted one. A route through a relay is stored before the attempt, so that the death of this process does not
   *  hide it. Null: the store could not say or write it, and the claim is due again later. Never rejects. */
  async #settleRoute(claim: ClaimedDelivery, granted: Grant): Promise<SettledRoute | null> {
    if (granted.failOver === null) return { grant: granted, keepsRoute: false }
    const { store, clock, log } = this.#context
    const { delivery } = claim
    let grant = granted
    try {
      const earlier = await earlierRoute(delivery, store)
      const isOther = earlier !== null && earlier.relay !== (granted.relay?.name ?? null)
      if (isOther) grant = this.#parts.admission.rerouted(granted, earlier.relay)
      const relay = grant.relay?.name
      if (relay !== undefined) {
        await store.relays.begin(delivery.id, { attempt: delivery.attempts, relay, now: clock.now() })
      }
      return { grant, keepsRoute: earlier !== null }
    } catch (error) {
      log.error('route of a delivery not stored, attempt postponed', { delivery_id: delivery.id, error })
      await this.#release(claim, grant, 'reserved', UNAVAILABLE_MS)
      return null
    }
  }

  /** Counts the mail for the warm-up of its address, before anything is sent. If its allowance is used up, the mail is due
   *  again at once and waits for the next part, another address or a relay. A mail that `keepsRoute` waits for the
   *  address alone, until it is too old. While the store cannot count, it waits. */
  async #countForWarmup(
    claim: ClaimedDelivery,
    { grant, keepsRoute }: SettledRoute,
  ): Promise<WarmupKey | 'not counted' | 'too old'> {
    const counted = await this.#parts.admission.count(grant).catch((error) => {
      this.#context.log.error('mail not counted for the warm-up of its address', {
        delivery_id: claim.delivery.id,
        error,
      })
      return undefined
    })
    if (counted) return counted
    if (counted === null && keepsRoute && this.#isTooOld(claim)) return 'too old'
    const waitMs = counted === undefined ? UNAVAILABLE_MS : keepsRoute ? USED_UP_MS : 0
    await this.#release(claim, grant, null, waitMs)
    return 'not counted'
  }

  #isTooOld({ message }: ClaimedDelivery): boolean {
    const since = Math.max(message.scheduledAt ?? message.createdAt, this.#parts.clockChanges.goodSince())
    return this.#now() - since > this.#context.settings.maxAgeSeconds * 1000
  }

  /** The result of an attempt, or of a claim that needs none. */
  async #attemptOrEnd(claim: ClaimedDelivery, grant: Grant): Promise<Tried | NotNow> {
    const { settings, log } = this.#context
    const { expiresAt } = claim.message
    const now = this.#now()
    if (expiresAt !== null && now >= expiresAt) return expired(claim, EXPIRED_RULE, now)
    if (grant === EXPIRED) return expired(claim, 'max_age', now)
    if ((settings.requireVerified || claim.ownership === null) && !maySend(claim)) return notVerified(claim, now)
    const refusal = this.#poison.refusal(claim.message.id)
    if (refusal !== null) return unattempted(claim, refusal, now)
    return this.#attempt(claim, grant).catch((error) => {
      log.error('message content unreadable', { delivery_id: claim.delivery.id, error })
      const isUnavailable = error instanceof StoreUnavailable
      return isUnavailable ? { waitMs: UNAVAILABLE_MS } : unattempted(claim, internalFault(error), now)
    })
  }

  async #attempt(claim: ClaimedDelivery, grant: Grant): Promise<Tried | NotNow> {
    const held = await this.#contents.hold(claim, grant.route.destination, this.#stopping.signal)
    if (held === null) return { waitMs: 0 }
    try {
      // The content is transferred to a thread, so the simulation reads what it needs before.
      const reactions = claim.message.mode === 'test' ? await this.#reactionsTo(claim, held.content) : []
      const attempted = await this.#parts.attempts.attempt(this.#jobOf(claim, held.content, grant))
      return attempted === null ? { waitMs: 0 } : { ...attempted, reactions }
    } finally {
      held.leave()
    }
  }

  /** Only a simulated click reads the mail; without HTML it uses a placeholder link. */
  async #reactionsTo({ delivery, message }: ClaimedDelivery, content: Uint8Array): Promise<Tried['reactions']> {
    const { storedMail, log } = this.#context
    const reactions = simulate(delivery.email).then
    if (!reactions.includes('clicked')) return reactions.map((reaction) => ({ reaction, html: null }))
    const html = await storedMail.part(content, 'html', message.organizationId).catch((error) => {
      log.warn('test message unreadable', { delivery_id: delivery.id, error })
      return null
    })
    const text = html === null ? null : new TextDecoder().decode(html)
    return reactions.map((reaction) => ({ reaction, html: text }))
  }

  #jobOf(claim: ClaimedDelivery, content: Uint8Array, grant: Grant): AttemptJob {
    const { route, key, sender, relay } = grant
    const { delivery, message, signingKeys, domainName, returnPathHost, trackingHost } = claim
    const { verp, recipientParts } = this.#context
    return {
      deliveryId: delivery.id,
      messageId: message.id,
      attempt: delivery.attempts,
      recipient: delivery.email,
      returnPath: `${verp.encode(delivery.id, 'bounce')}@${returnPathHost}`,
      content,
      signingKeys: isForwarded(message) ? [] : signingKeys.map((key) => ({ domain: domainName, ...key })),
      signedAt: message.scheduledAt ?? message.createdAt,
      recipientParts: recipientParts(delivery.id, message, { returnPathHost, trackingHost }),
      requireTls: message.requireTls,
      mtaSts: null,
      route: {
        destination: key,
        ...(relay !== null && { relay }),
        mx: route.mx,
        ...this.#parts.admission.connectionsOf(grant),
        ...(sender !== null && { sender }),
      },
      sandbox: message.mode === 'test',
    }
  }

  /** A relay that refused the login is no trouble if its password has changed since `version`: the mail is due again at
   *  once. Null if it has not, or there was another result. */
  #withNewLogin({ delivery }: ClaimedDelivery, tried: Tried, version: number | undefined) {
    const { logins } = this.#parts
    const { outcome } = tried
    if (logins === undefined || outcome.kind !== 'deferred' || outcome.cause.class !== 'login') return null
    logins.refresh()
    if (logins.version() === version) return null
    return this.#failOver.retry(delivery, tried, 'the password has changed; the relay is tried at once', this.#now())
  }

  /** What follows at once if the destination blocks the address `source`; null: nothing else can send the mail there. */
  #anotherWay(claim: ClaimedDelivery, { grant, keepsRoute }: SettledRoute, tried: Tried, source: string) {
    const alternative = this.#parts.admission.alternative(grant, source, !keepsRoute)
    if (alternative === null) return null
    const next = alternative === 'address' ? 'another address' : `the relay ${grant.failOver}`
    const { outcome } = tried
    const rule = outcome.kind === 'delivered' ? '' : outcome.cause.rule
    const note = `${source || 'this server'} cannot send there (${rule}) and rests; ${next} is tried at once`
    return this.#failOver.retry(claim.delivery, tried, note, this.#now())
  }

  #decide({ delivery, message }: ClaimedDelivery, outcome: Outcome): Verdict {
    const { settings, random } = this.#context
    const firstAttemptAt = message.scheduledAt ?? message.createdAt
    const next = nextAttempt({
      // Attempts after which another address took over are no waits of the schedule.
      attempt: delivery.attempts - this.#failOver.countOf(delivery),
      firstAttemptAt: firstAttemptAt < this.#parts.clockChanges.goodSince() ? null : firstAttemptAt,
      now: this.#now(),
      scheduleSeconds: settings.retryScheduleSeconds,
      maxAgeSeconds: settings.maxAgeSeconds,
      expiresAt: message.expiresAt,
      random,
    })
    return verdictOf(outcome, delivery.isSoftBounceReported, next, settings.hardBounces)
  }

  /** Makes a claim due again after `waitMs` without counting it: there was no memory for a large mail, its content could not
   *  be read at present, another job ended the thread, its organization must wait, or its address may send no more now. */
  #release(
    claim: ClaimedDelivery,
    grant: Grant,
    counted: WarmupKey | 'reserved' | null,
    waitMs: number,
  ): Promise<void> {
    this.#parts.admission.returned(grant, counted)
    return this.#results.release(claim, this.#now() + waitMs)
  }

  #now(): number {
    return this.#context.clock.now()
  }
}

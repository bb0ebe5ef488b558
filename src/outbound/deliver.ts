import type { RecipientPartsOf } from '../mail/recipient-parts.ts'
import type { StoredMail } from '../mail/shown-content.ts'
import type { Verp } from '../mail/verp.ts'
import type { Outcome } from '../model/delivery.ts'
import { isOwned, isReadyToSend } from '../model/domain.ts'
import type { AddressClass } from '../model/hard-bounces.ts'
import { isForwarded } from '../model/message.ts'
import { INSTALLATION } from '../model/organization.ts'
import type { WarmupKey } from '../model/warmup.ts'
import type { WallClock } from '../os/clock.ts'
import type { ClockChanges } from '../os/clock-changes.ts'
import type { MintId } from '../os/ids.ts'
import type { Log } from '../os/log.ts'
import type { MailLog } from '../os/mail-log.ts'
import { ampleMemory, type Memory } from '../os/memory.ts'
import type { Notify } from '../os/notifier.ts'
import type { Random } from '../os/random.ts'
import { type ClaimedDelivery, type DeliveryRecord, type Store, StoreUnavailable } from '../storage/store.ts'
import type { AttemptJob, AttemptResult } from './job.ts'
import { createLargeContents, type LargeContents } from './large-contents.ts'
import { notAttempted } from './not-attempted.ts'
import { internalFault } from './outcome.ts'
import { createPoisonous, type Poisonous } from './poison-messages.ts'
import { publish, recordOf, type Tried } from './record.ts'
import { keptRoute } from './relays/kept-route.ts'
import { simulate } from './sandbox.ts'
import { type Admission, type Ending, GIVEN_UP, type Grant } from './schedule/admission.ts'
import { destinationOfHost } from './schedule/destination.ts'
import { nextAttempt } from './schedule/retry-schedule.ts'
import { EXPIRED_RULE, type Verdict, verdictOf } from './schedule/verdict.ts'
import { createFailOver, type FailOver } from './senders/fail-over.ts'
import { SYSTEM_ADDRESS } from './senders/rests.ts'
import type { WarmupResult } from './senders/warmups.ts'
import { suppressedSince } from './suppressed-since.ts'

export interface DelivererDeps {
  store: Pick<Store, 'deliveries' | 'messages' | 'relays' | 'suppressions'>
  admission: Pick<Admission, 'connectionsOf' | 'count' | 'ended' | 'otherWay' | 'rerouted' | 'returned'>
  /** Attempts a job; null = it was not attempted. */
  attempt: (job: AttemptJob) => Promise<AttemptResult | null>
  /** Needed for test mail whose recipient clicks. */
  storedMail: Pick<StoredMail, 'part'>
  /** Called once the result of an attempt is stored. */
  written: (deliveryId: string) => void
  clock: WallClock
  clockGoodSince: ClockChanges['goodSince']
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
    /** Config `sending.hard_bounces`. */
    hardBounces: readonly AddressClass[]
  }
  /** Passwords of relays: `refresh` reads them again, `version` increases when one has changed. */
  logins?: { version(): number; refresh(): void }
  /** Called once the result of an attempt through a relay is stored. */
  onRelayed?: (relay: string, outcome: Outcome) => void
  notify: Notify
  /** Called when a message was given up because it blocked its thread too long. */
  onPoisonous?: () => void
  /** Called when messages of an organization ended so many threads that its mail must wait. */
  onOrganizationWaits?: () => void
  log: Log
  mailLog: MailLog
  memory?: Memory
}

/** The mail was not attempted, and is due again after this time. */
interface NotNow {
  waitMs: number
}

/** The route of an attempt. `isKept`: that of an earlier one. `waitMs`: it could not be settled, and is due again then. */
interface SettledRoute {
  grant: Grant
  isKept: boolean
  waitMs: number
}

/** Wait after the store could not read a content. */
const UNAVAILABLE_MS = 30_000
/** Wait for the warm-up of the only address that a mail may use. */
const USED_UP_MS = 60_000

/** Carries out claimed deliveries: attempt → outcome → next attempt → record. */
export class Deliverer {
  /** Contents up to this size come with their claims. */
  readonly smallBytes: number
  readonly #deps: DelivererDeps
  readonly #contents: LargeContents
  readonly #poisonous: Poisonous
  readonly #failOver: FailOver = createFailOver()
  /** Aborts waits for memory. */
  readonly #leaving = new AbortController()
  readonly #giveUp = new AbortController()

  constructor(deps: DelivererDeps) {
    this.#deps = deps
    this.#contents = createLargeContents(deps.store.deliveries, deps.clock, deps.memory ?? ampleMemory)
    this.#poisonous = poisonousOf(deps)
    this.smallBytes = this.#contents.smallBytes
  }

  /** One claim up to its record. Never rejects. */
  async deliver(claim: ClaimedDelivery, granted: Grant): Promise<void> {
    const { clock, admission } = this.#deps
    const waitMs = granted === GIVEN_UP ? 0 : this.#poisonous.waitMs(claim.message.organizationId)
    if (waitMs > 0) return this.#giveBack(claim, granted, 'reserved', clock.now() + waitMs)
    if (granted !== GIVEN_UP && (await this.#endSuppressed(claim, granted))) return
    const { grant, isKept, waitMs: storeWaitMs } = await this.#settleRoute(claim, granted)
    if (storeWaitMs > 0) return this.#giveBack(claim, grant, 'reserved', clock.now() + storeWaitMs)
    const counted = grant.warmup === null ? null : await this.#count(claim, grant, isKept)
    if (counted === 'not counted') return
    const startedAt = clock.steady.now()
    const loginVersion = this.#deps.logins?.version()
    const ended =
      counted === 'too old' ? expired(claim, 'max_age', clock.now()) : await this.#attemptOrExpire(claim, grant)
    const key = counted === 'too old' ? null : counted
    if ('waitMs' in ended) return this.#giveBack(claim, grant, key, clock.now() + ended.waitMs)
    const tried = await this.#poisonous.judge(claim.message, ended)
    const renewed = grant.relay === null ? null : this.#tryNewLogin(claim, tried, loginVersion)
    if (renewed !== null) {
      admission.returned(grant, key)
      return this.#recordUntilWritten(this.#toRecord(claim, renewed.tried, renewed.verdict))
    }
    const { outcome, attempt } = tried
    const address = addressFacts(tried, grant)
    admission.ended(grant, {
      outcome,
      reached: attempt.mxHost !== null,
      startedAt,
      address,
      from: sourceOf(tried, grant),
      ...(key !== null && { warmup: { counted: key, result: warmupResult(tried, key, grant) } }),
    })
    const again =
      typeof address?.blockedBy === 'string' ? this.#tryOtherWay(claim, grant, tried, address.source, !isKept) : null
    const verdict = again?.verdict ?? this.#decide(claim, outcome)
    if (verdict.nextAttemptAt === null) this.#failOver.forget(claim.delivery)
    await this.#recordUntilWritten(this.#toRecord(claim, again?.tried ?? tried, verdict))
  }

  /** Ends a claim whose recipient is suppressed by now → true: no attempt follows. While the store cannot say or write it,
   *  the claim is due again later. Never rejects. */
  async #endSuppressed(claim: ClaimedDelivery, grant: Grant): Promise<boolean> {
    const { store, admission, clock, mintId, log, mailLog, notify } = this.#deps
    const { delivery, message, worker } = claim
    try {
      const event = await suppressedSince(claim, store, mintId, clock.now())
      if (event === null) return false
      const held = { id: delivery.id, attempt: delivery.attempts, worker }
      const state = await store.deliveries.recordSuppressed(held, event)
      if (state === 'recorded') mailLog.suppressed({ message: message.id, recipients: 1 })
    } catch (error) {
      log.error('suppressions of a recipient not read or recorded, attempt postponed', {
        delivery_id: delivery.id,
        error,
      })
      await this.#giveBack(claim, grant, 'reserved', clock.now() + UNAVAILABLE_MS)
      return true
    }
    admission.returned(grant, 'reserved')
    this.#failOver.forget(delivery)
    notify(`message ${message.id}`)
    notify('webhook deliveries')
    return true
  }

  #tryOtherWay(claim: ClaimedDelivery, grant: Grant, tried: Tried, source: string, mayRelay: boolean) {
    const { admission, clock } = this.#deps
    const way = admission.otherWay(grant, source, mayRelay)
    if (way === null) return null
    const next = way === 'address' ? 'another address' : `the relay ${grant.failOver}`
    const { outcome } = tried
    const rule = outcome.kind === 'delivered' ? '' : outcome.cause.rule
    const note = `${source || 'this server'} cannot send there (${rule}) and rests; ${next} is tried at once`
    return this.#failOver.retry(claim.delivery, tried, note, clock.now())
  }

  /** A relay that refused the login is no trouble if its password has changed since `version`: the mail is due again at
   *  once. Null if it has not, or there was another result. */
  #tryNewLogin({ delivery }: ClaimedDelivery, tried: Tried, version: number | undefined) {
    const { logins, clock } = this.#deps
    const { outcome } = tried
    if (logins === undefined || outcome.kind !== 'deferred' || outcome.cause.class !== 'login') return null
    logins.refresh()
    if (logins.version() === version) return null
    return this.#failOver.retry(delivery, tried, 'the password has changed; the relay is tried at once', clock.now())
  }

  /** The final route of an attempt that a fail-over may change: that of an earlier attempt that the server may have accepted,
   *  else the granted one. A route through a relay is stored before the attempt, so that the death of this process does not
   *  hide it. Never rejects. */
  async #settleRoute(claim: ClaimedDelivery, granted: Grant): Promise<SettledRoute> {
    if (granted.failOver === null) return { grant: granted, isKept: false, waitMs: 0 }
    const { store, admission, clock, log } = this.#deps
    const { delivery } = claim
    let grant = granted
    try {
      const kept = await keptRoute(delivery, store)
      if (kept !== null && kept.relay !== (granted.relay?.name ?? null)) grant = admission.rerouted(granted, kept.relay)
      const relay = grant.relay?.name
      if (relay !== undefined) {
        await store.relays.begin(delivery.id, { attempt: delivery.attempts, relay, now: clock.now() })
      }
      return { grant, isKept: kept !== null, waitMs: 0 }
    } catch (error) {
      log.error('route of a delivery not stored, attempt postponed', { delivery_id: delivery.id, error })
      return { grant, isKept: false, waitMs: UNAVAILABLE_MS }
    }
  }

  /** Cancels attempts that still wait for memory. */
  leave(): void {
    this.#leaving.abort()
  }

  /** Makes the next write of each pending record the last one. */
  giveUp(): void {
    this.#giveUp.abort()
  }

  /** Counts the mail for the warm-up of its address, before anything is sent. If its allowance is used up, the mail is due
   *  again at once and waits for the next part, another address or a relay. A mail that must keep its route (`isKept`) waits
   *  for the address alone, until it is too old. While the store cannot count, it waits. */
  async #count(claim: ClaimedDelivery, grant: Grant, isKept: boolean): Promise<WarmupKey | 'not counted' | 'too old'> {
    const { admission, clock, log } = this.#deps
    const counted = await admission.count(grant).catch((error) => {
      log.error('mail not counted for the warm-up of its address', { delivery_id: claim.delivery.id, error })
      return undefined
    })
    if (counted) return counted
    if (counted === null && isKept && this.#isTooOld(claim)) return 'too old'
    const waitMs = counted === undefined ? UNAVAILABLE_MS : isKept ? USED_UP_MS : 0
    await this.#giveBack(claim, grant, null, clock.now() + waitMs)
    return 'not counted'
  }

  #isTooOld({ message }: ClaimedDelivery): boolean {
    const { clock, clockGoodSince, settings } = this.#deps
    const since = Math.max(message.scheduledAt ?? message.createdAt, clockGoodSince())
    return clock.now() - since > settings.maxAgeSeconds * 1000
  }

  async #attemptOrExpire(claim: ClaimedDelivery, grant: Grant): Promise<Tried | NotNow> {
    const { clock, settings, log } = this.#deps
    const { expiresAt } = claim.message
    const now = clock.now()
    if (expiresAt !== null && now >= expiresAt) return expired(claim, EXPIRED_RULE, now)
    if (grant === GIVEN_UP) return expired(claim, 'max_age', now)
    if ((settings.requireVerified || claim.ownership === null) && !maySend(claim)) return notVerified(claim, now)
    const refused = this.#poisonous.refusal(claim.message.id)
    if (refused !== null) return untried(claim, refused, now)
    return this.#attempt(claim, grant).catch((error) => {
      const isUnavailable = error instanceof StoreUnavailable
      log.error('message content unreadable', { delivery_id: claim.delivery.id, error })
      return isUnavailable ? { waitMs: UNAVAILABLE_MS } : untried(claim, internalFault(error), now)
    })
  }

  async #attempt(claim: ClaimedDelivery, grant: Grant): Promise<Tried | NotNow> {
    const held = await this.#contents.hold(claim, grant.route.destination, this.#leaving.signal)
    if (held === null) return { waitMs: 0 }
    try {
      // The content is transferred to a thread, so the simulation reads what it needs before.
      const reactions = claim.message.mode === 'test' ? await this.#reactionsTo(claim, held.content) : []
      const attempted = await this.#deps.attempt(this.#toJob(claim, held.content, grant))
      return attempted === null ? { waitMs: 0 } : { ...attempted, reactions }
    } finally {
      held.leave()
    }
  }

  /** Makes a claim due again at `dueAt` without counting it: there was no memory for a large mail, its content could not
   *  be read at present, another job ended the thread, its organization must wait, or its address may send no more now. */
  async #giveBack(
    { delivery }: ClaimedDelivery,
    grant: Grant,
    counted: Parameters<Admission['returned']>[1],
    dueAt: number,
  ): Promise<void> {
    const { store, admission, log, workerId: worker } = this.#deps
    const { id, attempts: attempt } = delivery
    admission.returned(grant, counted)
    await store.deliveries
      .release([{ id, attempt, worker }], dueAt)
      .catch((error) =>
        log.error('delivery not released, will be due again within a minute', { delivery_id: id, error }),
      )
  }

  /** Only a simulated click reads the mail; without HTML it uses a placeholder link. */
  async #reactionsTo({ delivery, message }: ClaimedDelivery, content: Uint8Array): Promise<Tried['reactions']> {
    const { storedMail, log } = this.#deps
    const reactions = simulate(delivery.email).then
    if (!reactions.includes('clicked')) return reactions.map((reaction) => ({ reaction, html: null }))
    const html = await storedMail.part(content, 'html', message.organizationId).catch((error) => {
      log.warn('test message unreadable', { delivery_id: delivery.id, error })
      return null
    })
    const text = html === null ? null : new TextDecoder().decode(html)
    return reactions.map((reaction) => ({ reaction, html: text }))
  }

  #toJob(claim: ClaimedDelivery, content: Uint8Array, grant: Grant): AttemptJob {
    const { route, key, sender, relay } = grant
    const { delivery, message, signingKeys, domainName, returnPathHost, trackingHost } = claim
    const { verp, recipientParts, admission } = this.#deps
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
        ...admission.connectionsOf(grant),
        ...(sender !== null && { sender }),
      },
      sandbox: message.mode === 'test',
    }
  }

  #decide({ delivery, message }: ClaimedDelivery, outcome: Outcome): Verdict {
    const { settings, clock, clockGoodSince, random } = this.#deps
    const firstAttemptAt = message.scheduledAt ?? message.createdAt
    const next = nextAttempt({
      // Attempts after which another address took over are no waits of the schedule.
      attempt: delivery.attempts - this.#failOver.countOf(delivery),
      firstAttemptAt: firstAttemptAt < clockGoodSince() ? null : firstAttemptAt,
      now: clock.now(),
      scheduleSeconds: settings.retryScheduleSeconds,
      maxAgeSeconds: settings.maxAgeSeconds,
      expiresAt: message.expiresAt,
      random,
    })
    return verdictOf(outcome, delivery.isSoftBounceReported, next, settings.hardBounces)
  }

  #toRecord(claim: ClaimedDelivery, tried: Tried, verdict: Verdict): DeliveryRecord {
    const { workerId: worker, clock, mintId } = this.#deps
    return recordOf(claim, tried, verdict, { worker, now: clock.now(), mintId })
  }

  /** The attempt was made and cannot be undone, so its result must be written, however long the store refuses. Only
   *  the end of the grace period of a shutdown stops this, after one last try. */
  async #recordUntilWritten(record: DeliveryRecord): Promise<void> {
    const { store, written, log, clock, mailLog, notify } = this.#deps
    for (;;) {
      try {
        const state = await store.deliveries.record(record)
        written(record.deliveryId)
        if (state === 'lease_lost')
          return log.warn('delivery result discarded: lease ended', { delivery_id: record.deliveryId })
        break
      } catch (error) {
        log.error('delivery result not recorded, will retry', { delivery_id: record.deliveryId, error })
        if (this.#giveUp.signal.aborted) return
        await clock.sleep(RECORD_AGAIN_MS, this.#giveUp.signal)
      }
    }
    publish(record, mailLog)
    if (record.attempt.relay !== undefined) this.#deps.onRelayed?.(record.attempt.relay.name, record.outcome)
    notify(`message ${record.messageId}`)
    notify('webhook deliveries')
  }
}

/** Interval of tries to record a result while the store cannot write. */
const RECORD_AGAIN_MS = 1_000

function poisonousOf({ store, clock, log, onPoisonous, onOrganizationWaits }: DelivererDeps): Poisonous {
  return createPoisonous(store.messages, {
    clock: clock.steady,
    onGivenUp: (messageId) => {
      log.error('message failed: it exceeded the CPU limit or crashed its thread twice', {
        message_id: messageId,
      })
      onPoisonous?.()
    },
    onWait: (organizationId) => {
      log.error(
        'mail of one organization delayed for up to 10 min: its messages crashed or timed out several threads',
        {
          organization_id: organizationId,
        },
      )
      onOrganizationWaits?.()
    },
  })
}

/** The configured address of an attempt; undefined if the system chose it, or nothing was connected. */
function sourceOf({ attempt, blockedSource }: Tried, { sender }: Grant): string | undefined {
  return sender === null ? undefined : (attempt.sourceAddress ?? blockedSource)
}

/** What the attempt of a counted mail means for the warm-up. A mail that left from an address of the other family, or for
 *  which nothing was connected, was not sent from the counted one. Only the destination's own hosts are evidence. */
function warmupResult(
  { outcome, attempt, blockedSource }: Tried,
  { address }: WarmupKey,
  { route }: Grant,
): WarmupResult {
  const { mxHost, sourceAddress, reply } = attempt
  if (outcome.kind === 'unknown') return 'other'
  if (sourceAddress === null || sourceAddress.includes(':') !== address.includes(':')) return 'unused'
  if (mxHost === null || destinationOfHost(mxHost) !== route.destination) return 'other'
  if (outcome.kind === 'delivered') return 'delivered'
  if (blockedSource !== undefined) return 'blocked'
  return outcome.kind === 'deferred' && !outcome.aboutRecipient && reply !== null ? 'deferred' : 'other'
}

/** What a host of the destination showed about the address that the mail was sent from. Hosts elsewhere, such as a second
 *  MX host that a domain has beside those of its provider, say nothing about the destination. */
function addressFacts({ outcome, attempt, blockedSource }: Tried, grant: Grant): Ending['address'] {
  const { sender, relay, failOver, route } = grant
  const { mxHost } = attempt
  if (relay !== null || (sender === null && failOver === null)) return undefined
  if (mxHost === null || destinationOfHost(mxHost) !== route.destination) return undefined
  if (outcome.kind !== 'delivered') {
    return blockedSource === undefined ? undefined : { source: blockedSource, blockedBy: outcome.cause.rule }
  }
  const sourceAddress = sender === null ? SYSTEM_ADDRESS : attempt.sourceAddress
  return sourceAddress === null ? undefined : { source: sourceAddress, blockedBy: null }
}

/** Outcome of a message past its `expires_in`, or past its maximum age while its destination was full: no attempt
 *  starts after that. */
function expired(claim: ClaimedDelivery, rule: typeof EXPIRED_RULE | 'max_age', now: number): Tried {
  const cause = { class: 'expired', rule }
  const message = 'expired before it could be delivered'
  const outcome = { kind: 'bounced', bounceType: 'soft', code: '4.4.7', message, cause } as const
  return untried(claim, outcome, now)
}

/** True if live mail may be sent: its domain must be verified, or owned for forwarded mail. This was checked at
 *  acceptance, but a scheduled message may wait for a month. A domain with open messages of its organization cannot be
 *  removed, but mail of the installation does not hold it. */
function maySend({ message, ownership }: ClaimedDelivery): boolean {
  if (message.mode === 'test') return true
  if (ownership === null) return message.organizationId !== INSTALLATION
  return isForwarded(message) ? isOwned(ownership, true) : isReadyToSend(ownership)
}

function notVerified(claim: ClaimedDelivery, now: number): Tried {
  const cause = { class: 'not_verified', rule: 'domain_not_verified' }
  const message = `${claim.domainName || 'the domain of the sender'} is no longer verified`
  return untried(claim, { kind: 'bounced', bounceType: 'soft', code: '5.7.1', message, cause }, now)
}

/** Result without an attempt: no thread received the mail. */
function untried({ delivery }: ClaimedDelivery, outcome: Exclude<Outcome, { kind: 'delivered' }>, now: number): Tried {
  const attempt = notAttempted(outcome, { number: delivery.attempts, startedAt: now, endedAt: now })
  return { outcome, attempt, reactions: [] }
}

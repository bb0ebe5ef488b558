import type { OwnPartsOf } from '../mail/own-parts.ts'
import { formatReply } from '../mail/reply.ts'
import { shownHtml } from '../mail/shown-content.ts'
import type { Verp } from '../mail/verp.ts'
import type { Attempt, Outcome } from '../model/delivery.ts'
import { messageEvent, outcomeEvents } from '../model/event.ts'
import { isForwarded } from '../model/message.ts'
import { type Reaction, reactionEvent } from '../model/reaction.ts'
import { suppressionOf } from '../model/suppression.ts'
import type { Clock } from '../platform/clock.ts'
import type { MintId } from '../platform/ids.ts'
import type { Log } from '../platform/log.ts'
import { createLoop } from '../platform/loop.ts'
import type { MailLog } from '../platform/maillog.ts'
import type { Random } from '../platform/random.ts'
import { createSlots } from '../platform/slots.ts'
import type { ClaimedDelivery, DeliveryRecord, Store } from '../storage/store.ts'
import { createAllowance } from './allowance.ts'
import type { AttemptJob, AttemptResult } from './job.ts'
import { simulate } from './sandbox.ts'
import { nextAttempt } from './schedule.ts'
import { type Verdict, verdictOf } from './verdict.ts'

/** The delivery engine: claim what is due, have a worker try it, record what came of it, say when next.
 *
 *  Retried: every temporary failure, by the schedule. Lost: nothing; a claim is counted in the store before the try,
 *  and a record that cannot be written is written later. Twice: a mail whose connection or whose process died between
 *  the final dot and our record; it is tried again with the same Message-ID, as every mail server does. */
export interface OutboundLoop {
  start(): void
  wake(): void
  /** No further claims; waits up to `graceMs` for what is under way. What is not finished then stays leased and is
   *  taken up again at the next start. */
  stop(graceMs: number): Promise<void>
  underWay(): number
  /** Deliveries of a destination under way, and how many there may be at present. */
  loadOf(destination: string): { limit: number; underWay: number }
}

/** Longer than the longest attempt: ten minutes at the final dot of each of a few hosts. */
const LEASE_MS = 60 * 60_000
const IDLE_MS = 1_000
/** One claim is one change of the store: enough to fill the workers, short enough to keep the thread free. */
const CLAIM_MAX = 100
/** Between tries to record an outcome while the store cannot write. */
const RECORD_AGAIN_MS = 1_000

export function createOutboundLoop(house: {
  store: Pick<Store, 'deliveries'>
  attempt: (job: AttemptJob) => Promise<AttemptResult>
  clock: Clock
  random: Random
  mintId: MintId
  verp: Verp
  ownParts: OwnPartsOf
  workerId: string
  settings: {
    retryScheduleSeconds: readonly number[]
    maxAgeSeconds: number
    maxInFlight: number
    maxPerDestination: number
  }
  /** Something was told that webhooks may want. */
  wakeWebhooks: () => void
  /** A delivery of this message changed. */
  onChange: (messageId: string) => void
  log: Log
  mailLog: MailLog
}): OutboundLoop {
  const { store, clock, settings, log } = house
  const allowance = createAllowance(settings)
  const slots = createSlots({
    total: settings.maxInFlight,
    perKey: allowance.limitFor,
    onFree: () => loop.wake(),
  })
  let isStopping = false
  const giveUp = new AbortController()

  const tick = async (): Promise<number | null> => {
    const limit = Math.min(slots.free(), CLAIM_MAX)
    if (isStopping || limit === 0) return null
    const now = clock.now()
    const dueAt = store.deliveries.nextDueAt(slots.freeFor)
    if (dueAt === null || dueAt > now) return dueAt
    const claims = await store.deliveries.claimDue({
      now,
      limit,
      lease: { worker: house.workerId, until: now + LEASE_MS },
      freeFor: slots.freeFor,
    })
    for (const claim of claims) {
      allowance.started(claim.delivery.destination)
      slots.start(claim.delivery.destination, () => carry(claim))
    }
    return slots.free() === 0 ? null : store.deliveries.nextDueAt(slots.freeFor)
  }

  const loop = createLoop({
    clock,
    idleMs: IDLE_MS,
    tick,
    onError: (error) => log.error('outbound turn failed', { error }),
  })

  /** One claim to its record. Never rejects. */
  const carry = async (claim: ClaimedDelivery): Promise<void> => {
    const { outcome, attempt } = await attemptOrExpire(claim)
    allowance.ended(claim.delivery.destination, outcome)
    const verdict = decide(claim, outcome)
    await recordUntilWritten(toRecord(claim, attempt, verdict))
  }

  const attemptOrExpire = async (claim: ClaimedDelivery): Promise<{ outcome: Outcome; attempt: Attempt }> => {
    const { expiresAt } = claim.message
    if (expiresAt !== null && clock.now() >= expiresAt) return expired(claim, clock.now())
    return house.attempt(toJob(claim))
  }

  const toJob = ({
    delivery,
    message,
    content,
    signingKeys,
    domainName,
    returnPathHost,
    trackingHost,
  }: ClaimedDelivery): AttemptJob => ({
    deliveryId: delivery.id,
    messageId: message.id,
    attempt: delivery.attempts,
    recipient: delivery.email,
    returnPath: `${house.verp.encode(delivery.id, 'bounce')}@${returnPathHost}`,
    content,
    signingKeys: isForwarded(message) ? [] : signingKeys.map((key) => ({ domain: domainName, ...key })),
    signedAt: message.scheduledAt ?? message.createdAt,
    own: house.ownParts(delivery.id, message, { returnPathHost, trackingHost }),
    requireTls: message.requireTls,
    mtaSts: null,
    sandbox: message.mode === 'test',
  })

  const decide = ({ delivery, message }: ClaimedDelivery, outcome: Outcome): Verdict => {
    const next = nextAttempt({
      attempt: delivery.attempts,
      firstAttemptAt: message.scheduledAt ?? message.createdAt,
      now: clock.now(),
      ladderSeconds: settings.retryScheduleSeconds,
      maxAgeSeconds: settings.maxAgeSeconds,
      expiresAt: message.expiresAt,
      random: house.random,
    })
    return verdictOf(outcome, delivery.softBounceTold, next)
  }

  const toRecord = (claim: ClaimedDelivery, attempt: Attempt, verdict: Verdict): DeliveryRecord => {
    const { delivery, message } = claim
    const now = clock.now()
    const response = responseOf(verdict.told)
    const told = outcomeEvents(verdict.told, {
      at: now,
      attempt: attempt.number,
      nextAttemptAt: verdict.nextAttemptAt,
      response,
      bounceNow: verdict.bounceNow,
    })
    const reactions = message.mode === 'test' && verdict.status === 'delivered' ? reactionsTo(claim) : []
    const events = [...told, ...reactions.map(({ reaction, html }) => reactionEvent(reaction, now, html))]
    // Ids of one millisecond are in no order; events are, for whoever sorts by id.
    const ids = events.map(() => house.mintId('evt')).sort()
    return {
      deliveryId: delivery.id,
      messageId: message.id,
      worker: house.workerId,
      attempt,
      outcome: verdict.told,
      status: verdict.status,
      nextAttemptAt: verdict.nextAttemptAt,
      smtpResponse: response,
      softBounceTold: verdict.bounceNow,
      opens: reactions.filter(({ reaction }) => reaction === 'opened').length,
      clicks: reactions.filter(({ reaction }) => reaction === 'clicked').length,
      events: events.map(({ type, fields }, i) => messageEvent(ids[i]!, type, message, delivery.email, now, fields)),
      // An address that bounced in a rehearsal still gets live mail.
      suppression:
        verdict.suppresses && message.mode === 'live'
          ? suppressionOf(house.mintId('sup'), 'hard_bounce', message, delivery.email, now)
          : null,
      now,
    }
  }

  /** The try has happened and cannot be taken back, so its outcome must be written, however long the store refuses;
   *  only the end of a shutdown's grace ends it, after one last try. */
  const recordUntilWritten = async (record: DeliveryRecord): Promise<void> => {
    for (;;) {
      try {
        const state = await store.deliveries.record(record)
        if (state === 'lease_lost') return log.warn('outcome came after its lease', { delivery_id: record.deliveryId })
        break
      } catch (error) {
        log.error('outcome not recorded yet', { delivery_id: record.deliveryId, error })
        if (giveUp.signal.aborted) return
        await clock.sleep(RECORD_AGAIN_MS, giveUp.signal)
      }
    }
    tell(record)
    house.onChange(record.messageId)
    house.wakeWebhooks()
  }

  const tell = ({ attempt, outcome, messageId, deliveryId, nextAttemptAt, smtpResponse }: DeliveryRecord) => {
    const fact = {
      message: messageId,
      delivery: deliveryId,
      attempt: attempt.number,
      host: attempt.mxHost,
      durationMs: attempt.durationMs,
      reply: smtpResponse,
    }
    if (outcome.kind === 'delivered') house.mailLog.delivered(fact)
    else if (outcome.kind === 'bounced') house.mailLog.bounced({ ...fact, type: outcome.bounceType })
    else house.mailLog.deferred({ ...fact, nextAttemptAt })
  }

  return {
    start: loop.start,
    wake: loop.wake,
    stop: async (graceMs) => {
      isStopping = true
      const grace = new AbortController()
      await loop.stop()
      await Promise.race([slots.drained(), clock.sleep(graceMs, grace.signal)])
      grace.abort()
      giveUp.abort()
    },
    underWay: () => slots.running(),
    loadOf: (destination) => ({ limit: allowance.limitFor(destination), underWay: slots.running(destination) }),
  }
}

/** What the peer, or we in its place, had to say. */
function responseOf(outcome: Outcome): string {
  return outcome.kind === 'delivered' ? formatReply(outcome.reply) : outcome.message
}

/** A message past its `expires_in`, found before any connection was made: no attempt starts after that. */
function expired({ delivery }: ClaimedDelivery, now: number): { outcome: Outcome; attempt: Attempt } {
  const cause = { class: 'expired', rule: 'expires_in' }
  const message = 'expired before it could be delivered'
  return {
    outcome: { kind: 'bounced', bounceType: 'soft', code: '4.4.7', message, cause },
    attempt: {
      number: delivery.attempts,
      startedAt: now,
      durationMs: 0,
      outcome: 'bounced',
      mxHost: null,
      mxAddress: null,
      sourceAddress: null,
      tlsVersion: null,
      tlsCipher: null,
      tlsVerified: false,
      tlsPolicy: 'none',
      reply: null,
      enhancedCode: '4.4.7',
      cause,
      transcript: '',
    },
  }
}

/** What the recipient of delivered test mail does next, with the HTML it does it to. */
function reactionsTo({ delivery, content }: ClaimedDelivery): { reaction: Reaction; html: string | null }[] {
  const reactions = simulate(delivery.email).then
  if (reactions.length === 0) return []
  const html = shownHtml(content)
  return reactions.map((reaction) => ({ reaction, html }))
}

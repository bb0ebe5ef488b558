import type { RecipientType } from '../model/delivery.ts'
import type { Domain } from '../model/domain.ts'
import { type DeliveryStatus, type Message, messageStatus } from '../model/message.ts'
import type { Plan } from '../model/organization.ts'
import type { QualityAlert } from '../model/quality.ts'
import { Refusal } from '../model/refusal.ts'
import type { Clock } from '../platform/clock.ts'
import type { MintId } from '../platform/ids.ts'
import type { MailLog } from '../platform/maillog.ts'
import type { AcceptedMessage, Remember, Store } from '../storage/store.ts'
import { storedContent } from './content.ts'
import { describe, plannedDeliveries } from './draft.ts'
import type { Recipient } from './recipients.ts'
import type { Rendered } from './render.ts'
import type { Author, SubmissionRequest, TemplateUse } from './request.ts'
import { requireGoodStanding, requireOwnDomain, requireRecipients, requireVerified } from './requirements.ts'
import { type Outcomes, playOut, type Simulate } from './sandbox.ts'
import { type Compose, domainKeys } from './signing.ts'
import type { Purse } from './template-work.ts'
import { createStoredTemplates } from './templates.ts'
import { liveCount, monthOf, quotaExceeded, withinVolume } from './volume.ts'

/** A request becomes queued deliveries. Everything up to the store is thought and may be forgotten; the store's one
 *  transaction holds message, content, deliveries, counted volume and remembered answer, or nothing. Only then is
 *  anybody told. What happens twice: nothing here; a caller that got no answer repeats with its Idempotency-Key. */
export interface Submission {
  /** One message → what to answer. Refuses with validation_error, forbidden (`from`, `template_id`), payload_too_large,
   *  template_error, domain_not_verified, invalid_state (stopped by an alert), quota_exceeded. `remember` sees the answer
   *  before it is true and is written with it. */
  submit(author: Author, request: SubmissionRequest, remember?: MakeRecord<Accepted>): Promise<Accepted>
  /** Many messages in one transaction, each with its own fate, in order. What is refused already comes in as a
   *  Refusal and goes out as it is. When the month's volume does not hold all, the first that fit go. */
  submitBatch(
    author: Author,
    requests: readonly (SubmissionRequest | Refusal)[],
    remember?: MakeRecord<Fate[]>,
  ): Promise<Fate[]>
  /** Fills a template as a message would be, without sending one. Refuses with validation_error and forbidden
   *  (`template_id`) and template_error. */
  render(organizationId: string, use: TemplateUse): Promise<Rendered>
}

export interface SubmissionDeps {
  store: Pick<Store, 'domains' | 'messages' | 'suppressions' | 'templates'>
  clock: Clock
  mintId: MintId
  settings: SubmissionSettings
  planOf: (organizationId: string) => Plan | Promise<Plan>
  /** The quality alert that stops live mail of a domain, if any. */
  stoppedBy: (domainId: string) => QualityAlert | null
  /** Composes and signs as delivery does. */
  compose: Compose
  /** What happens to test mail (outbound/sandbox.ts). */
  simulate: Simulate
  wakeOutbound: () => void
  wakeWebhooks: () => void
  /** Hears of every message, after it is durable. */
  mailLog?: Pick<MailLog, 'accepted' | 'suppressed'>
}

export interface SubmissionSettings {
  /** Live mail needs a domain whose DKIM record was seen. */
  requireVerifiedDomain: boolean
  /** Largest composed mail. */
  messageBytes: number
}

export interface Accepted {
  message: Message
  recipients: { email: string; type: RecipientType; status: DeliveryStatus }[]
}
export type Fate = Accepted | Refusal
/** What is about to be answered → the record to write with it, if any. */
export type MakeRecord<T> = (answer: T) => Remember | undefined

export function createSubmission(deps: SubmissionDeps): Submission {
  const { store, clock, planOf } = deps
  const templates = createStoredTemplates(deps)

  /** Test mail takes the whole path, signing included, and is over when it is accepted; scheduled test mail waits
   *  in the queue like any other, and delivery plays its part then. */
  const prepare = async (
    author: Author,
    domain: Domain | null,
    given: SubmissionRequest,
    now: number,
    purse?: Purse,
  ) => {
    const recipients = requireRecipients(given)
    const use = usedTemplate(given)
    const template = use && templates.require(author.key.organizationId, use.idOrAlias)
    const sender = requireOwnDomain(given, domain)
    requireVerified(author.key.mode, sender, deps.settings)
    requireGoodStanding(author.key.mode, sender, deps.stoppedBy)
    const listed = suppressedAmong(recipients, author, store)
    const suppressed = author.key.mode === 'test' ? listed.union(pretended(recipients, deps.simulate)) : listed
    const request = template && use ? await templates.fillIn(given, template, use.variables, purse) : given
    const id = deps.mintId('msg')
    const content = storedContent(id, request, recipients, deps.settings, now)
    const message = describe(id, author, request, content, sender, now)

    if (message.mode === 'live' || message.scheduledAt !== null) {
      const deliveries = plannedDeliveries(message, recipients, suppressed, deps.mintId)
      return accepted(message, content.packed, { deliveries, attempts: [], events: [] })
    }
    await deps.compose(content.packed, domainKeys(sender), now)
    return accepted(message, content.packed, playOut(message, content.html(), recipients, suppressed, deps))
  }

  const tell = (written: readonly AcceptedMessage[]) => {
    const now = clock.now()
    if (written.some(({ deliveries }) => deliveries.some(({ nextAttemptAt }) => isDue(nextAttemptAt, now)))) {
      deps.wakeOutbound()
    }
    if (written.some(({ events }) => events.length > 0)) deps.wakeWebhooks()
    for (const { message, deliveries } of written) {
      const { id, mode, sizeBytes } = message
      const suppressed = deliveries.filter(({ status }) => status === 'suppressed').length
      deps.mailLog?.accepted({ message: id, mode, recipients: deliveries.length, sizeBytes })
      if (suppressed > 0) deps.mailLog?.suppressed({ message: id, recipients: suppressed })
    }
  }

  return {
    submit: async (author, request, remember) => {
      const { organizationId, domainId } = author.key
      const now = clock.now()
      // One after the other: both are mostly in memory, and awaiting them together costs more than either.
      const domain = await store.domains.get(domainId)
      const plan = await planOf(organizationId)
      const prepared = await prepare(author, domain, request, now)
      const answer = toAccepted(prepared)
      const volume = { organizationId, month: monthOf(now), count: liveCount(prepared), limit: plan.messagesPerMonth }
      const result = await store.messages.accept([prepared], volume, remember?.(answer))
      if (result.kind === 'volume_exceeded') throw quotaExceeded(plan, result.used, now)
      tell([prepared])
      return answer
    },

    submitBatch: async (author, requests, remember) => {
      const { organizationId, domainId } = author.key
      const now = clock.now()
      const [domain, plan] = await Promise.all([store.domains.get(domainId), planOf(organizationId)])
      const prepared: (AcceptedMessage | Refusal)[] = []
      const purse: Purse = { left: BATCH_WORK }
      for (const request of requests) {
        if (isTurnOver(prepared.length, request)) await new Promise(setImmediate)
        const ready =
          request instanceof Refusal ? request : prepare(author, domain, request, now, purse).catch(refusalOrThrow)
        prepared.push(await ready)
      }
      const month = monthOf(now)
      for (let used = await store.messages.volume(organizationId, month); ; ) {
        const fitting = withinVolume(prepared, plan, used, now)
        const fit = fitting.flatMap((each) => (each instanceof Refusal ? [] : [each]))
        const fates = fitting.map((each) => (each instanceof Refusal ? each : toAccepted(each)))
        const count = fit.reduce((sum, each) => sum + liveCount(each), 0)
        const volume = { organizationId, month, count, limit: plan.messagesPerMonth }
        const result = await store.messages.accept(fit, volume, remember?.(fates))
        if (result.kind === 'accepted') {
          tell(fit)
          return fates
        }
        // Others were quicker. What they used never shrinks, so each round holds less and the last one nothing.
        used = Math.max(result.used, used + 1)
      }
    },

    render: async (organizationId, { idOrAlias, variables }) =>
      templates.fill(templates.require(organizationId, idOrAlias), variables),
  }
}

/** What the templates of a batch may cost together, in the characters of template-work.ts: a second or two at worst. 500
 *  mails with a page of text and a table of a hundred rows each need less. */
const BATCH_WORK = 200_000_000

/** A batch lets others have their turn after so many messages: some milliseconds of work. One template may take more. */
const MESSAGES_A_TURN = 20

function isTurnOver(done: number, next: SubmissionRequest | Refusal): boolean {
  return done % MESSAGES_A_TURN === MESSAGES_A_TURN - 1 || (!(next instanceof Refusal) && usedTemplate(next) !== null)
}

/** The template a request is still to be made from. */
function usedTemplate({ template }: SubmissionRequest): TemplateUse | null {
  return template !== null && 'idOrAlias' in template ? template : null
}

function suppressedAmong(recipients: Recipient[], author: Author, store: SubmissionDeps['store']): Set<string> {
  const { organizationId, domainId } = author.key
  const folded = recipients.map((recipient) => recipient.folded)
  return store.suppressions.among(organizationId, domainId, folded)
}

/** Recipients of test mail that are to be taken for suppressed. */
function pretended(recipients: Recipient[], simulate: Simulate): Set<string> {
  return new Set(recipients.flatMap(({ mailbox, folded }) => (simulate(mailbox.address).suppressed ? [folded] : [])))
}

function accepted(message: Message, content: Uint8Array, outcomes: Outcomes): AcceptedMessage {
  const status = messageStatus(outcomes.deliveries.map((delivery) => delivery.status))
  return { message: { ...message, status }, content, suppressions: [], ...outcomes }
}

function toAccepted({ message, deliveries }: AcceptedMessage): Accepted {
  return { message, recipients: deliveries.map(({ email, type, status }) => ({ email, type, status })) }
}

function refusalOrThrow(thrown: unknown): Refusal {
  if (thrown instanceof Refusal) return thrown
  throw thrown
}

function isDue(nextAttemptAt: number | null, now: number): boolean {
  return nextAttemptAt !== null && nextAttemptAt <= now
}

import { limitRefusal, monthOf } from '../../model/limits.ts'
import type { Refusal } from '../../model/refusal.ts'
import type { Clock } from '../../os/clock.ts'
import type { MailLog } from '../../os/mail-log.ts'
import type { Notify } from '../../os/notifier.ts'
import type { AcceptedMessage, Store } from '../../storage/store.ts'
import { Batch } from './batch.ts'
import { createHeavyWork, type HeavyWork, isHeavy } from './heavy-work.ts'
import type { Parts } from './idempotency.ts'
import { type PreparationDeps, prepare, requireSendable, toAccepted } from './prepare.ts'
import { isComplete, type RemoteAttachments } from './remote-attachments.ts'
import type { Rendered } from './render.ts'
import type {
  Accepted,
  Author,
  GivenRequest,
  MakeRecord,
  SubmissionRequest,
  SubmissionResult,
  TemplateUse,
} from './request.ts'
import { NO_SENDING_CONFIG, type SendingConfig } from './streams.ts'
import { createStoredTemplates, type StoredTemplates, type TemplateEngine, type TemplateUser } from './templates.ts'
import { liveCount, quotaExceeded } from './volume.ts'

export interface SubmissionDeps extends Omit<PreparationDeps, 'templates' | 'sending'> {
  store: Pick<Store, 'domains' | 'messages' | 'snapshot' | 'suppressions' | 'templates' | 'usage'>
  clock: Clock
  /** Streams and pools; by default those without configuration. */
  sending?: SendingConfig
  templateEngine: TemplateEngine
  notify: Notify
  remoteAttachments: RemoteAttachments
  /** Shared with large requests (web/api/flow.ts); by default its own. */
  heavyWork?: HeavyWork
  /** Logs every message once it is durable. */
  mailLog?: Pick<MailLog, 'accepted' | 'suppressed'>
}

/** Turns requests into queued deliveries. The store writes message, content, deliveries, volume and idempotency record
 *  in one transaction, or nothing; everything before may be lost. Logging and wake-ups follow after it. Nothing happens
 *  twice: a caller without a response repeats with its Idempotency-Key. */
export class Submission {
  readonly #deps: SubmissionDeps & PreparationDeps
  readonly #templates: StoredTemplates
  readonly #heavyWork: HeavyWork

  constructor(deps: SubmissionDeps) {
    this.#templates = createStoredTemplates(deps)
    this.#heavyWork = deps.heavyWork ?? createHeavyWork(deps.clock)
    this.#deps = { ...deps, sending: deps.sending ?? NO_SENDING_CONFIG, templates: this.#templates }
  }

  /** One message → its result. Refuses with validation_error, forbidden (`from`, `template_id`), payload_too_large,
   *  template_error, domain_not_verified, invalid_state (stopped by an alert), quota_exceeded, and as
   *  remote-attachments.ts does. `remember` receives the result before it is written and returns the record to write
   *  with it. */
  async submit(author: Author, request: GivenRequest, remember?: MakeRecord<Accepted>): Promise<Accepted> {
    if (!isComplete(request)) return this.#submitRemote(author, request, remember)
    const { organizationId, mode } = author.key
    if (isHeavy(request, mode)) {
      return this.#heavyWork.run(organizationId, () => this.#submitOne(author, request, remember))
    }
    this.#heavyWork.sends(organizationId)
    return this.#submitOne(author, request, remember)
  }

  /** Many messages, each with its own result, in order. A request already refused is passed as its Refusal and returned
   *  as is. When a plan limit does not allow all, the first that fit are accepted.
   *
   *  Without `parts` everything is one transaction: all or, when `remember` throws, nothing. With it (null: the request
   *  has no key) a large batch is written in slices (batch-slices.ts), between which other work runs. After a crash the
   *  written slices remain; each has its record in `parts`, and the repeated request continues after them. When the
   *  store refuses a later slice, the rest is refused as `unavailable` and the batch gets no record. Attachments are
   *  downloaded for the slice that is written next, so not again for those before it. */
  async submitBatch(
    author: Author,
    requests: readonly (GivenRequest | Refusal)[],
    remember?: MakeRecord<SubmissionResult[]>,
    parts?: Parts | null,
  ): Promise<SubmissionResult[]> {
    const { store, rules, clock, remoteAttachments } = this.#deps
    const { organizationId, domainId } = author.key
    const now = clock.now()
    const [domain, plan] = await Promise.all([store.domains.get(domainId), rules.planOf(organizationId)])
    const attachments = remoteAttachments.open(organizationId, requests)
    const deps = { ...this.#deps, heavyWork: this.#heavyWork }
    const batch = new Batch({ author, domain, plan, now, attachments }, deps)
    try {
      return await batch.submit(requests, remember, parts)
    } finally {
      attachments.close()
      this.#publish(batch.written)
    }
  }

  /** Fills a template as a message would be, without sending one. Refuses with validation_error and forbidden
   *  (`template_id`) and template_error. */
  async render(sender: TemplateUser, use: TemplateUse): Promise<Rendered> {
    return this.#templates.fill(await this.#templates.require(sender, use.idOrAlias), sender, use)
  }

  /** Downloads nothing for a message that would be refused anyway. */
  async #submitRemote(author: Author, request: GivenRequest, remember?: MakeRecord<Accepted>): Promise<Accepted> {
    const { organizationId, domainId } = author.key
    const domain = await this.#deps.store.domains.get(domainId)
    await requireSendable({ author, domain }, request, this.#deps)
    return this.#deps.remoteAttachments.withComplete(organizationId, request, (complete) =>
      this.#heavyWork.run(organizationId, () => this.#submitOne(author, complete, remember)),
    )
  }

  async #submitOne(author: Author, request: SubmissionRequest, remember?: MakeRecord<Accepted>): Promise<Accepted> {
    const { store, rules, clock } = this.#deps
    const { organizationId, domainId } = author.key
    const now = clock.now()
    // In sequence: both are mostly in memory, and awaiting them together costs more.
    const domain = await store.domains.get(domainId)
    const plan = await rules.planOf(organizationId)
    const prepared = await prepare({ author, domain }, request, now, this.#deps)
    const answer = toAccepted(prepared)
    const volume = { organizationId, month: monthOf(now), count: liveCount(prepared), limit: plan.messagesPerMonth }
    const result = await store.messages.accept([prepared], volume, remember?.(answer))
    if (result.kind === 'volume_exceeded') throw quotaExceeded(plan, result.used, now)
    if (result.kind === 'limit') throw limitRefusal(result, now)
    this.#publish([prepared])
    return answer
  }

  /** Wakes the queues and logs what is durable now. */
  #publish(written: readonly AcceptedMessage[]): void {
    const { clock, notify, mailLog } = this.#deps
    const now = clock.now()
    if (written.some(({ deliveries }) => deliveries.some(({ nextAttemptAt }) => isDue(nextAttemptAt, now)))) {
      notify('deliveries')
    }
    if (written.some(({ events }) => events.length > 0)) notify('webhook deliveries')
    for (const { message, deliveries } of written) {
      const { id, mode, sizeBytes } = message
      const suppressed = deliveries.filter(({ status }) => status === 'suppressed').length
      mailLog?.accepted({ message: id, mode, recipients: deliveries.length, sizeBytes })
      if (suppressed > 0) mailLog?.suppressed({ message: id, recipients: suppressed })
    }
  }
}

function isDue(nextAttemptAt: number | null, now: number): boolean {
  return nextAttemptAt !== null && nextAttemptAt <= now
}

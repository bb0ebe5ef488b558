import type { StoredMail } from '../../mail/shown-content.ts'
import type { Domain } from '../../model/domain.ts'
import { limitRefusal, monthOf } from '../../model/limits.ts'
import { type Message, messageStatus } from '../../model/message.ts'
import type { Plan } from '../../model/organization.ts'
import type { QualityAlert } from '../../model/quality.ts'
import { Refusal } from '../../model/refusal.ts'
import type { Clock } from '../../os/clock.ts'
import type { MintId } from '../../os/ids.ts'
import type { MailLog } from '../../os/mail-log.ts'
import type { Notify } from '../../os/notifier.ts'
import type { AcceptedMessage, Store, SuppressedAddresses } from '../../storage/store.ts'
import { slicesOf, submitSlices } from './batch-slices.ts'
import { describe, plannedDeliveries, type StoredContent, storedContent, suppressedEvents } from './draft.ts'
import { createHeavyWork, type HeavyWork, isHeavy } from './heavy-work.ts'
import type { Parts } from './idempotency.ts'
import type { Recipient } from './recipients.ts'
import { isComplete, type RemoteAttachments } from './remote-attachments.ts'
import type { Rendered } from './render.ts'
import type { Author, GivenRequest, SubmissionRequest, TemplateUse } from './request.ts'
import {
  requireOwnDomain,
  requireRecipients,
  requireSendingAllowed,
  requireUnsubscribeLink,
  requireVerified,
} from './requirements.ts'
import type { Accepted, MakeRecord, SubmissionResult } from './result.ts'
import { type Outcomes, playOut, type Simulate } from './sandbox.ts'
import { type Compose, domainKeys } from './signing.ts'
import { assignedPool, NO_SENDING_CONFIG, requireStream, type SendingConfig } from './streams.ts'
import type { WorkBudget } from './template-work.ts'
import { createStoredTemplates, type StoredTemplates, type TemplateEngine, type TemplateUser } from './templates.ts'
import { isSendingLimit, liveCount, nothingUsed, quotaExceeded, type Used, withinLimits } from './volume.ts'

export type { Accepted, MakeRecord, SubmissionResult } from './result.ts'

/** Turns requests into queued deliveries. The store writes message, content, deliveries, volume and idempotency record
 *  in one transaction, or nothing; everything before may be lost. Logging and wake-ups follow after it. Nothing happens
 *  twice: a caller without a response repeats with its Idempotency-Key. */
export interface Submission {
  /** One message → its result. Refuses with validation_error, forbidden (`from`, `template_id`), payload_too_large,
   *  template_error, domain_not_verified, invalid_state (stopped by an alert), quota_exceeded, and as
   *  remote-attachments.ts does. `remember` receives the result before it is written and returns the record to write
   *  with it. */
  submit(author: Author, request: GivenRequest, remember?: MakeRecord<Accepted>): Promise<Accepted>
  /** Many messages, each with its own result, in order. A request already refused is passed as its Refusal and returned
   *  as is. When a plan limit does not allow all, the first that fit are accepted.
   *
   *  Without `parts` everything is one transaction: all or, when `remember` throws, nothing. With it (null: the request
   *  has no key) a large batch is written in slices (batch-slices.ts), between which other work runs. After a crash the
   *  written slices remain; each has its record in `parts`, and the repeated request continues after them. When the
   *  store refuses a later slice, the rest is refused as `unavailable` and the batch gets no record. Attachments are
   *  downloaded for the slice that is written next, so not again for those before it. */
  submitBatch(
    author: Author,
    requests: readonly (GivenRequest | Refusal)[],
    remember?: MakeRecord<SubmissionResult[]>,
    parts?: Parts | null,
  ): Promise<SubmissionResult[]>
  /** Fills a template as a message would be, without sending one. Refuses with validation_error and forbidden
   *  (`template_id`) and template_error. */
  render(sender: TemplateUser, use: TemplateUse): Promise<Rendered>
}

export interface SubmissionDeps {
  store: Pick<Store, 'domains' | 'messages' | 'suppressions' | 'templates' | 'usage'>
  clock: Clock
  mintId: MintId
  settings: SubmissionSettings
  planOf: (organizationId: string) => Plan | Promise<Plan>
  /** The quality alert that stops a domain's live mail; null if none. */
  stoppedBy: (domainId: string) => QualityAlert | null
  /** Composes and signs as delivery does. */
  compose: Compose
  templateEngine: TemplateEngine
  storedMail: Pick<StoredMail, 'part'>
  /** Simulates test mail (sending/outbound/sandbox.ts). */
  simulate: Simulate
  notify: Notify
  remoteAttachments: RemoteAttachments
  /** Shared with large requests (web/api/flow.ts); by default its own. */
  heavyWork?: HeavyWork
  /** Logs every message once it is durable. */
  mailLog?: Pick<MailLog, 'accepted' | 'suppressed'>
}

export interface SubmissionSettings {
  /** Live mail requires a verified DKIM record. */
  requireVerifiedDomain: boolean
  /** Largest composed mail. */
  messageBytes: number
  /** Streams and pools; by default those without configuration. */
  sending?: SendingConfig
}

export function createSubmission(deps: SubmissionDeps): Submission {
  const { store, clock, planOf, heavyWork = createHeavyWork(clock) } = deps
  const templates = createStoredTemplates(deps)
  const context: SubmissionContext = { deps, templates }

  const publish = (written: readonly AcceptedMessage[]) => {
    const now = clock.now()
    if (written.some(({ deliveries }) => deliveries.some(({ nextAttemptAt }) => isDue(nextAttemptAt, now)))) {
      deps.notify('deliveries')
    }
    if (written.some(({ events }) => events.length > 0)) deps.notify('webhook deliveries')
    for (const { message, deliveries } of written) {
      const { id, mode, sizeBytes } = message
      const suppressed = deliveries.filter(({ status }) => status === 'suppressed').length
      deps.mailLog?.accepted({ message: id, mode, recipients: deliveries.length, sizeBytes })
      if (suppressed > 0) deps.mailLog?.suppressed({ message: id, recipients: suppressed })
    }
  }

  const submitOne = async (
    author: Author,
    request: SubmissionRequest,
    remember?: MakeRecord<Accepted>,
  ): Promise<Accepted> => {
    const { organizationId, domainId } = author.key
    const now = clock.now()
    // In sequence: both are mostly in memory, and awaiting them together costs more.
    const domain = await store.domains.get(domainId)
    const plan = await planOf(organizationId)
    const prepared = await prepare({ author, domain, now }, request, context)
    const answer = toAccepted(prepared)
    const volume = { organizationId, month: monthOf(now), count: liveCount(prepared), limit: plan.messagesPerMonth }
    const result = await store.messages.accept([prepared], volume, remember?.(answer))
    if (result.kind === 'volume_exceeded') throw quotaExceeded(plan, result.used, now)
    if (result.kind === 'limit') throw limitRefusal(result, now)
    publish([prepared])
    return answer
  }

  /** Downloads nothing for a message that would be refused anyway. */
  const submitRemote: Submission['submit'] = async (author, request, remember) => {
    const { organizationId, domainId } = author.key
    await requireSendable({ author, domain: await store.domains.get(domainId) }, request, context)
    return deps.remoteAttachments.withComplete(organizationId, request, (complete) =>
      heavyWork.run(organizationId, () => submitOne(author, complete, remember)),
    )
  }

  return {
    submit: (author, request, remember) => {
      if (!isComplete(request)) return submitRemote(author, request, remember)
      const { organizationId, mode } = author.key
      const work = () => submitOne(author, request, remember)
      if (isHeavy(request, mode)) return heavyWork.run(organizationId, work)
      heavyWork.sends(organizationId)
      return work()
    },

    submitBatch: async (author, requests, remember, parts) => {
      const { organizationId, domainId } = author.key
      const now = clock.now()
      const [domain, plan] = await Promise.all([store.domains.get(domainId), planOf(organizationId)])
      const batch: Batch = { author, domain, plan, now, workBudget: { left: BATCH_WORK } }
      const slices = parts === undefined ? [requests] : slicesOf(requests, author.key.mode)
      const written: AcceptedMessage[] = []
      const attachments = deps.remoteAttachments.open(organizationId, requests)
      try {
        return await submitSlices(slices, remember, parts ?? null, async (slice, record) => {
          const complete = await attachments.complete(await sendableOf(slice, batch, context))
          return heavyWork.run(organizationId, () => submitSlice(batch, complete, record, written, context))
        })
      } finally {
        attachments.close()
        publish(written)
      }
    },

    render: async (sender, use) => templates.fill(await templates.require(sender, use.idOrAlias), sender, use),
  }
}
/** Test mail takes the whole path, signing included, and completes when accepted. Scheduled test mail waits in the
 *  queue, and delivery simulates it then. */
async function prepare(
  { author, domain, now, workBudget }: Pick<Batch, 'author' | 'domain' | 'now'> & { workBudget?: WorkBudget },
  given: SubmissionRequest,
  { deps, templates }: SubmissionContext,
): Promise<AcceptedMessage> {
  const { sending = NO_SENDING_CONFIG } = deps.settings
  const { stream, recipients, use, template, sender } = await requireSendable({ author, domain }, given, {
    deps,
    templates,
  })
  const listed = await suppressedAmong(recipients, author, given.stream, deps.store)
  const suppressed = author.key.mode === 'test' ? new Map([...pretended(recipients, deps.simulate), ...listed]) : listed
  const request = template && use ? await templates.fillIn(given, template, author.key, use, workBudget) : given
  const id = deps.mintId('msg')
  const content = storedContent(id, request, recipients, deps.settings, now)
  const message = describe(id, author, request, content, sender, stream, now)
  requireUnsubscribeLink(request, message.unsubscribe)

  const { redactContentAfter = null } = stream
  const redaction = redactContentAfter === null ? {} : { redactAfterMs: redactContentAfter }
  if (message.mode === 'live' || message.scheduledAt !== null) {
    const deliveries = plannedDeliveries(message, recipients, suppressed, deps.mintId)
    const events = suppressedEvents(message, recipients, suppressed, deps.mintId)
    const pool = assignedPool(sending, message.organizationId, sender.name)
    const relayedDomain = sending.relayedDomains.includes(sender.name) ? sender.name : ''
    return {
      ...accepted(message, content.packed, { deliveries, attempts: [], events }),
      ...redaction,
      pool,
      relayedDomain,
    }
  }
  await deps.compose(content.packed, domainKeys(sender), now)
  const html = await htmlFor(message, content, recipients, deps)
  return { ...accepted(message, content.packed, playOut(message, html, recipients, suppressed, deps)), ...redaction }
}

/** The requirements of a message that need no attachment, in the order of their statuses. */
async function requireSendable(
  { author, domain }: Pick<Batch, 'author' | 'domain'>,
  given: GivenRequest,
  { deps, templates }: SubmissionContext,
) {
  const stream = requireStream(given.stream, deps.settings.sending ?? NO_SENDING_CONFIG)
  const recipients = requireRecipients(given)
  const use = usedTemplate(given)
  const template = use && (await templates.require(author.key, use.idOrAlias))
  const sender = requireOwnDomain(given, domain)
  requireVerified(author.key.mode, sender, deps.settings)
  requireSendingAllowed(author.key.mode, sender, deps.stoppedBy)
  return { stream, recipients, use, template, sender }
}

/** Requests → the same, but a Refusal for one whose attachments need not be downloaded because it is refused. */
function sendableOf(
  requests: readonly (GivenRequest | Refusal)[],
  batch: Batch,
  context: SubmissionContext,
): Promise<(GivenRequest | Refusal)[]> {
  const sendable = async (request: GivenRequest | Refusal) => {
    if (request instanceof Refusal || isComplete(request)) return request
    return requireSendable(batch, request, context).then(() => request, refusalOrThrow)
  }
  return Promise.all(requests.map(sendable))
}

/** Only simulated clicks need the HTML; a finished mail must be parsed for it. */
async function htmlFor(
  message: Message,
  content: StoredContent,
  recipients: Recipient[],
  deps: Pick<SubmissionDeps, 'simulate' | 'storedMail'>,
): Promise<string | null> {
  const isLookedAt = recipients.some(({ mailbox }) => deps.simulate(mailbox.address).then.includes('clicked'))
  if (!isLookedAt || content.html !== undefined) return content.html ?? null
  const html = await deps.storedMail.part(content.packed, 'html', message.organizationId)
  return html === null ? null : new TextDecoder().decode(html)
}

async function usedOf(
  organizationId: string,
  month: string,
  now: number,
  store: Pick<Store, 'usage' | 'messages'>,
): Promise<Used> {
  const used = await store.usage.of(organizationId, now)
  return {
    messages_per_month: await store.messages.volume(organizationId, month),
    test_messages_per_month: used.testMessages,
    scheduled_messages: used.scheduledMessages,
    stored_bytes: used.storedBytes,
  }
}

/** Writes some messages of a batch in one transaction; adds accepted ones to `written`. */
async function submitSlice(
  batch: Batch,
  requests: readonly (SubmissionRequest | Refusal)[],
  remember: MakeRecord<SubmissionResult[]> | undefined,
  written: AcceptedMessage[],
  context: SubmissionContext,
): Promise<SubmissionResult[]> {
  const { plan, now } = batch
  const { store } = context.deps
  const { organizationId } = batch.author.key
  const prepared: (AcceptedMessage | Refusal)[] = []
  for (const request of requests) {
    if (isTurnOver(prepared.length, request)) await new Promise(setImmediate)
    const ready = request instanceof Refusal ? request : prepare(batch, request, context).catch(refusalOrThrow)
    prepared.push(await ready)
  }
  const month = monthOf(now)
  const used = await usedOf(organizationId, month, now, store)
  const reserved = nothingUsed()
  for (let round = 1; ; round++) {
    const fitting = withinLimits(prepared, plan, { used, reserved }, now)
    const fit = fitting.flatMap((each) => (each instanceof Refusal ? [] : [each]))
    const results = fitting.map((each) => (each instanceof Refusal ? each : toAccepted(each)))
    const count = fit.reduce((sum, each) => sum + liveCount(each), 0)
    const volume = { organizationId, month, count, limit: plan.messagesPerMonth }
    const record = remember?.(results)
    const result = await store.messages.accept(fit, volume, record)
    if (result.kind === 'accepted') {
      written.push(...fit)
      return results
    }
    if (fit.length === 0) return results // nothing is written, so no record is needed
    // Other requests used the limit first, or the record takes the place of messages: each round tries fewer.
    const name = result.kind === 'limit' ? result.name : 'messages_per_month'
    if (!isSendingLimit(name)) throw new Error(`sending met the limit ${name}`)
    const answerBytes = name === 'stored_bytes' ? (record?.body.byteLength ?? 0) : 0
    const isSame = result.used === used[name] && answerBytes <= reserved[name]
    used[name] = result.used
    reserved[name] = Math.max(reserved[name] + Number(isSame), answerBytes)
    if (round >= MAX_ROUNDS) reserved[name] = Number.MAX_SAFE_INTEGER
  }
}

/** What all steps of a submission use. */
interface SubmissionContext {
  deps: SubmissionDeps
  templates: StoredTemplates
}

/** State shared by the slices of a batch. */
interface Batch {
  author: Author
  domain: Domain | null
  plan: Plan
  now: number
  workBudget: WorkBudget
}

/** Rendering budget for all templates of a batch, in the characters of template-work.ts: one or two seconds at worst.
 *  500 mails with a page of text and a table of a hundred rows each need less. */
const BATCH_WORK = 200_000_000

/** Rounds of shrinking a batch at a limit before all of it is refused. */
const MAX_ROUNDS = 20

/** A batch yields after this many messages, some milliseconds of work. One template may take longer. */
const MESSAGES_A_TURN = 20

function isTurnOver(done: number, next: SubmissionRequest | Refusal): boolean {
  return done % MESSAGES_A_TURN === MESSAGES_A_TURN - 1 || (!(next instanceof Refusal) && usedTemplate(next) !== null)
}

/** The template that a request still needs to be rendered from. */
function usedTemplate({ template }: Pick<GivenRequest, 'template'>): TemplateUse | null {
  return template !== null && 'idOrAlias' in template ? template : null
}

function suppressedAmong(
  recipients: Recipient[],
  { key: { organizationId, domainId, mode } }: Author,
  stream: string,
  store: SubmissionDeps['store'],
): Promise<SuppressedAddresses> {
  const folded = recipients.map((recipient) => recipient.folded)
  return store.suppressions.among({ organizationId, domainId, stream, mode }, folded)
}

/** Test recipients that count as suppressed by the user. */
function pretended(recipients: Recipient[], simulate: Simulate): SuppressedAddresses {
  const isPretended = ({ mailbox }: Recipient) => simulate(mailbox.address).suppressed
  return new Map(recipients.filter(isPretended).map(({ folded }) => [folded, { reason: 'manual', stream: null }]))
}

function accepted(message: Message, content: Uint8Array, outcomes: Outcomes): AcceptedMessage {
  const status = messageStatus(outcomes.deliveries.map((delivery) => delivery.status))
  return {
    message: status === message.status ? message : { ...message, status },
    content,
    suppressions: [],
    ...outcomes,
  }
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

import type { StoredMail } from '../../mail/shown-content.ts'
import type { Domain } from '../../model/domain.ts'
import { type Message, messageStatus } from '../../model/message.ts'
import { simulate } from '../../model/sandbox.ts'
import type { MintId } from '../../os/ids.ts'
import type { AcceptedMessage, Store, SuppressedAddresses } from '../../storage/store.ts'
import { describe, plannedDeliveries, type StoredContent, storedContent, suppressedEvents } from './draft.ts'
import type { Recipient } from './recipients.ts'
import { requireReplyRoute } from './reply-route.ts'
import type { Accepted, Author, GivenRequest, SubmissionRequest, TemplateUse } from './request.ts'
import { requireOwnDomain, requireRecipients, requireUnsubscribeLink } from './requirements.ts'
import { type Outcomes, playOut } from './sandbox.ts'
import type { SendingRules } from './sending-rules.ts'
import { type Compose, domainKeys } from './signing.ts'
import { assignedPool, requireStream, type SendingConfig } from './streams.ts'
import type { WorkBudget } from './template-work.ts'
import type { StoredTemplates } from './templates.ts'

/** What preparing a message uses. */
export interface PreparationDeps {
  store: Pick<Store, 'suppressions' | 'snapshot'>
  rules: SendingRules
  templates: StoredTemplates
  /** Streams, pools and relayed domains. */
  sending: SendingConfig
  /** Largest composed mail. */
  messageBytes: number
  mintId: MintId
  /** Composes and signs as delivery does. */
  compose: Compose
  storedMail: Pick<StoredMail, 'part'>
}

/** Who sends, and the domain of the key; null if it no longer exists. */
export interface Sender {
  author: Author
  domain: Domain | null
}

/** Request → the message with its deliveries and events, for the store to write. Test mail takes the whole path,
 *  signing included, and completes when accepted; scheduled test mail waits in the queue, and delivery simulates it
 *  then. Refuses as requireSendable, and with `template_error`, `payload_too_large` and `validation_error`.
 *  `workBudget`: what rendering may cost. */
export async function prepare(
  sender: Sender,
  given: SubmissionRequest,
  now: number,
  deps: PreparationDeps,
  workBudget?: WorkBudget,
): Promise<AcceptedMessage> {
  const { author } = sender
  const { mintId, sending, templates } = deps
  const { stream, recipients, use, template, domain, replies } = await requireSendable(sender, given, deps)
  const suppressed = await suppressedAmong(recipients, author, given.stream, deps.store)
  const request = template && use ? await templates.fillIn(given, template, author.key, use, workBudget) : given
  const id = mintId('msg')
  const content = storedContent(id, request, recipients, deps, now)
  const message = describe(
    id,
    author,
    request,
    content,
    { tracking: domain.tracking, unsubscribe: stream.unsubscribe, replies },
    now,
  )
  requireUnsubscribeLink(request, message.unsubscribe)

  const { redactContentAfter = null } = stream
  const redaction = redactContentAfter === null ? {} : { redactAfterMs: redactContentAfter }
  if (message.mode === 'live' || message.scheduledAt !== null) {
    const deliveries = plannedDeliveries(message, recipients, suppressed, mintId)
    const events = suppressedEvents(message, recipients, suppressed, mintId)
    return {
      ...accepted(message, content.packed, { deliveries, attempts: [], events }),
      ...redaction,
      pool: assignedPool(sending, message.organizationId, domain.name),
      relayedDomain: sending.relayedDomains.includes(domain.name) ? domain.name : '',
    }
  }
  await deps.compose(content.packed, domainKeys(domain), now)
  const html = await htmlFor(message, content, recipients, deps)
  return { ...accepted(message, content.packed, playOut(message, html, recipients, suppressed, mintId)), ...redaction }
}

/** The requirements of a message that need no attachment, in the order of their statuses: `validation_error`,
 *  `forbidden`, `domain_not_verified`, `invalid_state`. */
export async function requireSendable({ author, domain }: Sender, given: GivenRequest, deps: PreparationDeps) {
  const stream = requireStream(given.stream, deps.sending)
  const recipients = requireRecipients(given)
  const use = usedTemplate(given)
  const template = use && (await deps.templates.require(author.key, use.idOrAlias))
  const own = requireOwnDomain(given, domain)
  const replies = given.replies && requireReplyRoute(given.replies, author.key, own, given.from.mailbox.name, deps)
  deps.rules.requireMaySend(author.key.mode, own)
  return { stream, recipients, use, template, domain: own, replies }
}

/** Prepared message → the result of its request. */
export function toAccepted({ message, deliveries }: AcceptedMessage): Accepted {
  return { message, recipients: deliveries.map(({ email, type, status }) => ({ email, type, status })) }
}

/** The template that a request still needs to be rendered from. */
export function usedTemplate({ template }: Pick<GivenRequest, 'template'>): TemplateUse | null {
  return template !== null && 'idOrAlias' in template ? template : null
}

/** Recipients of test mail count as suppressed by their name, too. */
async function suppressedAmong(
  recipients: readonly Recipient[],
  { key: { organizationId, domainId, mode } }: Author,
  stream: string,
  { suppressions }: PreparationDeps['store'],
): Promise<SuppressedAddresses> {
  const folded = recipients.map((recipient) => recipient.folded)
  const listed = await suppressions.among({ organizationId, domainId, stream, mode }, folded)
  if (mode === 'live') return listed
  const byName = recipients.filter(({ mailbox }) => simulate(mailbox.address).suppressed)
  return new Map([...byName.map(({ folded }) => [folded, { reason: 'manual', stream: null }] as const), ...listed])
}

/** Only simulated clicks need the HTML; a finished mail must be parsed for it. */
async function htmlFor(
  message: Message,
  content: StoredContent,
  recipients: readonly Recipient[],
  { storedMail }: Pick<PreparationDeps, 'storedMail'>,
): Promise<string | null> {
  const isLookedAt = recipients.some(({ mailbox }) => simulate(mailbox.address).then.includes('clicked'))
  if (!isLookedAt || content.html !== undefined) return content.html ?? null
  const html = await storedMail.part(content.packed, 'html', message.organizationId)
  return html === null ? null : new TextDecoder().decode(html)
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

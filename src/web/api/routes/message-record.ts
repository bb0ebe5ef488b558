import type { Attempt, Delivery } from '../../../model/delivery.ts'
import { iso } from '../../../model/event.ts'
import { type Message, messageStatus } from '../../../model/message.ts'
import { Refusal } from '../../../model/refusal.ts'
import type { Report } from '../../../model/report.ts'
import { pathParameter } from '../../../net/path-parameter.ts'
import type { Accepted } from '../../../sending/submission/request.ts'
import type { Store } from '../../../storage/store.ts'
import type { Call } from '../operation.ts'
import { requireWithin, scopeOf } from '../scope.ts'

/** Store → function that loads the message in the path. It rejects with `not_found` or `forbidden` if the key cannot
 *  access the message. */
export function loadMessage({ store }: { store: Pick<Store, 'messages'> }) {
  return async (call: Call): Promise<Message> =>
    requireWithin(await store.messages.get(pathParameter(call, 'message_id')), scopeOf(call.key), 'message')
}

/** Store and the ID of a message without content → the refusal that says when and why it was removed. */
export async function contentGone({ messages }: Pick<Store, 'messages'>, id: string): Promise<Refusal> {
  const removal = await messages.contentRemoval(id)
  if (removal === null)
    return new Refusal('not_found', 'The content of this message was deleted after the retention period.')
  const details = { removed_at: iso(removal.removedAt), reason: removal.reason }
  return new Refusal('not_found', `${REMOVED[removal.reason]} ${details.removed_at}.`, { details })
}

const REMOVED = {
  request: 'The content of this message was deleted on request at',
  erasure: 'The content of this message was deleted with the data of a recipient at',
  stream: 'The content of this message was deleted by the rule of its stream at',
}

/** Message and its deliveries → JSON record of the message. */
export function messageRecord(message: Message, deliveries: readonly Delivery[]) {
  return {
    id: message.id,
    mode: message.mode,
    // Of these deliveries: an attempt may have ended since the message was read.
    status: messageStatus(deliveries.map(({ status }) => status)),
    from: message.from,
    to: message.to,
    cc: message.cc,
    bcc: message.bcc,
    reply_to: message.replyTo,
    replies: message.replies?.routeId ?? null,
    subject: message.subject,
    tags: message.tags,
    metadata: message.metadata,
    template_id: message.templateId,
    domain_id: message.domainId,
    key_id: message.keyId,
    size_bytes: message.sizeBytes,
    message_id_header: message.messageIdHeader,
    created_at: iso(message.createdAt),
    scheduled_at: isoOrNull(message.scheduledAt),
    source: message.source,
    stream: message.stream,
    recipients: deliveries.map(recipientRecord),
  }
}

/** Accepted message → JSON body of the response to a send. */
export function acceptedRecord({ message, recipients }: Accepted) {
  return {
    id: message.id,
    message_id: message.id,
    status: message.status,
    created_at: iso(message.createdAt),
    ...(message.scheduledAt === null ? {} : { scheduled_at: iso(message.scheduledAt) }),
    recipients: recipients.map(({ email, type, status }) => ({ email, type, status })),
  }
}

/** Delivery attempt and its recipient → JSON record of the attempt. Transcript times are in ms since the start of the
 *  attempt. */
export function attemptRecord({ email, attempt }: { email: string; attempt: Attempt }) {
  return {
    recipient: email,
    number: attempt.number,
    started_at: iso(attempt.startedAt),
    duration_ms: attempt.durationMs,
    outcome: attempt.outcome,
    mx_host: attempt.mxHost,
    mx_ip: attempt.mxAddress,
    source_ip: attempt.sourceAddress,
    relay: attempt.relay ?? null,
    tls_version: attempt.tlsVersion,
    tls_cipher: attempt.tlsCipher,
    tls_verified: attempt.tlsVerified,
    tls_policy: attempt.tlsPolicy,
    smtp_response: attempt.reply,
    enhanced_code: attempt.enhancedCode,
    cause: attempt.cause === null ? null : { class: attempt.cause.class, rule: attempt.cause.rule },
    transcript: attempt.transcript,
  }
}

/** Report on a delivery and its recipient → JSON record of the report. `bounce_class` and `rule` are null unless it
 *  reports a failure. */
export function reportRecord({ email, report }: { email: string; report: Report }) {
  return {
    email,
    kind: report.kind,
    received_at: iso(report.receivedAt),
    reporter: report.reporter,
    status: report.status,
    diagnostic: report.diagnostic,
    bounce_class: report.cause?.class ?? null,
    rule: report.cause?.rule ?? null,
    feedback_type: report.feedbackType,
  }
}

function recipientRecord(delivery: Delivery) {
  return {
    email: delivery.email,
    type: delivery.type,
    status: delivery.status,
    attempts: delivery.attempts,
    last_attempt_at: isoOrNull(delivery.lastAttemptAt),
    next_attempt_at: isoOrNull(delivery.nextAttemptAt),
    delivered_at: isoOrNull(delivery.deliveredAt),
    smtp_response: delivery.smtpResponse,
    bounce_type: delivery.bounceType,
    bounce_code: delivery.bounceCode,
    mx_host: delivery.mxHost,
    tls: delivery.tls,
    opens: delivery.opens,
    clicks: delivery.clicks,
    machine_opens: delivery.machineOpens,
    machine_clicks: delivery.machineClicks,
  }
}

/** Time in ms UTC → ISO 8601; null stays null. */
export function isoOrNull(at: number | null): string | null {
  return at === null ? null : iso(at)
}

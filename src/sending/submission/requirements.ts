import { composedSizeBytes, submittedSizeBytes } from '../../mail/compose.ts'
import type { MailContent } from '../../mail/content.ts'
import { cutText } from '../../mail/cut-text.ts'
import { foreignUnsubscribe, foreignUnsubscribeInHtml } from '../../mail/foreign-unsubscribe.ts'
import { countPlaceholders } from '../../mail/unsubscribe-placeholder.ts'
import type { Domain } from '../../model/domain.ts'
import { invalid, Refusal } from '../../model/refusal.ts'
import { collapseRecipients, MAX_RECIPIENTS, type Recipient } from './recipients.ts'
import type { GivenRequest, SubmissionRequest } from './request.ts'

/** Requirements of a submission, checked in the order of their statuses: 400, 403, 422. Each returns the checked value
 *  or throws a Refusal. */

/** Request → its recipients, each once; `validation_error` for none or more than 50. */
export function requireRecipients(request: GivenRequest): Recipient[] {
  const recipients = collapseRecipients(request)
  if (recipients.length >= 1 && recipients.length <= MAX_RECIPIENTS) return recipients
  throw invalid([{ field: 'to', message: `to, cc and bcc must contain 1 to ${MAX_RECIPIENTS} recipients in total` }])
}

/** The key's domain if `from` is in it; otherwise, and if the domain no longer exists, `forbidden`. Both sides are
 *  lower-case A-labels, so letter case and IDNA form do not matter; a subdomain is another domain. */
export function requireOwnDomain(request: GivenRequest, domain: Domain | null): Domain {
  if (domain !== null && request.from.mailbox.domain === domain.name) return domain
  const wanted = domain === null ? 'the domain of this API key' : `${domain.name}, the domain of this API key`
  throw new Refusal('forbidden', `from must be an address at ${wanted}`, {
    field: 'from',
    details: { given: request.from.mailbox.domain, expected: domain?.name ?? null },
  })
}

/** Refuses content with a placeholder for an unsubscribe link where no link can take its place, with
 *  `validation_error`: that of another service, and ours without `unsubscribe`. A recipient who follows a dead link
 *  reports the mail as spam instead. Also refuses a body that repeats ours more than MOST_PLACEHOLDERS times. Finished
 *  mail was checked when it was read. */
export function requireUnsubscribeLink(request: SubmissionRequest, unsubscribe: boolean): void {
  for (const field of ['html', 'text'] as const) {
    const fault = placeholderFault(request, field, unsubscribe)
    if (fault !== null) throw invalid([{ field: request.template === null ? field : 'template_id', message: fault }])
  }
}

function placeholderFault(request: SubmissionRequest, field: 'html' | 'text', unsubscribe: boolean): string | null {
  const body = request[field] ?? ''
  const most = unsubscribe ? MOST_PLACEHOLDERS : 0
  if (countPlaceholders(body, most) > most) {
    return unsubscribe
      ? `contains %unsubscribe_url% more than ${MOST_PLACEHOLDERS} times`
      : 'contains %unsubscribe_url%, but unsubscribe is off: set unsubscribe to true'
  }
  const foreign = field === 'html' ? foreignUnsubscribeInHtml(body) : foreignUnsubscribe(body)
  if (foreign === null) return null
  return `contains ${cutText(foreign, 60)}, which Postrider does not replace: write %unsubscribe_url%, and set unsubscribe to true`
}

/** Ours. A link is eight times as long, and each recipient gets another: without a limit, 25 MB would become 200. */
const MOST_PLACEHOLDERS = 1_000

/** Content → its submitted size; `payload_too_large` when the composed mail exceeds the limit. Composing to measure
 *  costs as much as all other steps, so it happens only near the limit. */
export function requireSize(content: MailContent, { messageBytes }: { messageBytes: number }): number {
  const submittedBytes = submittedSizeBytes(content)
  if (submittedBytes * COMPOSED_FACTOR + HEADER_BYTES <= messageBytes) return submittedBytes
  const field = content.attachments.length > 0 ? 'attachments' : content.html !== null ? 'html' : 'text'
  requireWhole(composedSizeBytes(content), { messageBytes }, field)
  return submittedBytes
}

/** Size of the whole mail → itself; `payload_too_large` beyond the limit. */
export function requireWhole(sizeBytes: number, { messageBytes }: { messageBytes: number }, field?: string): number {
  if (sizeBytes <= messageBytes) return sizeBytes
  throw new Refusal(
    'payload_too_large',
    `The whole message would have ${sizeBytes} bytes; the limit is ${messageBytes} bytes.`,
    {
      field,
      details: { size_bytes: sizeBytes, limit_bytes: messageBytes },
    },
  )
}

/** Quoted-printable makes at most three bytes of one; a text part derived from html is no longer than it. */
const COMPOSED_FACTOR = 6
/** 50 recipients and 50 headers of 998 bytes each, encoded. */
const HEADER_BYTES = 400_000

import { formatMailbox, type Mailbox } from '../../mail/address.ts'
import { cutText } from '../../mail/cut-text.ts'
import { addressesOf } from '../../mail/header-fields.ts'
import { mailboxesOf } from '../../mail/mailboxes.ts'
import { placeholderInMail } from '../../mail/placeholder-in-mail.ts'
import { invalid } from '../../model/refusal.ts'
import { suppressionKey } from '../../model/suppression.ts'
import { type Addresses, PLAIN, type SubmissionRequest } from '../../sending/submission/request.ts'
import { type AuthorMail, readAuthorMail } from './author-mail.ts'

/** A submitted mail as a submission request with its idempotency key. */
export interface AuthorRequest {
  request: SubmissionRequest
  idempotencyKey: string | null
}

/** Makes the request from the header section (see author-mail.ts), the mail as far as placeholders are searched in it,
 *  and the recipients; off the main thread where threads exist. */
export type ReadAuthor = (
  head: Uint8Array,
  searched: Uint8Array,
  recipients: readonly Mailbox[],
  organizationId: string,
) => Promise<AuthorRequest>

/** Header section including its empty line, and envelope recipients → the request. `request.mime.bytes` holds the
 *  header section only. Throws like readAuthorMail. */
export function readAuthorRequest(head: Uint8Array, recipients: readonly Mailbox[]): AuthorRequest {
  const written = readAuthorMail(head)
  return { request: requestOf(written, recipients), idempotencyKey: written.idempotencyKey }
}

/** Refuses a mail with a placeholder for an unsubscribe link, with `validation_error`: a finished mail goes out as it is,
 *  and the recipient of a dead link reports it as spam. */
export function requireNoPlaceholder(mail: Uint8Array): void {
  const found = placeholderInMail(mail)
  if (found === null) return
  const message = `must not contain ${cutText(found, 60)}: SMTP submission does not replace it`
  throw invalid([{ field: 'body', message }])
}

/** Envelope recipients that no header names become Bcc. */
function requestOf(written: AuthorMail, recipients: readonly Mailbox[]): SubmissionRequest {
  const inTo = addressedIn(written.to)
  const inCc = addressedIn(written.cc)
  const to = recipients.filter(({ address }) => inTo(address))
  const cc = recipients.filter(({ address }) => !inTo(address) && inCc(address))
  const bcc = recipients.filter(({ address }) => !inTo(address) && !inCc(address))
  return {
    // Without tracking, whatever the domain's settings: links go out as the author wrote them.
    ...PLAIN,
    from: { asSent: formatMailbox(written.from), mailbox: written.from },
    to: asWritten(to, written.to),
    cc: cc.length === 0 ? null : asWritten(cc, written.cc),
    bcc: bcc.length === 0 ? null : asWritten(bcc, ''),
    replyTo: listed(mailboxesOf(written.replyTo)),
    replies: written.replies === null ? null : { route: written.replies, name: null },
    subject: written.subject,
    metadata: written.metadata,
    tags: written.tags,
    stream: written.stream,
    unsubscribe: written.unsubscribe,
    mime: written.mime,
  }
}

function addressedIn(header: string): (address: string) => boolean {
  const named = new Set(addressesOf(header).map(suppressionKey))
  return (address) => named.has(suppressionKey(address))
}

/** Recipients with the display names from the header. */
function asWritten(recipients: readonly Mailbox[], header: string): Addresses {
  const names = new Map(mailboxesOf(header).map(({ address, name }) => [suppressionKey(address), name]))
  const mailboxes = recipients.map((each) => ({ ...each, name: names.get(suppressionKey(each.address)) ?? null }))
  return { asSent: mailboxes.map(formatMailbox), mailboxes }
}

function listed(mailboxes: Mailbox[]): Addresses | null {
  return mailboxes.length === 0 ? null : { asSent: mailboxes.map(formatMailbox), mailboxes }
}

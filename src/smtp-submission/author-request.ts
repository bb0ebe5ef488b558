import { formatMailbox, type Mailbox } from '../mail/address.ts'
import { addressesOf } from '../mail/header-fields.ts'
import { mailboxesOf } from '../mail/mailboxes.ts'
import { suppressionKey } from '../model/suppression.ts'
import type { Addresses, SubmissionRequest } from '../submission/request.ts'
import { type AuthorMail, readAuthorMail } from './author-mail.ts'

/** What an author's mail asks for: the request that submission takes, and the key under which it is done once. */
export interface AuthorRequest {
  request: SubmissionRequest
  idempotencyKey: string | null
}

/** Head of a mail (as author-mail.ts) and its recipients → the same, in a thread of its own where there is one. */
export type ReadAuthor = (
  head: Uint8Array,
  recipients: readonly Mailbox[],
  organizationId: string,
) => Promise<AuthorRequest>

/** The header section of an author's mail, with the empty line behind it, and whom the mail goes to → what it asks for.
 *  `request.mime.bytes` is the header section alone. Throws as readAuthorMail does. */
export function readAuthorRequest(head: Uint8Array, recipients: readonly Mailbox[]): AuthorRequest {
  const written = readAuthorMail(head)
  return { request: requestOf(written, recipients), idempotencyKey: written.idempotencyKey }
}

/** The whole mail → where its header section ends, the empty line included; all of it when it has no body. A search for
 *  four bytes, and no more. */
export function endOfHead(raw: Uint8Array): number {
  const at = Buffer.from(raw.buffer, raw.byteOffset, raw.byteLength).indexOf('\r\n\r\n')
  return at < 0 ? raw.byteLength : at + 4
}

/** Recipients who stand in no header are blind copies. */
function requestOf(written: AuthorMail, recipients: readonly Mailbox[]): SubmissionRequest {
  const inTo = addressedIn(written.to)
  const inCc = addressedIn(written.cc)
  const to = recipients.filter(({ address }) => inTo(address))
  const cc = recipients.filter(({ address }) => !inTo(address) && inCc(address))
  const bcc = recipients.filter(({ address }) => !inTo(address) && !inCc(address))
  return {
    from: { asSent: formatMailbox(written.from), mailbox: written.from },
    to: asWritten(to, written.to),
    cc: cc.length === 0 ? null : asWritten(cc, written.cc),
    bcc: bcc.length === 0 ? null : asWritten(bcc, ''),
    replyTo: listed(mailboxesOf(written.replyTo)),
    subject: written.subject,
    html: null,
    text: null,
    headers: [],
    attachments: [],
    metadata: written.metadata,
    tags: written.tags,
    scheduledAt: null,
    expiresInSeconds: null,
    requireTls: false,
    unsubscribe: written.unsubscribe,
    // His mail goes out as he made it, whatever the domain's setting.
    trackOpens: false,
    trackClicks: false,
    template: null,
    mime: written.mime,
  }
}

function addressedIn(header: string): (address: string) => boolean {
  const named = new Set(addressesOf(header).map(suppressionKey))
  return (address) => named.has(suppressionKey(address))
}

/** Recipients, with the names that the header gives them. */
function asWritten(recipients: readonly Mailbox[], header: string): Addresses {
  const names = new Map(mailboxesOf(header).map(({ address, name }) => [suppressionKey(address), name]))
  const mailboxes = recipients.map((each) => ({ ...each, name: names.get(suppressionKey(each.address)) ?? null }))
  return { asSent: mailboxes.map(formatMailbox), mailboxes }
}

function listed(mailboxes: Mailbox[]): Addresses | null {
  return mailboxes.length === 0 ? null : { asSent: mailboxes.map(formatMailbox), mailboxes }
}

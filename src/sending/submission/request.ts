import type { Mailbox } from '../../mail/address.ts'
import type { Attachment } from '../../mail/content.ts'
import type { ApiKey } from '../../model/api-key.ts'
import type { RecipientType } from '../../model/delivery.ts'
import {
  type DeliveryStatus,
  type Message,
  type MessageSource,
  NO_SENDER_FIELDS,
  type SenderFields,
} from '../../model/message.ts'
import type { Refusal } from '../../model/refusal.ts'
import type { Remember } from '../../storage/store.ts'

/** A submission, parsed and validated by API or SMTP (checks.ts): every address is parsed, no header text contains line
 *  ends. Later refusals depend on stored state. */
export interface SubmissionRequest extends SenderFields {
  from: { asSent: string; mailbox: Mailbox }
  to: Addresses
  cc: Addresses | null
  bcc: Addresses | null
  replyTo: Addresses | null
  /** Answers go to this inbound route; excludes `replyTo`. */
  replies: GivenReplies | null
  /** Empty until a template provides it. */
  subject: string
  /** At least one is present, or `mime`, or a template to render them from. */
  html: string | null
  text: string | null
  headers: [name: string, value: string][]
  attachments: Attachment[]
  /** Milliseconds UTC; null or past means now. */
  scheduledAt: number | null
  expiresInSeconds: number | null
  /** For all three, null means the domain's setting. */
  unsubscribe: boolean | null
  trackOpens: boolean | null
  trackClicks: boolean | null
  /** The template to render subject, html and text from, or the one they were rendered from. */
  template: TemplateUse | { id: string } | null
  /** A mail finished by its author, sent unchanged; the fields above only describe it. `html`, `text`, `headers` and
   *  `attachments` are then empty. */
  mime: FinishedMail | null
}

/** The optional fields of a request that uses none: sent at once, with the links as written. Mail that Postrider itself
 *  writes starts from it. */
export const PLAIN = {
  ...NO_SENDER_FIELDS,
  cc: null,
  bcc: null,
  replyTo: null,
  replies: null,
  html: null,
  text: null,
  headers: [],
  attachments: [],
  scheduledAt: null,
  expiresInSeconds: null,
  unsubscribe: false,
  trackOpens: false,
  trackClicks: false,
  template: null,
  mime: null,
} satisfies Omit<SubmissionRequest, 'from' | 'to' | 'subject'>

/** A submission whose attachments may still have to be downloaded (remote-attachments.ts). */
export interface GivenRequest extends Omit<SubmissionRequest, 'attachments'> {
  attachments: (Attachment | RemoteAttachment)[]
}

/** An attachment as the URL of its content. */
export interface RemoteAttachment {
  url: string
  /** Null: the last segment of the URL's path. */
  filename: string | null
  /** Null: the type that the server of the URL states, else that of the file name. */
  contentType: string | null
  contentId: string | null
}

/** MIME with CRLF line ends only, without Bcc, its header section containing only fields. Missing fields that RFC 5322
 *  §3.6 requires are prepended when the message gets its id. */
export interface FinishedMail {
  bytes: Uint8Array
  /** Its Message-ID with angle brackets; null if absent. */
  messageId: string | null
  hasDate: boolean
}

/** A template, resolved when the message is sent, and its variables. */
export interface TemplateUse {
  idOrAlias: string
  variables: Record<string, unknown>
  /** Wanted language, as localeOf writes it; null = the template's default. */
  locale: string | null
}

/** Addresses as submitted, and their parsed form. */
export interface Addresses {
  asSent: string | string[]
  mailboxes: Mailbox[]
}

/** An inbound route by ID or name, and the display name of its reply addresses; null: the sender's. */
export interface GivenReplies {
  route: string
  name: string | null
}

/** The submitter, and how the submission arrived. */
export interface Author {
  key: Pick<ApiKey, 'id' | 'organizationId' | 'domainId' | 'mode'>
  source: MessageSource
}

/** An accepted message, with the status of each recipient. */
export interface Accepted {
  message: Message
  recipients: { email: string; type: RecipientType; status: DeliveryStatus }[]
}

export type SubmissionResult = Accepted | Refusal

/** What is about to be answered → the record to write with it, if any. */
export type MakeRecord<T> = (answer: T) => Remember | undefined

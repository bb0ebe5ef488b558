import type { Mailbox } from '../../mail/address.ts'
import type { Attachment } from '../../mail/content.ts'
import type { ApiKey } from '../../model/api-key.ts'
import type { MessageSource, Metadata } from '../../model/message.ts'

/** A submission, parsed and validated by API or SMTP (checks.ts): every address is parsed, no header text contains line
 *  ends. Later refusals depend on stored state. */
export interface SubmissionRequest {
  from: { asSent: string; mailbox: Mailbox }
  to: Addresses
  cc: Addresses | null
  bcc: Addresses | null
  replyTo: Addresses | null
  /** Empty until a template provides it. */
  subject: string
  /** At least one is present, or `mime`, or a template to render them from. */
  html: string | null
  text: string | null
  headers: [name: string, value: string][]
  attachments: Attachment[]
  metadata: Metadata
  tags: string[]
  /** Milliseconds UTC; null or past means now. */
  scheduledAt: number | null
  expiresInSeconds: number | null
  requireTls: boolean
  /** Name of a message stream. */
  stream: string
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

/** The submitter, and how the submission arrived. */
export interface Author {
  key: Pick<ApiKey, 'id' | 'organizationId' | 'domainId' | 'mode'>
  source: MessageSource
}

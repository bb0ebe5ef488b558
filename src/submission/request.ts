import type { Mailbox } from '../mail/address.ts'
import type { Attachment } from '../mail/content.ts'
import type { ApiKey } from '../model/api-key.ts'
import type { MessageSource, Metadata } from '../model/message.ts'

/** What an author hands in, understood and checked by the door it came through (checks.ts): every address is
 *  parsed, every header-bound text is free of line ends. What is refused later depends on stored state. */
export interface SubmissionRequest {
  from: { asSent: string; mailbox: Mailbox }
  to: Addresses
  cc: Addresses | null
  bcc: Addresses | null
  replyTo: Addresses | null
  /** Empty while a template is to give it. */
  subject: string
  /** At least one of the two is there, or `mime`, or a template to make them from. */
  html: string | null
  text: string | null
  headers: [name: string, value: string][]
  attachments: Attachment[]
  metadata: Metadata
  tags: string[]
  /** Milliseconds UTC; null or past = now. */
  scheduledAt: number | null
  expiresInSeconds: number | null
  requireTls: boolean
  /** These three: null = as the domain's setting says. */
  unsubscribe: boolean | null
  trackOpens: boolean | null
  trackClicks: boolean | null
  /** What subject, html and text are to be made from, or have been. */
  template: TemplateUse | { id: string } | null
  /** A mail that its author finished: it goes out as it is, and the fields above only say what stands in it. `html`,
   *  `text`, `headers` and `attachments` are empty then. */
  mime: FinishedMail | null
}

/** MIME with CRLF line ends only and without Bcc, whose header section holds nothing but fields. What RFC 5322 §3.6
 *  asks for and is missing is put in front when the message gets its id. */
export interface FinishedMail {
  bytes: Uint8Array
  /** Its Message-ID with angle brackets; null = it has none. */
  messageId: string | null
  hasDate: boolean
}

/** A template that stands at the time of sending, and what to fill it with. */
export interface TemplateUse {
  idOrAlias: string
  variables: Record<string, unknown>
}

/** Addresses in the form they were sent in, and what they mean. */
export interface Addresses {
  asSent: string | string[]
  mailboxes: Mailbox[]
}

/** Who submits, and through which door. */
export interface Author {
  key: Pick<ApiKey, 'id' | 'organizationId' | 'domainId' | 'mode'>
  source: MessageSource
}

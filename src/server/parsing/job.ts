import type { Mailbox } from '../../mail/address.ts'
import type { MailContent } from '../../mail/content.ts'
import type { RecordFacts } from '../../mail/shown-content.ts'
import type { RefusalExtra, RefusalReason } from '../../model/refusal.ts'
import type { AuthorRequest } from '../../receiving/smtp-submission/author-request.ts'
import type { AnalysisInput } from '../../sending/analysis/mail.ts'
import type { Preview } from '../../sending/submission/preview.ts'
import type { Rendered, TemplateTexts } from '../../sending/submission/render.ts'
import type { PartTexts } from '../../sending/submission/template-parts.ts'
import type { ParseContext, ParsedFacts } from '../../sending/submission/templates.ts'
import type { ListFormat, WholeList } from '../../sending/suppressions/read-list.ts'
import type { InboundFacts } from '../../web/api/routes/inbound-message-content.ts'

/** Jobs of the parsing threads, which process untrusted content. They have no store, no keys and no network. Jobs
 *  and answers are plain data. */
export type ParsingJob = { owner: string } & (
  | { kind: 'stored'; content: Bytes; want: StoredPart }
  | { kind: 'inbound_record'; content: Bytes; facts: InboundFacts }
  | { kind: 'analyze'; input: Omit<AnalysisInput, 'sizeBytes'>; content: Omit<MailContent, 'attachments'> }
  | { kind: 'template_parse'; texts: TemplateTexts; as: ParseContext }
  | { kind: 'template_compile'; mjml: string; at: string }
  | { kind: 'template_preview'; texts: TemplateTexts; variables: Variables; parts: PartTexts | null }
  | { kind: 'template_fill'; template: FilledTemplate; variables: Variables; workLeft: number | null }
  | { kind: 'author_mail'; head: Bytes; searched: Bytes; recipients: readonly Mailbox[] }
  | { kind: 'suppression_list'; text: string; format: ListFormat; mostRefused: number }
)

/** Answers by `kind` of job. */
export interface ParsingAnswers {
  /** For `record` the JSON in UTF-8, otherwise the bytes of the part; null if there is none. */
  stored: Uint8Array | null
  /** The JSON in UTF-8. */
  inbound_record: Uint8Array
  /** The JSON in UTF-8. */
  analyze: Uint8Array
  template_parse: ParsedFacts
  /** The html. */
  template_compile: string
  template_preview: Preview
  template_fill: Rendered
  author_mail: AuthorRequest
  suppression_list: WholeList
}

export type StoredPart =
  | { part: 'record'; facts: RecordFacts }
  | { part: 'html' | 'text' }
  /** Number of the attachment in the list, from 1. */
  | { part: 'attachment'; place: number }

/** A template to fill. Versions of a template never change, so the thread caches the parsed one under `key`. */
export interface FilledTemplate {
  key: string
  texts: TemplateTexts
  /** The message has its own subject; that of the template is not rendered. */
  isSubjectGiven: boolean
  /** Null for a template without layout and partials. */
  parts: PartTexts | null
}

/** Large values are in shared memory: passing them costs one copy, and a job can be retried. */
export type Bytes = Uint8Array

type Variables = Record<string, unknown>

/** The answer as it crosses the thread boundary. */
export type ParsingAnswer = (
  | { done: ParsingAnswers[keyof ParsingAnswers] }
  | { refused: { reason: RefusalReason; message: string; extra: RefusalExtra } }
  | { reply: { code: number; enhanced: string; text: string } }
) & {
  /** Cost of the template, refused or not, in the characters of template-work.ts. */
  work: number
}

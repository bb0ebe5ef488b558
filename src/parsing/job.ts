import type { Analysis, AnalysisInput } from '../analysis/mail.ts'
import type { Mailbox } from '../mail/address.ts'
import type { MailContent } from '../mail/content.ts'
import type { RefusalExtra, RefusalReason } from '../model/refusal.ts'
import type { AuthorRequest } from '../smtp-submission/author-request.ts'
import type { Preview } from '../submission/preview.ts'
import type { Rendered, TemplateTexts } from '../submission/render.ts'
import type { ListFormat, WholeList } from '../suppressions/read-list.ts'

/** What the parsing threads do: all that is made of the content of tenants and strangers, and nothing else. They have no
 *  store, no keys and no network; a job is plain data, and so is its answer. */
export type ParsingJob = { owner: string } & (
  | { kind: 'stored'; content: Bytes; want: StoredPart }
  | { kind: 'analyze'; input: Omit<AnalysisInput, 'sizeBytes'>; content: Omit<MailContent, 'attachments'> }
  | { kind: 'template_parse'; texts: TemplateTexts }
  | { kind: 'template_preview'; texts: TemplateTexts; variables: Variables }
  | { kind: 'template_fill'; template: FilledTemplate; variables: Variables; workLeft: number | null }
  | { kind: 'author_mail'; head: Bytes; recipients: readonly Mailbox[] }
  | { kind: 'suppression_list'; text: string; format: ListFormat; mostRefused: number }
)

/** The answers, by `kind`. */
export interface ParsingAnswers {
  /** Of `record` the JSON in UTF-8; of the others the bytes of the part, null when there is none. */
  stored: Uint8Array | null
  analyze: { analysis: Analysis; text: string | null }
  /** The names of its variables. */
  template_parse: string[]
  template_preview: Preview
  template_fill: Rendered
  author_mail: AuthorRequest
  suppression_list: WholeList
}

export type StoredPart =
  | { part: 'record'; id: string }
  | { part: 'html' | 'text' }
  /** By its place in the list, from 1. */
  | { part: 'attachment'; place: number }

/** A version of a template never changes: what was understood of it is kept under its key. */
export interface FilledTemplate {
  key: string
  texts: TemplateTexts
  /** The message has a subject of its own: that of the template is not looked at. */
  isSubjectGiven: boolean
}

/** Large ones lie in shared memory, so that handing them over costs one copy, and a job can be tried again. */
export type Bytes = Uint8Array

type Variables = Record<string, unknown>

/** As it crosses the thread boundary. */
export type ParsingAnswer = (
  | { done: ParsingAnswers[keyof ParsingAnswers] }
  | { refused: { reason: RefusalReason; message: string; extra: RefusalExtra } }
  | { reply: { code: number; enhanced: string; text: string } }
) & {
  /** What a template cost, refused or not, in the characters of template-work.ts. */
  work: number
}

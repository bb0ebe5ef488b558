import type { Mailbox } from '../mail/address.ts'
import type { MailContent } from '../mail/content.ts'
import type { DomainStatus, Finding } from '../model/domain.ts'
import type { Category, Code, Severity } from './codes.ts'
import type { Page } from './page.ts'

/** A mail that is to be looked at, rendered already. */
export interface AnalysisInput {
  from: Pick<Mailbox, 'name' | 'local' | 'domain'>
  replyTo: readonly Pick<Mailbox, 'local' | 'domain'>[]
  /** '' when there is none. */
  subject: string
  html: string | null
  /** As its author gave it; null = it is made from the HTML. */
  text: string | null
  headers: readonly (readonly [name: string, value: string])[]
  attachments: readonly AnalysedAttachment[]
  domain: DomainReadiness
  /** The mail will carry List-Unsubscribe. */
  hasUnsubscribe: boolean
  /** Of the whole composed mail. */
  sizeBytes: number
}

export interface AnalysedAttachment {
  filename: string
  contentType: string
  contentId: string | null
  sizeBytes: number
}

/** What DNS last said of the domain; no findings = it was never asked. */
export interface DomainReadiness {
  status: DomainStatus
  findings: readonly Pick<Finding, 'purpose' | 'status' | 'found' | 'name'>[]
}

/** A mail that is to be looked at, and all that it is composed from but the bytes of its attachments, whose sizes are in
 *  `input` → what was found, and the text that goes with it. For an organization, in a thread of its own where there is one. */
export type Analyze = (
  input: Omit<AnalysisInput, 'sizeBytes'>,
  content: Omit<MailContent, 'attachments'>,
  owner: string,
) => Promise<{ analysis: Analysis; text: string | null }>

/** What was found out; see `analyze`. */
export interface Analysis {
  score: number
  verdict: 'good' | 'warning' | 'bad'
  issues: Issue[]
  stats: AnalysisStats
  links: ExaminedLink[]
}

export interface Issue {
  code: Code
  severity: Severity
  category: Category
  message: string
  field: string
  penalty: number
}

export interface AnalysisStats {
  sizeBytes: number
  subjectCharacters: number
  htmlBytes: number
  /** Of the text part that will be sent. */
  textBytes: number
  /** Words that a reader sees. */
  words: number
  links: number
  images: number
  remoteImages: number
  attachments: number
  /** Share of the images in the area of images and text, 0 to 1: an image without a size counts 300×150 pixels, a
   *  character 160. */
  imageTextRatio: number
}

/** What the rules look at. */
export interface Mail {
  input: AnalysisInput
  page: Page | null
  /** The text part that will be sent, made from the HTML where there is none. */
  text: string
  links: ExaminedLink[]
  /** See AnalysisStats. */
  imageTextRatio: number
}

/** Tells one finding; of a code told twice the first stays. `detail` says where or what, `field` which field unless it
 *  is the one of the code. */
/** One link as a reader meets it, and what is wrong with it. */
export interface ExaminedLink {
  url: string
  text: string
  problems: LinkProblem[]
}

export type LinkProblem = Extract<Code, `link_${string}`>

export type Report = (code: Code, detail?: string, field?: string) => void
export type Rule = (mail: Mail, report: Report) => void

/** Value of an extra header, null when it is not there; `name` in lower case. */
export function getHeader({ headers }: Pick<AnalysisInput, 'headers'>, name: string): string | null {
  return headers.find(([each]) => each.toLowerCase() === name)?.[1] ?? null
}

import type { Mailbox } from '../../mail/address.ts'
import type { MailContent } from '../../mail/content.ts'
import type { DomainStatus, Finding } from '../../model/domain.ts'
import type { Category, Code, Severity } from './codes.ts'
import type { Page } from './page.ts'

/** A rendered mail to analyse. */
export interface AnalysisInput {
  from: Pick<Mailbox, 'name' | 'local' | 'domain'>
  replyTo: readonly Pick<Mailbox, 'local' | 'domain'>[]
  /** '' if there is none. */
  subject: string
  html: string | null
  /** As the author gave it; null = derived from the HTML. */
  text: string | null
  headers: readonly (readonly [name: string, value: string])[]
  attachments: readonly AnalysedAttachment[]
  domain: DomainReadiness
  /** True if the mail will have a List-Unsubscribe header. */
  hasUnsubscribe: boolean
  /** Size of the whole composed mail. */
  sizeBytes: number
}

export interface AnalysedAttachment {
  filename: string
  contentType: string
  contentId: string | null
  sizeBytes: number
}

/** Result of the last DNS check of the domain; no findings = never checked. */
export interface DomainReadiness {
  status: DomainStatus
  findings: readonly Pick<Finding, 'purpose' | 'status' | 'found' | 'name'>[]
}

/** Mail content and attachment sizes (the bytes are not needed) → its analysis as JSON in UTF-8 (record.ts). Runs for
 *  an organization, in a separate thread where available. */
export type Analyze = (
  input: Omit<AnalysisInput, 'sizeBytes'>,
  content: Omit<MailContent, 'attachments'>,
  owner: string,
) => Promise<Uint8Array>

/** Result of `analyze`. */
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
  /** Size of the text part that will be sent. */
  textBytes: number
  /** Visible words. */
  words: number
  links: number
  images: number
  remoteImages: number
  attachments: number
  /** Fraction of images in the area of images and text, 0 to 1. An image without a size counts 300×150 pixels, a
   *  character 160. */
  imageTextRatio: number
}

/** Input of the rules. */
export interface Mail {
  input: AnalysisInput
  page: Page | null
  /** The text part that will be sent, derived from the HTML if there is none. */
  text: string
  links: ExaminedLink[]
  /** See AnalysisStats. */
  imageTextRatio: number
}

/** One visible link and its problems. */
export interface ExaminedLink {
  url: string
  text: string
  problems: LinkProblem[]
}

export type LinkProblem = Extract<Code, `link_${string}`>

/** Reports one finding; if a code is reported twice, the first one stays. `detail` says where or what; `field`
 *  overrides the field of the code. */
export type Report = (code: Code, detail?: string, field?: string) => void
export type Rule = (mail: Mail, report: Report) => void

/** Value of an extra header; null if missing. `name` in lower case. */
export function getHeader({ headers }: Pick<AnalysisInput, 'headers'>, name: string): string | null {
  return headers.find(([each]) => each.toLowerCase() === name)?.[1] ?? null
}

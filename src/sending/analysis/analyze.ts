import { textFromHtml } from '../../mail/html-text.ts'
import { addresses } from './addresses.ts'
import { authentication } from './authentication.ts'
import { clients } from './clients.ts'
import { FINDING_KINDS } from './codes.ts'
import { content, unsubscribe } from './content.ts'
import { images, imageTextRatioOf, isRemote } from './images.ts'
import { examineLinks, links } from './links.ts'
import type { Analysis, AnalysisInput, AnalysisStats, Issue, Mail, Report, Rule } from './mail.ts'
import { active, markup } from './markup.ts'
import { readPage } from './page.ts'
import { scoreOf, verdictOf } from './score.ts'
import { attachments, size } from './size.ts'
import { subject } from './subject.ts'
import { variables } from './variables.ts'
import { countWords } from './wording.ts'

/** A mail before it is sent → what readers and filters will object to, and how much. Pure: it uses no network, clock
 *  or store, and the same mail always gets the same result. Takes a few milliseconds for 100 KB and reads at most 2
 *  MB of HTML, each character a bounded number of times. Issues are ordered worst first. Never throws. */
export function analyze(input: AnalysisInput): Analysis {
  const mail = read(input)
  const issues = new Map<Issue['code'], Issue>()
  const report: Report = (code, detail = '', field) => {
    const kind = FINDING_KINDS[code]
    if (issues.has(code)) return
    const message = `${kind.what}${detail}. ${kind.advice}`
    const { severity, category, penalty } = kind
    issues.set(code, { code, severity, category, message, field: field ?? kind.field, penalty })
  }
  for (const rule of RULES) rule(mail, report)

  const sorted = [...issues.values()].sort(byWeight)
  const score = scoreOf(sorted)
  return { score, verdict: verdictOf(score, sorted), issues: sorted, stats: statsOf(mail), links: mail.links }
}

const RULES: readonly Rule[] = [
  authentication,
  addresses,
  subject,
  content,
  unsubscribe,
  variables,
  markup,
  active,
  size,
  images,
  links,
  clients,
  attachments,
]

function read(input: AnalysisInput): Mail {
  const page = input.html === null ? null : readPage(input.html)
  const text = input.text ?? (input.html === null ? '' : textFromHtml(input.html))
  return { input, page, text, links: examineLinks(page, input.text ?? ''), imageTextRatio: imageTextRatioOf(page) }
}

function statsOf({ input, page, text, links: all, imageTextRatio }: Mail): AnalysisStats {
  return {
    sizeBytes: input.sizeBytes,
    subjectCharacters: [...input.subject].length,
    htmlBytes: Buffer.byteLength(input.html ?? ''),
    textBytes: Buffer.byteLength(text),
    words: countWords(page?.visibleText ?? text),
    links: page?.links.length ?? all.length,
    images: page?.images.length ?? 0,
    remoteImages: page?.images.filter(({ src }) => isRemote(src)).length ?? 0,
    attachments: input.attachments.length,
    imageTextRatio,
  }
}

const SEVERITIES: readonly Issue['severity'][] = ['error', 'warning', 'info']

function byWeight(a: Issue, b: Issue): number {
  return SEVERITIES.indexOf(a.severity) - SEVERITIES.indexOf(b.severity) || b.penalty - a.penalty
}

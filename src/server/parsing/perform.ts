import { composedSizeBytes, textOf } from '../../mail/compose.ts'
import { shownContent, shownRecord } from '../../mail/shown-content.ts'
import { Refusal } from '../../model/refusal.ts'
import { createWeightedCache } from '../../os/weighted-cache.ts'
import { SmtpReply } from '../../receiving/smtp-server/reply.ts'
import { readAuthorRequest, requireNoPlaceholder } from '../../receiving/smtp-submission/author-request.ts'
import { analyze } from '../../sending/analysis/analyze.ts'
import { analysisRecord } from '../../sending/analysis/record.ts'
import { previewTemplate } from '../../sending/submission/preview.ts'
import {
  fillTemplate,
  type ParsedTemplate,
  parseNewTexts,
  parseTemplateTexts,
  type TemplateParts,
  usesIn,
  variablesIn,
} from '../../sending/submission/render.ts'
import type { KeyedTexts, PartTexts } from '../../sending/submission/template-parts.ts'
import type { WorkBudget } from '../../sending/submission/template-work.ts'
import { readList } from '../../sending/suppressions/read-list.ts'
import { wholeInboundRecord } from '../../web/api/routes/inbound-message-content.ts'
import type { Bytes, ParsingAnswer, ParsingAnswers, ParsingJob, StoredPart } from './job.ts'

/** Runs one job. Refusals and SMTP replies are answers too. Rejects on bugs and damaged content. Caches recently used
 *  templates in parsed form. Calls `working` when the job computes again after it waited. */
export function createPerform(): (job: ParsingJob, working?: () => void) => Promise<ParsingAnswer> {
  const parsedOf = createParsedTemplates()
  const partsOf = (texts: PartTexts | null): TemplateParts | undefined =>
    texts === null
      ? undefined
      : {
          layout: texts.layout && parsedOf(texts.layout),
          partials: new Map(texts.partials.map(([alias, partial]) => [alias, parsedOf(partial)])),
        }

  const perform = (
    job: ParsingJob,
    workBudget: WorkBudget,
    working: () => void,
  ): ParsingAnswers[keyof ParsingAnswers] | Promise<string> => {
    switch (job.kind) {
      case 'stored':
        return storedPart(ownBytes(job.content), job.want)
      case 'inbound_record':
        return Buffer.from(JSON.stringify(wholeInboundRecord(job.facts, ownBytes(job.content))))
      case 'analyze':
        return look(job)
      case 'template_parse':
        return factsOf(job, partsOf(job.as.parts))
      case 'template_compile':
        return compiled(job, working)
      case 'template_preview':
        return previewTemplate(job.texts, job.variables, partsOf(job.parts))
      case 'template_fill': {
        const { template, variables } = job
        const parsed = parsedOf(template)
        const wanted = template.isSubjectGiven ? { ...parsed, subject: null } : parsed
        return fillTemplate(wanted, variables, workBudget, partsOf(template.parts))
      }
      case 'author_mail':
        requireNoPlaceholder(ownBytes(job.searched))
        return readAuthorRequest(ownBytes(job.head), job.recipients)
      case 'suppression_list':
        return readList(job.text, job.format, job.mostRefused)
    }
  }

  return async (job, working = () => {}) => {
    const given = (job.kind === 'template_fill' ? job.workLeft : null) ?? Number.MAX_SAFE_INTEGER
    const workBudget = { left: given }
    const work = () => given - workBudget.left
    try {
      const done = await perform(job, workBudget, working)
      return { done, work: work() }
    } catch (thrown) {
      if (thrown instanceof SmtpReply) {
        return { reply: { code: thrown.code, enhanced: thrown.enhanced, text: thrown.text }, work: work() }
      }
      if (!(thrown instanceof Refusal)) throw thrown
      const { reason, message, field, details, faults, retryAfterSeconds } = thrown
      return { refused: { reason, message, extra: { field, details, faults, retryAfterSeconds } }, work: work() }
    }
  }
}

/** The engine's decoders do not accept shared memory. */
const ownBytes = (bytes: Bytes): Uint8Array<ArrayBuffer> =>
  bytes.buffer instanceof SharedArrayBuffer ? new Uint8Array(bytes) : (bytes as Uint8Array<ArrayBuffer>)

/** Only the sizes of attachments are used. */
function look({ input, content }: Extract<ParsingJob, { kind: 'analyze' }>): ParsingAnswers['analyze'] {
  const attachments = input.attachments.map(({ sizeBytes, ...each }) => ({
    ...each,
    content: new Uint8Array(sizeBytes),
  }))
  const sizeBytes = composedSizeBytes({ ...content, attachments })
  const rendered = { subject: input.subject, html: input.html, text: textOf(content) }
  return Buffer.from(JSON.stringify(analysisRecord(analyze({ ...input, sizeBytes }), rendered)))
}

function storedPart(content: Uint8Array, want: StoredPart): Uint8Array | null {
  const mail = shownContent(content)
  switch (want.part) {
    case 'record':
      return Buffer.from(JSON.stringify({ ...want.facts, ...shownRecord(mail) }))
    case 'html':
      return mail.html === null ? null : Buffer.from(mail.html)
    case 'text':
      return mail.text === null ? null : Buffer.from(mail.text)
    case 'attachment': {
      const attachment = mail.attachments[want.place - 1]
      return attachment === undefined ? null : new Uint8Array(attachment.content)
    }
  }
}

/** Size of the cache: some hundred ordinary templates, or the worst three. */
const KEPT_WEIGHT = 50_000_000

function createParsedTemplates(): (template: KeyedTexts) => ParsedTemplate {
  const kept = createWeightedCache(KEPT_WEIGHT, weightOf)
  return ({ key, texts }) => {
    const known = kept.get(key)
    if (known !== undefined) return known
    const parsed = parseTemplateTexts(texts)
    kept.set(key, parsed)
    return parsed
  }
}

function factsOf(
  { texts, as: { kind, at } }: Extract<ParsingJob, { kind: 'template_parse' }>,
  parts: TemplateParts | undefined,
): ParsingAnswers['template_parse'] {
  const parsed = parseNewTexts(texts, kind, at)
  return { variables: variablesIn(parsed, parts), uses: usesIn(parsed) }
}

/** Most threads never compile MJML, so the library is loaded on first use. */
async function compiled(
  { mjml, at }: Extract<ParsingJob, { kind: 'template_compile' }>,
  working: () => void,
): Promise<string> {
  const { loadMjml, compileMjml } = await import('../../sending/submission/mjml/compile.ts')
  const library = await loadMjml()
  working()
  return compileMjml(mjml, at, library)
}

function weightOf(parsed: ParsedTemplate): number {
  return Object.values(parsed).reduce((sum, text) => sum + (text?.weight ?? 0), 0)
}

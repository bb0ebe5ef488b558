import { z } from 'zod'
import type { Analysis } from '../../analysis/mail.ts'
import { composedSizeBytes, textOf } from '../../mail/compose.ts'
import type { Domain } from '../../model/domain.ts'
import type { Clock } from '../../platform/clock.ts'
import type { Store } from '../../storage/store.ts'
import { fixContent } from '../../submission/draft.ts'
import { collapseRecipients } from '../../submission/recipients.ts'
import type { Rendered } from '../../submission/render.ts'
import type { SubmissionRequest, TemplateUse } from '../../submission/request.ts'
import { requireOwnDomain } from '../../submission/requirements.ts'
import { type Operation, operation } from '../operation.ts'
import { hasBody, hasFewRecipients, hasOneContent, hasUseForVariables, RULES } from './content-rules.ts'
import { createSendBody, toSubmission } from './messages-body.ts'

export interface AnalyzeDeps {
  store: Pick<Store, 'domains'>
  clock: Clock
  /** Template of an organization, by id or alias, and variables → its texts; null where it has none. Refuses as sending
   *  does. */
  render: (organizationId: string, use: TemplateUse) => Promise<Rendered>
}

/** What readers and filters will mind in a mail, without sending it (contract §3). */
export function analyzeOperations({ store, clock, render }: AnalyzeDeps): Operation[] {
  return [
    operation({
      id: 'messages_analyze',
      method: 'POST',
      path: '/v1/messages/analyze',
      permission: 'send',
      unaudited: 'looks',
      summary: 'Look for what readers and filters will mind in a message, without sending it',
      answers: async () => (await import('../answers/analysis.ts')).analysisAnswers,
      description: async () => (await import('../answers/analysis.ts')).FINDINGS_TEXT,
      refusals: ['template_error'],
      example: { from: 'Shop <shop@example.com>', subject: 'Your order', html: '<p>Thanks!</p>' },
      body: createAnalyzeBody(clock.now),
      base64At: ['attachments', '*', 'content'],
      handle: async ({ key, body, now }) => {
        const given = toSubmission({ ...body, to: body.to ?? NOBODY })
        const domain = requireOwnDomain(given, await store.domains.get(key.domainId))
        const { template } = given
        const isNamed = template !== null && 'idOrAlias' in template
        const request = isNamed ? filled(given, await render(key.organizationId, template)) : given
        return { status: 200, body: { ...wire(await look(request, domain, now)), rendered: shownTexts(request) } }
      },
    }),
  ]
}

const NOBODY = { asSent: [], mailboxes: [] }

/** The body of a send whose recipients and subject may be missing, or whose texts a template gives. */
function createAnalyzeBody(now: () => number) {
  const { shape } = createSendBody(now)
  return z
    .strictObject({
      ...shape,
      to: shape.to.nullish(),
      subject: z.union([z.literal(''), shape.subject]).nullish(),
    })
    .refine(hasBody, RULES.body)
    .refine(hasOneContent, RULES.oneContent)
    .refine(hasUseForVariables, RULES.variables)
    .refine(({ to, cc, bcc }) => hasFewRecipients({ to: to ?? NOBODY, cc, bcc }), RULES.recipients)
}

/** A subject of the message itself stands above the template's. */
function filled(request: SubmissionRequest, { subject, html, text }: Rendered): SubmissionRequest {
  return { ...request, subject: request.subject || (subject ?? ''), html, text }
}

async function look(request: SubmissionRequest, domain: Domain, now: number): Promise<Analysis> {
  const { analyze } = await import('../../analysis/analyze.ts') // with the first mail that is looked at
  const { status, findings, tracking } = domain
  const content = fixContent('msg_0', request, collapseRecipients(request), now)
  return analyze({
    from: request.from.mailbox,
    replyTo: content.replyTo,
    subject: content.subject,
    html: content.html,
    text: content.text,
    headers: content.headers,
    attachments: content.attachments.map((each) => ({ ...each, sizeBytes: each.content.byteLength })),
    domain: { status, findings },
    hasUnsubscribe: request.unsubscribe ?? tracking.unsubscribe,
    sizeBytes: composedSizeBytes(content),
  })
}

function shownTexts({ subject, html, text }: SubmissionRequest): Rendered {
  return { subject, html, text: textOf({ html, text }) }
}

function wire({ score, verdict, issues, stats, links }: Analysis) {
  return {
    score,
    verdict,
    issues,
    stats: {
      size_bytes: stats.sizeBytes,
      subject_characters: stats.subjectCharacters,
      html_bytes: stats.htmlBytes,
      text_bytes: stats.textBytes,
      words: stats.words,
      links: stats.links,
      images: stats.images,
      remote_images: stats.remoteImages,
      attachments: stats.attachments,
      image_text_ratio: stats.imageTextRatio,
    },
    links,
  }
}

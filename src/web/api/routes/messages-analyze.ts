import { z } from 'zod'
import type { Domain } from '../../../model/domain.ts'
import type { Mode } from '../../../model/message.ts'
import type { Clock } from '../../../os/clock.ts'
import type { Analyze } from '../../../sending/analysis/mail.ts'
import { isUnsubscribeHeader } from '../../../sending/submission/checks.ts'
import { fixContent } from '../../../sending/submission/draft.ts'
import { collapseRecipients } from '../../../sending/submission/recipients.ts'
import type { RemoteAttachments } from '../../../sending/submission/remote-attachments.ts'
import type { Rendered } from '../../../sending/submission/render.ts'
import type { SubmissionRequest, TemplateUse } from '../../../sending/submission/request.ts'
import { requireOwnDomain } from '../../../sending/submission/requirements.ts'
import { requireStream, type SendingConfig } from '../../../sending/submission/streams.ts'
import type { Store } from '../../../storage/store.ts'
import { rule } from '../access.ts'
import { createDownloading, type WhileDownloading } from '../downloading.ts'
import { type Operation, operation } from '../operation.ts'
import {
  hasBody,
  hasFewRecipients,
  hasOneContent,
  hasOneUnsubscribe,
  hasUseForLocale,
  hasUseForVariables,
  RULES,
} from './content-rules.ts'
import { createSendBody, toSubmission } from './messages-body.ts'

export interface AnalyzeDeps {
  store: Pick<Store, 'domains'>
  clock: Clock
  /** Template (ID or alias) of the sender's organization, and variables → rendered content. Rejects as a send does. */
  submission: { render: (sender: { organizationId: string; mode: Mode }, use: TemplateUse) => Promise<Rendered> }
  analyze: Analyze
  config: { sending: Pick<SendingConfig, 'streams'> }
  remoteAttachments: RemoteAttachments
  /** Limits requests that wait for downloads. Default: one with the default limits. */
  whileDownloading?: WhileDownloading
}

/** The operation of `/v1/messages/analyze`: analyzes a message without sending it. */
export function analyzeOperations(deps: AnalyzeDeps): Operation[] {
  const { store, clock, submission, analyze, config } = deps
  const { remoteAttachments, whileDownloading = createDownloading() } = deps
  const analyzeRequest = (request: SubmissionRequest, domain: Domain, now: number) => {
    const { status, findings, tracking, organizationId } = domain
    const stream = requireStream(request.stream, config.sending)
    const { attachments, ...content } = fixContent('msg_0', request, collapseRecipients(request), now)
    const input = {
      from: request.from.mailbox,
      replyTo: content.replyTo,
      subject: content.subject,
      html: content.html,
      text: content.text,
      headers: content.headers,
      attachments: attachments.map(({ content, ...each }) => ({ ...each, sizeBytes: content.byteLength })),
      domain: { status, findings },
      hasUnsubscribe:
        (request.unsubscribe ?? (stream.unsubscribe || tracking.unsubscribe)) ||
        content.headers.some(([name]) => isUnsubscribeHeader(name)),
    }
    return analyze(input, content, organizationId)
  }

  return [
    operation({
      id: 'messages_analyze',
      method: 'POST',
      path: '/v1/messages/analyze',
      tag: 'Messages',
      access: rule('send', 'developer', 'no_records', 'own_domain'),
      takesNoTurn: true,
      atOnce: 2, // a large one occupies a thread for half a second, and the main thread for some milliseconds
      unaudited: 'looks',
      summary: 'Analyze a message without sending it',
      responses: async () => (await import('../responses/analysis.ts')).analysisResponses,
      description: async () => (await import('../responses/analysis.ts')).FINDINGS_TEXT,
      refusals: ['template_error', 'invalid_state'],
      example: { from: 'Shop <shop@example.com>', subject: 'Your order', html: '<p>Thanks!</p>' },
      body: createAnalyzeBody(clock.now),
      base64At: ['attachments', '*', 'content'],
      handle: async (call) => {
        const { key, body, now } = call
        const given = toSubmission({ ...body, to: body.to ?? NO_RECIPIENT })
        const domain = requireOwnDomain(given, await store.domains.get(key.domainId))
        const analyzeComplete = async (complete: SubmissionRequest) => {
          const { template } = complete
          const isNamed = template !== null && 'idOrAlias' in template
          const request = isNamed ? filled(complete, await submission.render(key, template)) : complete
          return { status: 200, body: await analyzeRequest(request, domain, now) }
        }
        return whileDownloading(call, [given], () =>
          remoteAttachments.withComplete(key.organizationId, given, analyzeComplete),
        )
      },
    }),
  ]
}

const NO_RECIPIENT = { asSent: [], mailboxes: [] }

/** Schema of the body: like that of a send, but `to` and `subject` are optional. */
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
    .refine(hasUseForLocale, RULES.locale)
    .refine(hasOneUnsubscribe, RULES.oneUnsubscribe)
    .refine(({ to, cc, bcc }) => hasFewRecipients({ to: to ?? NO_RECIPIENT, cc, bcc }), RULES.recipients)
}

/** Request and rendered template → the request with the template's content. The message's own subject takes
 *  precedence. */
function filled(request: SubmissionRequest, { subject, html, text }: Rendered): SubmissionRequest {
  return { ...request, subject: request.subject || (subject ?? ''), html, text }
}

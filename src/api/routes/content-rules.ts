import type { z } from 'zod'
import { collapseRecipients, MAX_RECIPIENTS } from '../../submission/recipients.ts'

/** Rules across fields of a message to send or analyze. */

/** The fields they check. */
export interface Content {
  subject?: string | null | undefined
  html?: string | null | undefined
  text?: string | null | undefined
  template_id?: string | null | undefined
  variables?: unknown
}

/** Own content, or a template that provides it. */
export function hasBody({ html, text, template_id }: Content): boolean {
  return Boolean(html || text || template_id)
}

/** Own subject, or a template that may provide it. */
export function hasSubject({ subject, template_id }: Content): boolean {
  return Boolean(subject || template_id)
}

/** Not both content and a template. */
export function hasOneContent({ html, text, template_id }: Content): boolean {
  return !template_id || !(html || text)
}

/** Variables require a template. */
export function hasUseForVariables({ variables, template_id }: Content): boolean {
  return !variables || Boolean(template_id)
}

/** Counting comes first because finding duplicates costs more. */
export function hasFewRecipients(fields: Parameters<typeof collapseRecipients>[0]): boolean {
  const named = [fields.to, fields.cc, fields.bcc].flatMap((each) => each?.mailboxes ?? [])
  return named.length <= MAX_RECIPIENTS || collapseRecipients(fields).length <= MAX_RECIPIENTS
}

/** Message of each violated rule, and when the rule applies. */
export const RULES = {
  body: {
    path: ['html'],
    error: 'Provide html, text or template_id.',
    when: isFree('html', 'text', 'template_id'),
  },
  subject: { path: ['subject'], error: 'is required', when: isFree('subject') },
  oneContent: {
    path: ['template_id'],
    error: 'cannot be combined with html or text',
    when: isFree('template_id'),
  },
  variables: {
    path: ['variables'],
    error: 'requires template_id',
    when: isFree('template_id', 'variables'),
  },
  recipients: {
    path: ['to'],
    error: `must have at most ${MAX_RECIPIENTS} recipients together with cc and bcc`,
    when: isFree(), // the valid recipients alone may be too many
  },
}

/** True if none of these fields has a fault of its own; without fields, for every object. */
function isFree(...fields: string[]) {
  return ({ value, issues }: z.core.ParsePayload) =>
    typeof value === 'object' && value !== null && !issues.some(({ path }) => fields.includes(String(path?.[0])))
}

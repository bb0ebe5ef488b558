import type { z } from 'zod'
import { collapseRecipients, MAX_RECIPIENTS } from '../../submission/recipients.ts'

/** The rules over several fields of a mail that is to be sent, or only looked at. */

/** What they look at. */
export interface Content {
  subject?: string | null | undefined
  html?: string | null | undefined
  text?: string | null | undefined
  template_id?: string | null | undefined
  variables?: unknown
}

/** A text of its own, or a template that gives one. */
export function hasBody({ html, text, template_id }: Content): boolean {
  return Boolean(html || text || template_id)
}

/** One of its own, or a template that may give one. */
export function hasSubject({ subject, template_id }: Content): boolean {
  return Boolean(subject || template_id)
}

/** Not texts and a template. */
export function hasOneContent({ html, text, template_id }: Content): boolean {
  return !template_id || !(html || text)
}

/** Variables are for a template. */
export function hasUseForVariables({ variables, template_id }: Content): boolean {
  return !variables || Boolean(template_id)
}

/** Counting comes first: to see who is named twice is the dearer half. */
export function hasFewRecipients(fields: Parameters<typeof collapseRecipients>[0]): boolean {
  const named = [fields.to, fields.cc, fields.bcc].flatMap((each) => each?.mailboxes ?? [])
  return named.length <= MAX_RECIPIENTS || collapseRecipients(fields).length <= MAX_RECIPIENTS
}

/** What is told of each that does not hold, and when it is looked at. */
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
    when: isFree(), // those that are good may be too many already
  },
}

/** None of these fields has a fault of its own; without any, whenever there is an object. */
function isFree(...fields: string[]) {
  return ({ value, issues }: z.core.ParsePayload) =>
    typeof value === 'object' && value !== null && !issues.some(({ path }) => fields.includes(String(path?.[0])))
}

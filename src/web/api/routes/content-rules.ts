import type { z } from 'zod'
import { isUnsubscribeHeader } from '../../../sending/submission/checks.ts'
import { collapseRecipients, MAX_RECIPIENTS } from '../../../sending/submission/recipients.ts'

/** Rules across several fields of a message to send or analyze. A rule returns true if the fields satisfy it. */

/** The fields that the rules check. */
export interface Content {
  subject?: string | null | undefined
  html?: string | null | undefined
  text?: string | null | undefined
  template_id?: string | null | undefined
  variables?: unknown
  locale?: string | null | undefined
  headers?: readonly [string, string][] | null | undefined
  unsubscribe?: boolean | null | undefined
  reply_to?: { mailboxes: readonly unknown[] } | null | undefined
  replies?: string | null | undefined
  reply_to_name?: string | null | undefined
}

/** The message has its own content, or a template. */
export function hasBody({ html, text, template_id }: Content): boolean {
  return Boolean(html || text || template_id)
}

/** The message has its own subject, or a template, which may have one. */
export function hasSubject({ subject, template_id }: Content): boolean {
  return Boolean(subject || template_id)
}

/** The message does not have both its own content and a template. */
export function hasOneContent({ html, text, template_id }: Content): boolean {
  return !template_id || !(html || text)
}

/** The message has no variables, or a template. */
export function hasUseForVariables({ variables, template_id }: Content): boolean {
  return !variables || Boolean(template_id)
}

/** The message has no locale, or a template. */
export function hasUseForLocale({ locale, template_id }: Content): boolean {
  return !locale || Boolean(template_id)
}

/** The message has Postrider's unsubscribe headers, or its own. */
export function hasOneUnsubscribe({ headers, unsubscribe }: Content): boolean {
  return unsubscribe === false || !headers?.some(([name]) => isUnsubscribeHeader(name))
}

/** The message has answers sent to a route, or to addresses of its own. */
export function hasOneReplyAddress({ replies, reply_to }: Content): boolean {
  return !replies || !reply_to?.mailboxes.length
}

/** The message has no name for its reply addresses, or a route. */
export function hasUseForReplyName({ replies, reply_to_name }: Content): boolean {
  return !reply_to_name || Boolean(replies)
}

/** The message has at most MAX_RECIPIENTS recipients without duplicates. Counts before it looks for duplicates, which
 *  takes longer. */
export function hasFewRecipients(fields: Parameters<typeof collapseRecipients>[0]): boolean {
  const named = [fields.to, fields.cc, fields.bcc].flatMap((each) => each?.mailboxes ?? [])
  return named.length <= MAX_RECIPIENTS || collapseRecipients(fields).length <= MAX_RECIPIENTS
}

/** For each rule: the field of the fault, the message if the rule is violated, and when zod checks it. */
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
  locale: {
    path: ['locale'],
    error: 'requires template_id',
    when: isFree('template_id', 'locale'),
  },
  oneUnsubscribe: {
    path: ['headers', 'List-Unsubscribe'],
    error: 'is set by Postrider unless unsubscribe is false',
    when: isFree('headers', 'unsubscribe'),
  },
  oneReplyAddress: {
    path: ['replies'],
    error: 'cannot be combined with reply_to',
    when: isFree('replies', 'reply_to'),
  },
  replyName: {
    path: ['reply_to_name'],
    error: 'requires replies',
    when: isFree('reply_to_name', 'replies'),
  },
  recipients: {
    path: ['to'],
    error: `must have at most ${MAX_RECIPIENTS} recipients together with cc and bcc`,
    when: isFree(), // even if some addresses are invalid: the valid ones alone may be too many
  },
}

/** Condition for zod: the value is an object, and none of these fields has a fault of its own. */
function isFree(...fields: string[]) {
  return ({ value, issues }: z.core.ParsePayload) =>
    typeof value === 'object' && value !== null && !issues.some(({ path }) => fields.includes(String(path?.[0])))
}

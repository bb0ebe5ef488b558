import { z } from 'zod'
import { parseMailbox, toALabel } from '../../../mail/address.ts'
import type { ForwardTargetStatus } from '../../../model/forward-target.ts'
import {
  foldLocalPart,
  type InboundRoute,
  ROUTE_AUTHENTICATIONS,
  type RouteAction,
  type RouteMatch,
} from '../../../model/inbound-route.ts'
import { suppressionKey } from '../../../model/suppression.ts'
import { DOMAIN, EMAIL } from '../patterns.ts'
import { emailAddress, endpointUrl, label } from '../schema.ts'
import { endpointHeaders } from './endpoint-headers.ts'

/** Schemas of the request fields of an inbound route, which parse them to the model. `match` and `action` must be
 *  complete objects. `checkUrl` returns why a URL is rejected, or null. */
export function routeFields(checkUrl: (url: string) => string | null) {
  return {
    name: label(100),
    match,
    action: actionOf(checkUrl),
    authentication: z.enum(ROUTE_AUTHENTICATIONS),
    enabled: z.boolean(),
    priority: z.number().int().min(-1000).max(1000),
  }
}

/** Match of a route → its domain in lower-case A-labels; null for a catch-all of all domains. */
export function domainOfMatch({ value }: RouteMatch): string | null {
  return value === null ? null : value.slice(value.lastIndexOf('@') + 1)
}

/** Action → its JSON record, with only the fields of its type. `statusOf` returns the status of a forward target. */
export function actionRecord(
  action: RouteAction,
  statusOf: (email: string) => ForwardTargetStatus,
): InboundRouteRecord['action'] {
  switch (action.type) {
    case 'webhook': {
      const { url, includeAttachments, replies = true, headerNames } = action.config
      const config = { url, include_attachments: includeAttachments, replies, header_names: headerNames }
      return { type: action.type, config }
    }
    case 'forward':
      return {
        type: action.type,
        config: { to: action.config.to.map((email) => targetRecord(email, statusOf(email))) },
      }
    case 'store':
      return { type: action.type, config: {} }
  }
}

/** Forward target → its JSON record. A stopped target has the status `pending` and `is_stopped`. */
function targetRecord(email: string, status: ForwardTargetStatus) {
  return { email, status: status === 'confirmed' ? status : 'pending', is_stopped: status === 'stopped' }
}

/** JSON record of an inbound route: its match and action. */
export interface InboundRouteRecord {
  match: InboundRoute['match']
  action: { type: RouteAction['type']; config: Record<string, unknown> }
}

/** Error message of a union: lists the types if `type` is missing or unknown. */
const oneOf = (kinds: string) => ({
  error: (issue: { code?: string }) => (issue.code === 'invalid_union' ? `must be one of ${kinds}` : undefined),
})

const matchAddress = z
  .string()
  .transform((text, context) => {
    const mailbox = parseMailbox(text)
    if (mailbox === null || mailbox.name !== null) return wrong(context, 'must be an email address')
    if (mailbox.local.includes('*')) return wrong(context, 'must not contain * unless match.type is pattern')
    return folded(mailbox)
  })
  .meta({ ...EMAIL, pattern: EMAIL.pattern.replace('^', '^(?!.*[*])') })

/** No text with a quoted local part, or with dots that require quotes. */
const UNQUOTED = String.raw`^(?![\s<]*[".]|[^@]*\.[.@])`
const matchPattern = z
  .string()
  .transform((text, context) => {
    const mailbox = parseMailbox(text) // * and ? are ordinary characters in an address (RFC 5322 §3.2.3)
    const isPattern = mailbox !== null && mailbox.name === null && !`${text}${mailbox.local}`.includes('"')
    return isPattern ? folded(mailbox) : wrong(context, 'must be a pattern such as support-*@example.com')
  })
  .meta({ maxLength: EMAIL.maxLength, pattern: EMAIL.pattern.replace('^', UNQUOTED) })

const matchDomain = z
  .string()
  .transform((text, context) => toALabel(text) ?? wrong(context, 'Enter a domain such as mail.example.com'))
  .meta(DOMAIN)

const match = z.discriminatedUnion(
  'type',
  [
    z.strictObject({ type: z.literal('address'), value: matchAddress }),
    z.strictObject({ type: z.literal('pattern'), value: matchPattern }),
    z.strictObject({ type: z.literal('domain'), value: matchDomain }),
    z.strictObject({ type: z.literal('catch_all'), value: z.null().default(null) }),
  ],
  oneOf('address, pattern, domain, catch_all'),
)

/** An address, or a target in the format of the record, so that clients can send a record back. */
const forwardTarget = z.union([emailAddress, z.looseObject({ email: emailAddress }).transform(({ email }) => email)])

const forwardTo = z
  .union([emailAddress, z.array(forwardTarget).min(1).max(10)])
  .transform((to) => [...new Map([to].flat().map((address) => [suppressionKey(address), address])).values()])

function actionOf(checkUrl: (url: string) => string | null) {
  const url = endpointUrl(checkUrl)
  const webhookConfig = z
    .strictObject({
      url,
      include_attachments: z.boolean().default(false),
      replies: z
        .boolean()
        .default(true)
        .describe('False leaves `reply_text`, `reply_html`, `in_reply_to` and `auto_submitted` out of the posts.'),
      headers: endpointHeaders
        .optional()
        .describe(
          'Additional headers of every request, as for webhooks. Values are never shown again. Absent: those of the same scheme, host and port stay.',
        ),
      header_names: z
        .array(z.string().max(100))
        .max(10)
        .optional()
        .describe('Ignored, so that clients can send a record back.'),
    })
    .transform(({ url, include_attachments: includeAttachments, replies, headers }) => ({
      url,
      includeAttachments,
      replies,
      ...(headers !== undefined && { headers }),
    }))
  return z.discriminatedUnion(
    'type',
    [
      z.strictObject({ type: z.literal('webhook'), config: webhookConfig }),
      z.strictObject({ type: z.literal('forward'), config: z.strictObject({ to: forwardTo }) }),
      z.strictObject({ type: z.literal('store'), config: z.strictObject({}).default({}) }),
    ],
    oneOf('webhook, forward, store'),
  )
}

function folded({ local, domain }: { local: string; domain: string }): string {
  // A quoted local part keeps its quotes, because it may be invalid without them.
  const name = local.startsWith('"') ? local.toLowerCase() : foldLocalPart(local)
  return `${name}@${domain}`
}

function wrong(context: z.core.$RefinementCtx, message: string): never {
  context.addIssue({ code: 'custom', message })
  return z.NEVER
}

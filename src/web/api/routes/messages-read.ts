import { z } from 'zod'
import { NO_RECIPIENT_PARTS, type RecipientPartsOf } from '../../../mail/recipient-parts.ts'
import type { StoredMail } from '../../../mail/shown-content.ts'
import type { ApiKey } from '../../../model/api-key.ts'
import { type Domain, trackingHostOf } from '../../../model/domain.ts'
import { isForwarded, MESSAGE_STATUSES, type Message } from '../../../model/message.ts'
import { Refusal } from '../../../model/refusal.ts'
import { type Compose, domainKeys } from '../../../sending/submission/signing.ts'
import type { MessageFilter, Store } from '../../../storage/store.ts'
import { rule } from '../access.ts'
import { requireOwned } from '../errors.ts'
import { type ApiResponse, type Operation, operation } from '../operation.ts'
import { pageRequest, pageResponse } from '../page.ts'
import {
  characters,
  domainIdOrName,
  emailAddress,
  eventType,
  pageFields,
  streamName,
  timeFields,
  timeRange,
  unknownName,
} from '../schema.ts'
import { NO_RECORDS, narrowed, scopeOf } from '../scope.ts'
import { attemptRecord, contentGone, loadMessage, messageRecord, reportRecord } from './message-record.ts'
import { PRIVATE, rawAnswer } from './raw-mail.ts'

export interface ReadDeps {
  store: Pick<Store, 'messages' | 'deliveries' | 'domains' | 'events' | 'templates'>
  /** Composes and signs a message as delivery does. */
  compose: Compose
  storedMail: StoredMail
  recipientParts: () => RecipientPartsOf | Promise<RecipientPartsOf>
}

/** The operations that read messages, their content, events and attempts. */
export function readOperations({ store, compose, storedMail, recipientParts }: ReadDeps): Operation[] {
  const load = loadMessage({ store })
  const record = async (message: Message) => messageRecord(message, await store.messages.deliveries(message.id))

  /** ID or alias of a template → ID for the filter; null if absent. An unknown name stays unchanged, because messages
   *  of a deleted template remain. Rejects with `forbidden` for another organization's template. */
  const templateOf = async (name: string | undefined, { organizationId, mode }: ApiKey) => {
    const template = name === undefined ? null : await store.templates.current(organizationId, name, mode)
    return template === null ? (name ?? null) : requireOwned(template, organizationId, 'template').id
  }

  const list = operation({
    id: 'messages_list',
    method: 'GET',
    path: '/v1/messages',
    tag: 'Messages',
    access: rule('read', 'viewer', 'test_records', 'own_domain'),
    tool: {
      name: 'list_messages',
      description:
        'Lists sent messages, newest first, with the status of each recipient. Filters by status, recipient, sender, subject, tag and time; q searches for words. For the next page, pass next_cursor of the result as cursor.',
    },
    summary: 'List messages',
    responses: async () => (await import('../responses/messages.ts')).messageListResponses,
    refusals: ['not_found'],
    query: LIST_QUERY,
    handle: async ({ query, organizationId, key }) => {
      const { domain_id: domainId } = query
      if (domainId !== undefined) requireOwned(await store.domains.get(domainId), organizationId, 'domain')
      const within = narrowed(query, scopeOf(key))
      if (within === null) return pageResponse(NO_RECORDS, () => null)
      const templateId = await templateOf(query.template_id, key)
      const filter = { ...toFilter(query, organizationId), ...within, templateId }
      const page = await store.messages.list(filter, pageRequest(query))
      const records = await Promise.all(page.records.map(record))
      return pageResponse({ ...page, records }, (each) => each)
    },
  })

  const get = operation({
    id: 'messages_get',
    method: 'GET',
    path: '/v1/messages/:message_id',
    tag: 'Messages',
    access: rule('read', 'viewer', 'test_records', 'own_domain'),
    tool: {
      name: 'get_message',
      description: 'Returns one sent message with the status of each recipient, without its content.',
    },
    summary: 'Retrieve a message and the status of each recipient',
    responses: async () => (await import('../responses/messages.ts')).messageResponses,
    load,
    handle: async ({ resource }) => ({ status: 200, body: await record(resource) }),
  })

  const content = operation({
    id: 'messages_content',
    method: 'GET',
    path: '/v1/messages/:message_id/content',
    tag: 'Messages',
    access: rule('read', 'viewer', 'test_records', 'own_domain'),
    tool: {
      name: 'get_message_content',
      description: 'Returns the content of one sent message: headers, html, text and the list of its attachments.',
      without: ['part'],
    },
    summary: 'Retrieve the content of a message',
    description: 'As JSON, as a single part, or as the raw message that was sent.',
    responses: async () => (await import('../responses/content.ts')).contentResponses,
    refusals: ['invalid_state'],
    query: z.strictObject({ part: z.enum(['html', 'text', 'raw']).optional() }),
    load,
    reads: ({ sizeBytes }) => sizeBytes,
    handle: async ({ resource: message, query }) => {
      const packed = await store.messages.content(message.id)
      if (packed === null) throw await contentGone(store, message.id)
      if (query.part === 'raw') return rawAnswer(message.id, await signed(message, packed))
      const owner = message.organizationId
      if (query.part === undefined)
        return { status: 200, body: await storedMail.record(packed, factsOf(message), owner) }
      const body = await storedMail.part(packed, query.part, owner)
      if (body === null) throw new Refusal('not_found', `This message has no ${query.part} part.`)
      return partAnswer(query.part, body)
    },
  })

  /** The raw message, composed and signed as for delivery. If recipients get individual content, it is the first
   *  recipient's. After a DKIM key rotation, only the signatures differ from the message that was sent. */
  const signed = async (message: Message, packed: Uint8Array) => {
    const domain = await store.domains.get(message.domainId)
    const keys = domain === null || isForwarded(message) ? [] : domainKeys(domain)
    const own = domain === null ? NO_RECIPIENT_PARTS : await firstParts(message, domain)
    return compose(packed, keys, message.scheduledAt ?? message.createdAt, own)
  }
  const firstParts = async (message: Message, domain: Domain) => {
    const [first] = await store.messages.deliveries(message.id)
    if (first === undefined) return NO_RECIPIENT_PARTS
    const sender = { returnPathHost: domain.returnPathHost, trackingHost: trackingHostOf(domain) }
    return (await recipientParts())(first.id, message, sender)
  }

  const events = operation({
    id: 'messages_events',
    method: 'GET',
    path: '/v1/messages/:message_id/events',
    tag: 'Messages',
    access: rule('read', 'viewer', 'test_records', 'own_domain'),
    summary: 'List the events of a message',
    responses: async () => (await import('../responses/events.ts')).eventListResponses,
    query: z.strictObject({ ...pageFields, ...timeFields, type: eventType.optional() }),
    load,
    handle: async ({ resource: { id: messageId, organizationId }, query }) => {
      const filter = { organizationId, messageId, type: query.type ?? null, domainId: null, mode: null }
      const page = await store.events.list({ ...filter, ...timeRange(query) }, pageRequest(query))
      return pageResponse(page, (event) => JSON.parse(event.body))
    },
  })

  const attempts = operation({
    id: 'messages_attempts',
    method: 'GET',
    path: '/v1/messages/:message_id/attempts',
    tag: 'Messages',
    access: rule('read', 'viewer', 'test_records', 'own_domain'),
    summary: 'List the delivery attempts and reports of a message',
    responses: async () => (await import('../responses/attempts.ts')).attemptsResponses,
    load,
    handle: async ({ resource: { id } }) => {
      const attempts = (await store.messages.attempts(id)).reverse().map(attemptRecord)
      const reports = (await store.deliveries.reports(id)).reverse().map(reportRecord)
      // Always one page: a message has at most 50 recipients, and attempts and reports are limited for each.
      return { status: 200, body: { data: attempts, reports, has_more: false, next_cursor: null } }
    },
  })

  return [list, get, content, events, attempts]
}

const METADATA = /^metadata\[(.{1,255})\]$/s
/** Maximum metadata filters of a query. Each is a search condition: a query with 500 took 150 ms. */
const MOST_METADATA = 20
const METADATA_PARAMETER = {
  name: 'metadata',
  in: 'query',
  description: '`metadata[order]=1001`: messages with this metadata value.',
  style: 'deepObject',
  explode: true,
  schema: {
    type: 'object',
    maxProperties: MOST_METADATA,
    propertyNames: { minLength: 1, maxLength: 255 },
    additionalProperties: { type: 'string' },
  },
}
const LIST_FIELDS = z.looseObject({
  ...pageFields,
  ...timeFields,
  status: z.enum(MESSAGE_STATUSES).optional().meta({ example: 'bounced' }),
  to: emailAddress.optional(),
  from: emailAddress.optional(),
  subject: characters(998, z.string().min(1)).optional(),
  tag: characters(64, z.string().min(1)).optional(),
  template_id: characters(100).optional(),
  domain_id: domainIdOrName.optional(),
  mode: z.enum(['live', 'test']).optional(),
  stream: streamName.optional(),
  q: characters(256).optional().describe('Words in the subject and addresses; or a message ID, or a Message-ID.'),
})
/** Schema of the list query. Accepts `metadata[…]` parameters, whose names the caller chooses, and rejects all other
 *  unknown names. */
const LIST_QUERY = LIST_FIELDS.superRefine(
  (query, context) => {
    let metadata = 0
    for (const name of Object.keys(query)) {
      if (name in LIST_FIELDS.shape) continue
      if (METADATA.test(name) && ++metadata <= MOST_METADATA) continue
      if (metadata > MOST_METADATA) {
        const message = `must be given at most ${MOST_METADATA} times`
        context.addIssue({ code: 'custom', path: ['metadata'], message })
        return
      }
      context.addIssue({ code: 'custom', path: [name], message: unknownName(name, 'query', null) })
    }
  },
  { when: () => true },
).meta({ additionalProperties: undefined, 'x-parameters': [METADATA_PARAMETER] })

function toFilter(query: z.infer<typeof LIST_QUERY>, organizationId: string): Omit<MessageFilter, 'templateId'> {
  const metadata = Object.entries(query).flatMap(([name, value]) => {
    const key = METADATA.exec(name)?.[1]
    return key === undefined ? [] : [{ key, value: String(value) }]
  })
  return {
    organizationId,
    status: query.status ?? null,
    to: query.to ?? null,
    from: query.from ?? null,
    subject: query.subject ?? null,
    tag: query.tag ?? null,
    metadata,
    domainId: query.domain_id ?? null,
    mode: query.mode ?? null,
    stream: query.stream ?? null,
    ...textAsked(query.q?.trim() || null),
    ...timeRange(query),
  }
}

/** Free text → a message ID, a Message-ID with or without angle brackets, or words. A Message-ID made by Postrider
 *  contains the message ID (sending/submission/draft.ts). */
function textAsked(text: string | null): Pick<MessageFilter, 'text' | 'id' | 'messageIdHeader'> {
  if (text === null) return { text }
  if (MESSAGE_ID.test(text)) return { text: null, id: text }
  const made = MADE_HEADER.exec(text)
  if (made !== null) return { text: null, id: `msg_${made[1]}`, messageIdHeader: `<${made[1]}@${made[2]}>` }
  return HEADER.test(text) ? { text: null, messageIdHeader: text } : { text }
}

const MESSAGE_ID = /^msg_[0-9a-z]{26}$/
/** Message IDs begin with 0 until the year 3084. */
const MADE_HEADER = /^<?(0[0-9a-z]{25})@([^\s<>@]+)>?$/
/** An address has no angle brackets. */
const HEADER = /^<[^\s<>]+>$/

const factsOf = ({ id, unsubscribe }: Message) => ({ id, unsubscribe })

/** Part of a message → response. Its HTML is untrusted, so the Content-Security-Policy prevents it from running
 *  scripts, loading resources and accessing our origin. */
function partAnswer(part: 'html' | 'text', body: Uint8Array): ApiResponse {
  const policy = "sandbox; default-src 'none'; img-src data:; style-src 'unsafe-inline'"
  const type = part === 'html' ? 'text/html' : 'text/plain'
  const headers = { 'content-security-policy': policy, ...PRIVATE }
  return { status: 200, body, contentType: `${type}; charset=utf-8`, headers }
}

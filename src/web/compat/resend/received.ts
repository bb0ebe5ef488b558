import { z } from 'zod'
import { formatMailbox } from '../../../mail/address.ts'
import { DOWNLOAD_MS } from '../../../mail/download-link.ts'
import { mailboxesOf } from '../../../mail/mailboxes.ts'
import { iso } from '../../../model/event.ts'
import { Refusal } from '../../../model/refusal.ts'
import { pathParameter } from '../../../net/path-parameter.ts'
import { type Endpoint, endpoint, type Named, type Ours, type Wire } from '../external-api.ts'
import { list, listQuery } from './list.ts'

/** Received emails. Content comes with `get`, attachments through links that need no key. */
export const receivedEndpoints: Endpoint[] = [
  endpoint({
    id: 'received_list',
    method: 'GET',
    path: '/emails/receiving',
    operation: 'inbound_messages_list',
    query: listQuery,
    handle: ({ query }, ours) => list(ours, 'inbound_messages_list', query, headOf),
  }),
  endpoint({
    id: 'received_get',
    method: 'GET',
    path: '/emails/receiving/:id',
    operation: 'inbound_messages_get',
    query: z.strictObject({
      html_format: z.literal('cid', { error: 'can only be `cid`: images stay references to attachments' }).optional(),
    }),
    async handle(call, ours) {
      const message = await read(call, ours)
      const isKept = message.headers !== null // until the end of the retention period
      return { object: 'email', ...wholeOf(message), raw: isKept ? linkTo(message, 'raw', call.now, ours) : null }
    },
  }),
  endpoint({
    id: 'received_attachments_list',
    method: 'GET',
    path: '/emails/receiving/:id/attachments',
    operation: 'inbound_messages_get',
    query: listQuery,
    async handle(call, ours) {
      const { limit, after, before } = call.query
      const message = await read(call, ours)
      const all = attachmentsOf(message)
      const place = (id: string | undefined) => all.findIndex((each) => each.id === id)
      const end = before === undefined ? all.length : Math.max(place(before), 0)
      const start = before === undefined ? place(after) + 1 : Math.max(end - limit, 0)
      const page = all.slice(start, Math.min(start + limit, end))
      const hasMore = before === undefined ? start + limit < all.length : start > 0
      const data = page.map((each) => ({ ...each, ...linkTo(message, Number(each.id), call.now, ours) }))
      return { object: 'list', has_more: hasMore, data }
    },
  }),
  endpoint({
    id: 'received_attachments_get',
    method: 'GET',
    path: '/emails/receiving/:id/attachments/:attachment_id',
    operation: 'inbound_messages_get',
    async handle(call, ours) {
      const id = pathParameter(call, 'attachment_id')
      const message = await read(call, ours)
      const found = attachmentsOf(message).find((each) => each.id === id)
      if (found === undefined) throw new Refusal('not_found', 'No such attachment. Check its ID.')
      return { object: 'attachment', ...found, ...linkTo(message, Number(id), call.now, ours) }
    },
  }),
]

const read = (call: Named, ours: Ours): Promise<Wire> =>
  ours.ask('inbound_messages_get', { params: { inbound_message_id: pathParameter(call, 'id') } }, (body) => body)

/** Our lists have no headers and attachments. */
function headOf(message: Wire) {
  return {
    id: message.id,
    to: message.to,
    from: message.from,
    created_at: message.created_at,
    subject: message.subject,
    bcc: null,
    cc: null,
    reply_to: null,
    received_for: message.to,
    message_id: message.message_id,
    attachments: [],
  }
}

/** Addresses as the author wrote them, as far as they can be read. */
function wholeOf(message: Wire) {
  const named = (name: string): string[] | null => {
    const found = mailboxesOf(message.headers?.[name] ?? '').map(formatMailbox)
    return found.length === 0 ? null : found
  }
  return {
    ...headOf(message),
    from: named('from')?.[0] ?? message.from,
    to: named('to') ?? message.to,
    cc: named('cc'),
    reply_to: named('reply-to'),
    html: message.html_body || null,
    html_format: 'cid',
    text: message.text_body || null,
    headers: message.headers,
    attachments: attachmentsOf(message),
  }
}

function attachmentsOf({ attachments }: Wire) {
  return ((attachments ?? []) as Wire[]).map(receivedAttachment)
}

/** Our attachment at a position → Resend's. Its ID is the position, from 1. The disposition is not stored. */
export function receivedAttachment({ filename, content_type, size, content_id = null }: Wire, index: number) {
  const id = String(index + 1)
  return { id, filename, size, content_type, content_disposition: 'attachment', content_id }
}

/** A part of a message → its link and the end of the link. */
function linkTo({ id }: Wire, part: 'raw' | number, now: number, ours: Ours) {
  const expiresAt = now + DOWNLOAD_MS
  const url = ours.downloadUrl({ inboundMessageId: id, part }, expiresAt)
  return { download_url: url, expires_at: iso(expiresAt) }
}

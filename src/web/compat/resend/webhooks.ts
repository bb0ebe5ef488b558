import { z } from 'zod'
import { pathParameter } from '../../../net/path-parameter.ts'
import { type Endpoint, endpoint, type Named, type Wire } from '../external-api.ts'
import { ourEvent, RESEND_EVENTS, resendEvent } from './events.ts'
import { list, listQuery } from './list.ts'
import { repeatedId, requireSameId } from './repeated-id.ts'

const events = z
  .array(z.enum(RESEND_EVENTS, { error: `can be ${RESEND_EVENTS.join(', ')}` }))
  .min(1)
  .max(100)
const created = z.strictObject({ endpoint: z.string(), events })
const changed = z.strictObject({
  endpoint: z.string().optional(),
  events: events.optional(),
  status: z.enum(['enabled', 'disabled']).optional(),
  ...repeatedId('id', 'webhook_id'),
})
const NAMES = { url: 'endpoint' }
const OUR_STATUS = { enabled: 'active', disabled: 'paused' }

/** Webhooks created here get events in Resend's format, with its `svix-` headers. */
export const webhookEndpoints: Endpoint[] = [
  endpoint({
    id: 'webhooks_create',
    method: 'POST',
    path: '/webhooks',
    operation: 'webhooks_create',
    body: created,
    handle: ({ body }, ours) => {
      const said = { url: body.endpoint, events: body.events.map(ourEvent), format: 'resend' }
      return ours.ask('webhooks_create', { body: said, names: NAMES }, withSecret)
    },
  }),
  endpoint({
    id: 'webhooks_list',
    method: 'GET',
    path: '/webhooks',
    operation: 'webhooks_list',
    query: listQuery,
    handle: ({ query }, ours) => list(ours, 'webhooks_list', query, recordOf),
  }),
  endpoint({
    id: 'webhooks_get',
    method: 'GET',
    path: '/webhooks/:id',
    operation: 'webhooks_get',
    // Resend returns the secret here too. Reading a webhook needs the right to rotate its secret (web/api/access.ts).
    // Secrets of webhooks in another format stay hidden, as /v1 promises.
    handle: async (call, ours) => {
      const webhook = await ours.ask('webhooks_get', named(call), (webhook) => webhook)
      const signing_secret = webhook.format === 'resend' ? await ours.signingSecret(webhook.id) : null
      return { object: 'webhook', ...recordOf(webhook), signing_secret }
    },
  }),
  endpoint({
    id: 'webhooks_update',
    method: 'PATCH',
    path: '/webhooks/:id',
    operation: 'webhooks_update',
    body: changed,
    handle: (call, ours) => {
      const { endpoint: url, events, status, ...repeated } = call.body
      requireSameId(call.params, repeated)
      const said = { url, events: events?.map(ourEvent), status: status && OUR_STATUS[status] }
      return ours.ask('webhooks_update', { ...named(call), body: said, names: NAMES }, briefly)
    },
  }),
  endpoint({
    id: 'webhooks_remove',
    method: 'DELETE',
    path: '/webhooks/:id',
    operation: 'webhooks_delete',
    handle: (call, ours) =>
      ours.ask('webhooks_delete', named(call), (webhook) => ({ ...briefly(webhook), deleted: true })),
  }),
  endpoint({
    id: 'webhooks_rotate_secret',
    method: 'POST',
    path: '/webhooks/:id/signing-secret/rotate',
    operation: 'webhooks_rotate_secret',
    handle: (call, ours) => ours.ask('webhooks_rotate_secret', named(call), withSecret),
  }),
]

const named = (call: Named) => ({ params: { webhook_id: pathParameter(call, 'id') } })
const briefly = ({ id }: Wire) => ({ object: 'webhook', id })
const withSecret = ({ id, secret }: Wire) => ({ object: 'webhook', id, signing_secret: secret })

function recordOf({ id, url, events, status, created_at }: Wire) {
  const isOn = status === 'active'
  return { id, endpoint: url, events: events.map(resendEvent), status: isOn ? 'enabled' : 'disabled', created_at }
}

import { EVENT_TYPES } from '../../src/model/event.ts'
import type { ContractServer } from './contract-server.ts'

/** IDs of records by path parameter. */
export type Ids = Record<string, string>

/** Calls the API; rejects unless the response is a success. */
type Call = (
  method: 'GET' | 'POST',
  path: string,
  body?: unknown,
  key?: string,
  // biome-ignore lint/suspicious/noExplicitAny: JSON
) => Promise<any>

const WEBHOOK = { url: 'https://hooks.example.com/x', events: [...EVENT_TYPES] }
const ATTACHED = { attachments: [{ filename: 'a.txt', content: Buffer.from('x').toString('base64') }] }
const webhookRoute = (name: string) => ({
  name,
  match: { type: 'domain', value: 'example.com' },
  action: { type: 'webhook', config: { url: 'https://hooks.example.com/in' } },
})

/** A message from the server's domain. */
export const mail = (change: object = {}) => ({
  from: 'a@example.com',
  to: 'ann@customer.example',
  subject: 'x',
  text: 'x',
  ...change,
})

/** Makes the records that operations need, through the API. */
export interface Records {
  /** Creates one record of each kind. */
  all(): Promise<Ids>
  /** Creates one record of each kind that a path names. */
  of(path: string): Promise<Ids>
  scheduledMessage(): Promise<{ message_id: string }>
  spareDomain(): Promise<{ domain_id: string }>
  /** Operation ID → creates the records that it needs in place of those of `all`. */
  prepare(id: string): Promise<Ids>
  /** Example body of the document → the same with the IDs of this server. */
  withRealIds(example: unknown): unknown
}

/** Server and access to its API → Records. */
export function createRecords(setup: ContractServer, call: Call): Records {
  const { live, test: sandbox } = setup.keys
  let spares = 0
  const createdId = async (path: string, body: unknown, key = live): Promise<string> =>
    (await call('POST', path, body, key)).id

  /** What makes records of one kind, by the parameters that it gives. */
  const makers: [parameters: string[], make: () => Promise<Ids>][] = [
    [
      ['webhook_id', 'delivery_id'],
      async () => {
        const webhook_id = await createdId('/v1/webhooks', WEBHOOK)
        await call('POST', `/v1/webhooks/${webhook_id}/test`, { type: 'message.clicked' })
        const { data } = await call('GET', `/v1/webhooks/${webhook_id}/deliveries`)
        return { webhook_id, delivery_id: data[0].id }
      },
    ],
    [
      ['message_id', 'event_id'],
      async () => {
        const recipients = ['ann', 'bounce', 'click', 'complain', 'unsubscribe', 'defer'].map(
          (name) => `${name}@customer.example`,
        )
        const parts = { to: recipients, html: '<a href="https://example.com/">x</a>', metadata: { n: 1, yes: true } }
        const message_id = await createdId('/v1/send', mail(parts), sandbox)
        return { message_id, event_id: (await call('GET', `/v1/messages/${message_id}/events`)).data[0].id }
      },
    ],
    [
      ['route_id', 'inbound_message_id'],
      async () => {
        const route_id = await createdId('/v1/inbound-routes', webhookRoute('all'))
        return { route_id, inbound_message_id: await setup.addInbound(route_id) }
      },
    ],
    [
      ['key_id'],
      async () => ({
        key_id: await createdId('/v1/api-keys', { name: 'k', domain_id: setup.domain.id, permissions: ['read'] }),
      }),
    ],
    [
      ['template_id'],
      async () => ({
        template_id: await createdId('/v1/templates', { name: 't', subject: 'Hi {{ name }}', text: 'Hi {{ name }}' }),
      }),
    ],
    [
      ['id_or_email'],
      async () => ({ id_or_email: await createdId('/v1/suppressions', { email: `s${spares++}@customer.example` }) }),
    ],
    [['session_id'], async () => ({ session_id: await setup.addSession() })],
    [['blocked_link_id'], async () => ({ blocked_link_id: await setup.addBlockedLink() })],
    [['alert_id'], async () => ({ alert_id: await setup.addAlert() })],
    [['user_id'], async () => ({ user_id: await setup.addUser() })],
    [
      ['erasure_id'],
      async () => ({ erasure_id: await createdId('/v1/recipients/erase', { email: 'nobody@customer.example' }) }),
    ],
    [
      ['invitation_id'],
      async () => ({
        invitation_id: await createdId('/v1/invitations', { email: `i${spares++}@a.example`, role: 'viewer' }),
      }),
    ],
  ]
  const create = async (isNeeded: (parameter: string) => boolean): Promise<Ids> => {
    const ids: Ids = { domain_id: setup.domain.id, organization_id: setup.organizationId, number: '1' }
    for (const [parameters, make] of makers) if (parameters.some(isNeeded)) Object.assign(ids, await make())
    return ids
  }
  const scheduledMessage = async () => ({
    message_id: await createdId('/v1/send', mail({ scheduled_at: '2026-11-22T12:00:00Z' })),
  })
  const spareDomain = async () => ({ domain_id: await createdId('/v1/domains', { name: `spare${spares++}.example` }) })
  const forwarding = { type: 'forward', config: { to: 'ann@elsewhere.example' } }
  const prepared: Record<string, () => Promise<Ids>> = {
    messages_cancel: scheduledMessage,
    messages_update: scheduledMessage,
    messages_attachment: async () => ({ message_id: await createdId('/v1/send', mail(ATTACHED)) }),
    messages_delete_content: async () => ({ message_id: await createdId('/v1/send', mail(), sandbox) }),
    domains_delete: spareDomain,
    inbound_routes_confirmations: async () => ({
      route_id: await createdId('/v1/inbound-routes', { ...webhookRoute('on'), action: forwarding }),
    }),
  }

  return {
    all: () => create(() => true),
    of: (path) => create((parameter) => path.includes(`{${parameter}}`)),
    scheduledMessage,
    spareDomain,
    prepare: async (id) => (await prepared[id]?.()) ?? {},
    withRealIds: (example) =>
      example === undefined
        ? undefined
        : JSON.parse(JSON.stringify(example).replace(/dom_01m7ykx6js1zy8zpzy8z8cwhzy/g, setup.domain.id)),
  }
}

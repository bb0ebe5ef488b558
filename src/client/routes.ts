// Generated from the OpenAPI document by scripts/client-types.ts.

import type { Routes } from './route.ts'

/** Of the client, and of the API that it was made for. */
export const VERSION = '0.1.0'

/** Fields of requests and responses with a map, whose names are data. */
export const FREE_FIELDS: Record<'asked' | 'shown', readonly string[]> = {
  asked: ['headers', 'locales', 'metadata', 'sample', 'suppressions', 'variables'],
  shown: ['headers', 'locales', 'metadata', 'sample'],
}

/** Every operation for API keys, by its place in the client. */
export const ROUTES = {
  messages: {
    send: { method: 'POST', path: '/v1/messages/send', takes: 'body', isKeyed: true },
    batch: { method: 'POST', path: '/v1/messages/batch', takes: 'body', isKeyed: true },
    list: { method: 'GET', path: '/v1/messages', takes: 'query', isList: true },
    get: { method: 'GET', path: '/v1/messages/{message_id}' },
    update: { method: 'PATCH', path: '/v1/messages/{message_id}', takes: 'body' },
    content: { method: 'GET', path: '/v1/messages/{message_id}/content', takes: 'query', isRaw: true },
    deleteContent: { method: 'DELETE', path: '/v1/messages/{message_id}/content' },
    events: { method: 'GET', path: '/v1/messages/{message_id}/events', takes: 'query', isList: true },
    attempts: { method: 'GET', path: '/v1/messages/{message_id}/attempts' },
    webhookDeliveries: { method: 'GET', path: '/v1/messages/{message_id}/webhook-deliveries' },
    attachment: { method: 'GET', path: '/v1/messages/{message_id}/attachments/{number}', isRaw: true },
    cancel: { method: 'POST', path: '/v1/messages/{message_id}/cancel', isRepeatable: true },
    resend: { method: 'POST', path: '/v1/messages/{message_id}/resend', isKeyed: true },
    analyze: { method: 'POST', path: '/v1/messages/analyze', takes: 'body', isRepeatable: true },
    explain: { method: 'GET', path: '/v1/messages/{message_id}/explain' },
  },
  apiKeys: {
    create: { method: 'POST', path: '/v1/api-keys', takes: 'body', isKeyed: true },
    list: { method: 'GET', path: '/v1/api-keys', takes: 'query', isList: true },
    get: { method: 'GET', path: '/v1/api-keys/{key_id}' },
    update: { method: 'PATCH', path: '/v1/api-keys/{key_id}', takes: 'body' },
    revoke: { method: 'DELETE', path: '/v1/api-keys/{key_id}' },
    rotate: { method: 'POST', path: '/v1/api-keys/{key_id}/rotate', takes: 'body', isKeyed: true },
  },
  domains: {
    create: { method: 'POST', path: '/v1/domains', takes: 'body', isKeyed: true },
    list: { method: 'GET', path: '/v1/domains', takes: 'query', isList: true },
    get: { method: 'GET', path: '/v1/domains/{domain_id}' },
    update: { method: 'PATCH', path: '/v1/domains/{domain_id}', takes: 'body' },
    delete: { method: 'DELETE', path: '/v1/domains/{domain_id}' },
    dnsHost: { method: 'GET', path: '/v1/domains/{domain_id}/dns-host' },
    verify: { method: 'POST', path: '/v1/domains/{domain_id}/verify', isRepeatable: true },
    rotateDkim: { method: 'POST', path: '/v1/domains/{domain_id}/rotate-dkim' },
    dmarc: { method: 'GET', path: '/v1/domains/{domain_id}/dmarc', takes: 'query' },
    tlsReports: { method: 'GET', path: '/v1/domains/{domain_id}/tls-reports', takes: 'query' },
  },
  auditLog: {
    list: { method: 'GET', path: '/v1/audit-log', takes: 'query', isList: true },
  },
  usage: {
    get: { method: 'GET', path: '/v1/usage' },
  },
  billing: {
    get: { method: 'GET', path: '/v1/billing' },
    update: { method: 'PATCH', path: '/v1/billing', takes: 'body' },
  },
  events: {
    list: { method: 'GET', path: '/v1/events', takes: 'query', isList: true },
    stream: { method: 'GET', path: '/v1/events/stream', takes: 'query', isStream: true },
    get: { method: 'GET', path: '/v1/events/{event_id}' },
  },
  explain: {
    address: { method: 'GET', path: '/v1/explain', takes: 'query' },
  },
  stats: {
    read: { method: 'GET', path: '/v1/stats', takes: 'query' },
  },
  quality: {
    list: { method: 'GET', path: '/v1/quality', takes: 'query', isList: true },
  },
  suppressions: {
    list: { method: 'GET', path: '/v1/suppressions', takes: 'query', isList: true },
    create: { method: 'POST', path: '/v1/suppressions', takes: 'body', isKeyed: true },
    get: { method: 'GET', path: '/v1/suppressions/{id_or_email}' },
    delete: { method: 'DELETE', path: '/v1/suppressions/{id_or_email}' },
    export: { method: 'GET', path: '/v1/suppressions/export', takes: 'query', isRaw: true },
    import: { method: 'POST', path: '/v1/suppressions/import', takes: 'body', isRepeatable: true },
  },
  recipients: {
    erase: { method: 'POST', path: '/v1/recipients/erase', takes: 'body' },
    erasuresList: { method: 'GET', path: '/v1/recipients/erasures', takes: 'query', isList: true },
    erasureGet: { method: 'GET', path: '/v1/recipients/erasures/{erasure_id}' },
  },
  templates: {
    create: { method: 'POST', path: '/v1/templates', takes: 'body', isKeyed: true },
    list: { method: 'GET', path: '/v1/templates', takes: 'query', isList: true },
    get: { method: 'GET', path: '/v1/templates/{template_id}', takes: 'query' },
    update: { method: 'PATCH', path: '/v1/templates/{template_id}', takes: 'body' },
    delete: { method: 'DELETE', path: '/v1/templates/{template_id}' },
    render: { method: 'POST', path: '/v1/templates/{template_id}/render', takes: 'body', isRepeatable: true },
    preview: { method: 'POST', path: '/v1/templates/preview', takes: 'body', isRepeatable: true },
    versions: { method: 'GET', path: '/v1/templates/{template_id}/versions', takes: 'query', isList: true },
  },
  webhooks: {
    create: { method: 'POST', path: '/v1/webhooks', takes: 'body', isKeyed: true },
    list: { method: 'GET', path: '/v1/webhooks', takes: 'query', isList: true },
    get: { method: 'GET', path: '/v1/webhooks/{webhook_id}' },
    update: { method: 'PATCH', path: '/v1/webhooks/{webhook_id}', takes: 'body' },
    delete: { method: 'DELETE', path: '/v1/webhooks/{webhook_id}' },
    test: { method: 'POST', path: '/v1/webhooks/{webhook_id}/test', takes: 'body' },
    rotateSecret: { method: 'POST', path: '/v1/webhooks/{webhook_id}/rotate-secret', takes: 'body', isKeyed: true },
    deliveries: {
      list: { method: 'GET', path: '/v1/webhooks/{webhook_id}/deliveries', takes: 'query', isList: true },
      get: { method: 'GET', path: '/v1/webhooks/{webhook_id}/deliveries/{delivery_id}' },
      retry: { method: 'POST', path: '/v1/webhooks/{webhook_id}/deliveries/{delivery_id}/retry' },
    },
    replay: { method: 'POST', path: '/v1/webhooks/{webhook_id}/replay', takes: 'body' },
  },
  inboundRoutes: {
    create: { method: 'POST', path: '/v1/inbound-routes', takes: 'body', isKeyed: true },
    list: { method: 'GET', path: '/v1/inbound-routes', takes: 'query', isList: true },
    get: { method: 'GET', path: '/v1/inbound-routes/{route_id}' },
    update: { method: 'PATCH', path: '/v1/inbound-routes/{route_id}', takes: 'body' },
    delete: { method: 'DELETE', path: '/v1/inbound-routes/{route_id}' },
    confirmations: { method: 'POST', path: '/v1/inbound-routes/{route_id}/confirmations', takes: 'body' },
    test: { method: 'POST', path: '/v1/inbound-routes/{route_id}/test', takes: 'body', isRepeatable: true },
  },
  inboundMessages: {
    list: { method: 'GET', path: '/v1/inbound-messages', takes: 'query', isList: true },
    get: { method: 'GET', path: '/v1/inbound-messages/{inbound_message_id}' },
    raw: { method: 'GET', path: '/v1/inbound-messages/{inbound_message_id}/raw', isRaw: true },
    deliveries: { method: 'GET', path: '/v1/inbound-messages/{inbound_message_id}/deliveries' },
    redeliver: { method: 'POST', path: '/v1/inbound-messages/{inbound_message_id}/redeliver' },
  },
  invitations: {
    create: { method: 'POST', path: '/v1/invitations', takes: 'body' },
    list: { method: 'GET', path: '/v1/invitations', takes: 'query', isList: true },
    delete: { method: 'DELETE', path: '/v1/invitations/{invitation_id}' },
  },
  users: {
    list: { method: 'GET', path: '/v1/users', takes: 'query', isList: true },
    get: { method: 'GET', path: '/v1/users/{user_id}' },
    update: { method: 'PATCH', path: '/v1/users/{user_id}', takes: 'body' },
    delete: { method: 'DELETE', path: '/v1/users/{user_id}', takes: 'query' },
    sessionsList: { method: 'GET', path: '/v1/users/{user_id}/sessions', takes: 'query', isList: true },
    sessionsDelete: { method: 'DELETE', path: '/v1/users/{user_id}/sessions' },
  },
} satisfies Routes

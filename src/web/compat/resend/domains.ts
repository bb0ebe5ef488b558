import { getDomain } from 'tldts'
import { z } from 'zod'
import { pathParameter } from '../../../net/path-parameter.ts'
import { type Endpoint, endpoint, type Named, type Ours, type Wire } from '../external-api.ts'
import { list, listQuery } from './list.ts'
import { repeatedId, requireSameId } from './repeated-id.ts'

const tracking = {
  open_tracking: z.boolean().optional(),
  click_tracking: z.boolean().optional(),
  tracking_subdomain: z
    .string()
    .regex(/^[\w-]{1,63}$/, 'must be one label, such as `links`')
    .optional(),
  tls: z
    .literal('opportunistic', { error: 'can only be `opportunistic`; set `require_tls` per message instead' })
    .optional(),
  capabilities: z
    .strictObject({
      sending: z.literal('enabled').optional(),
      receiving: z
        .literal('disabled', {
          error: 'cannot be enabled here; add an inbound route instead (POST /v1/inbound-routes)',
        })
        .optional(),
    })
    .optional(),
}
const created = z.strictObject({
  name: z.string(),
  region: z.undefined({ error: 'cannot be chosen: mail is sent from this server' }).optional(),
  custom_return_path: z
    .literal('bounces', { error: 'cannot be chosen: the return path is `bounces` under the domain' })
    .optional(),
  ...tracking,
})
const changed = z.strictObject({ ...tracking, ...repeatedId('id') })
const NAMES = { 'tracking.host': 'tracking_subdomain' }

export const domainEndpoints: Endpoint[] = [
  endpoint({
    id: 'domains_create',
    method: 'POST',
    path: '/domains',
    operation: 'domains_create',
    body: created,
    handle: ({ body }, ours) => {
      const said = { name: body.name, tracking: trackingOf(body, body.name) }
      return ours.ask('domains_create', { body: said, names: NAMES }, wholeOf)
    },
  }),
  endpoint({
    id: 'domains_list',
    method: 'GET',
    path: '/domains',
    operation: 'domains_list',
    query: listQuery,
    handle: ({ query }, ours) => list(ours, 'domains_list', query, headOf),
  }),
  endpoint({
    id: 'domains_get',
    method: 'GET',
    path: '/domains/:id',
    operation: 'domains_get',
    handle: (call, ours) =>
      ours.ask('domains_get', named(call), (domain) => ({ object: 'domain', ...wholeOf(domain) })),
  }),
  endpoint({
    id: 'domains_update',
    method: 'PATCH',
    path: '/domains/:id',
    operation: 'domains_update',
    body: changed,
    async handle(call, ours) {
      const { id, ...body } = call.body
      requireSameId(call.params, { id })
      const name = body.tracking_subdomain === undefined ? '' : await nameOf(call, ours)
      const said = { ...named(call), body: { tracking: trackingOf(body, name) }, names: NAMES }
      return ours.ask('domains_update', said, briefly)
    },
  }),
  endpoint({
    id: 'domains_remove',
    method: 'DELETE',
    path: '/domains/:id',
    operation: 'domains_delete',
    handle: (call, ours) =>
      ours.ask('domains_delete', named(call), ({ id }) => ({ object: 'domain', id, deleted: true })),
  }),
  endpoint({
    id: 'domains_verify',
    method: 'POST',
    path: '/domains/:id/verify',
    operation: 'domains_verify',
    handle: (call, ours) => ours.ask('domains_verify', named(call), briefly),
  }),
]

const named = (call: Named) => ({ params: { domain_id: pathParameter(call, 'id') } })
const briefly = ({ id }: Wire) => ({ object: 'domain', id })
const nameOf = (call: Named, ours: Ours): Promise<string> => ours.ask('domains_get', named(call), ({ name }) => name)

function trackingOf(body: Omit<z.infer<typeof changed>, 'id'>, name: string) {
  const { open_tracking: opens, click_tracking: clicks, tracking_subdomain: label } = body
  return { opens, clicks, host: label && `${label}.${name}` }
}

function wholeOf(domain: Wire) {
  return { ...headOf(domain), records: recordsOf(domain) }
}

/** Our domain → Resend's record. `region` is this server. */
function headOf({ id, name, status, created_at, last_checked_at, tracking: { opens, clicks, host } }: Wire) {
  return {
    id,
    name,
    status: status === 'pending' && last_checked_at === null ? 'not_started' : status,
    created_at,
    region: 'self-hosted',
    capabilities: { sending: 'enabled', receiving: 'disabled' },
    open_tracking: opens,
    click_tracking: clicks,
    ...(host !== null && { tracking_subdomain: host.slice(0, -name.length - 1) }),
  }
}

/** Our record purposes → Resend's record types. Resend has none for our other recommendations (DMARC, MTA-STS, MX). */
const RECORDS: Record<string, string> = {
  dkim: 'DKIM',
  dkim_standby: 'DKIM',
  spf: 'SPF',
  return_path: 'SPF',
  tracking: 'Tracking',
}
const STATUSES: Record<string, string> = {
  pending: 'not_started',
  missing: 'pending',
  mismatch: 'failed',
  valid: 'verified',
}

/** Names are relative to the zone, as Resend writes them: `bounces`, or `bounces.news` for news.example.com. */
function recordsOf({ name: domain, dns_records }: Wire) {
  const zone = getDomain(domain) ?? domain
  return dns_records.flatMap(({ purpose, type, name, value, priority, status }: Wire) => {
    const record = RECORDS[purpose]
    if (record === undefined) return []
    const relative = name.endsWith(`.${zone}`) ? name.slice(0, -zone.length - 1) : name
    const found = { record, name: relative, type, ttl: 'Auto', status: STATUSES[status], value }
    return [priority === null ? found : { ...found, priority }]
  })
}

import type { EndpointHeaders } from '../../model/endpoint-headers.ts'
import { webhookPausedEvent } from '../../model/on-demand-event.ts'
import type { Webhook, WebhookSecrets } from '../../model/webhook.ts'
import type { Encryption } from '../encryption.ts'
import { changedHeaders, decryptHeaders, encryptHeaders } from '../endpoint-headers.ts'
import type { OnDemandEvents } from '../fan-out-targets.ts'
import { rangeOf, toPage } from '../page.ts'
import type { PausedByServer, Webhooks } from '../store.ts'
import { placeOf, type SecretsRow, toSecrets, toWebhook, type WebhookRow } from '../webhook-rows.ts'
import { type Connection, one } from './driver.ts'
import type { ForeignChanges } from './foreign.ts'
import type { RememberInside } from './idempotency.ts'
import type { Usage } from './usage.ts'
import type { Writer } from './writer.ts'

export const WEBHOOK_COLUMNS = `id, organization_id as organizationId, url, events, format, status, description,
  disabled_reason as disabledReason, created_at as createdAt, updated_at as updatedAt,
  last_success_at as lastSuccessAt, last_failure_at as lastFailureAt,
  consecutive_failures as consecutiveFailures, failing_since as failingSince, mode, domain_id as domainId,
  header_names as headerNames`
const CREATE = `insert into webhooks (id, organization_id, url, events, format, status, description, disabled_reason,
    created_at, updated_at, secret, mode, domain_id, header_names, headers)
  values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`
const GET = `select ${WEBHOOK_COLUMNS} from webhooks where id = ?`
const LIST = `select ${WEBHOOK_COLUMNS} from webhooks
  where organization_id = ? and id < ? and created_at >= ? and created_at < ? order by id desc limit ?`
const ACTIVE_OF = `select ${WEBHOOK_COLUMNS} from webhooks where organization_id = ? and status = 'active' order by id`
const UPDATE = `update webhooks set url = ?, events = ?, status = ?, description = ?, disabled_reason = ?, updated_at = ?
  where id = ?`
const SET_HEADERS = 'update webhooks set header_names = ?, headers = ? where id = ?'
const HEADERS = 'select headers from webhooks where id = ?'
const SECRETS = `select secret, previous_secret as previous, previous_expires_at as expiresAt from webhooks where id = ?`
const ROTATE = `update webhooks set previous_secret = secret, previous_expires_at = ?, secret = ?, updated_at = ?
  where id = ?`
const PAUSE = `update webhooks set status = 'paused' where id = ?`
const REMOVE_DELIVERIES = `delete from webhook_deliveries where number in (
    select number from webhook_deliveries where webhook_id = ? limit ?)`
const COUNT = 'select count(*) from webhooks where organization_id = ?'
const PAUSED_BY_SERVER = `select organization_id as organizationId, count(*) as webhooks, max(disabled_reason) as reason
  from webhooks indexed by webhooks_paused_by_server where status = 'paused' and disabled_reason is not null
  group by organization_id limit ?`
const REMOVE = 'delete from webhooks where id = ?'

/** Deliveries of a removed webhook deleted in one transaction: a few milliseconds. */
const REMOVE_MAX = 250

/** Webhooks for fan-out and posting, cached until something changes. */
export interface WebhookCache {
  get(id: string): (Webhook & { secrets: WebhookSecrets }) | null
  activeOf(organizationId: string): Webhook[]
  /** Decrypts the headers for a request, since ten of them can be larger than everything else. */
  headersOf(webhook: Webhook): EndpointHeaders
  drop(): void
}

export function webhookCache(db: Connection, foreign: ForeignChanges, encryption: Encryption): WebhookCache {
  const get = db.prepare<unknown[], WebhookRow>(GET)
  const secrets = db.prepare<unknown[], SecretsRow>(SECRETS)
  const activeOf = db.prepare<unknown[], WebhookRow>(ACTIVE_OF)
  const headers = db.prepare<unknown[], Uint8Array | null>(HEADERS).pluck()
  const byId = new Map<string, (Webhook & { secrets: WebhookSecrets }) | null>()
  const byOrganization = new Map<string, Webhook[]>()
  const drop = () => {
    byId.clear()
    byOrganization.clear()
  }
  foreign.onChange(drop)
  return {
    get: (id) => {
      let webhook = byId.get(id)
      if (webhook === undefined) {
        const row = get.get(id)
        webhook = row === undefined ? null : { ...toWebhook(row), secrets: toSecrets(id, one(secrets, id), encryption) }
        byId.set(id, webhook)
      }
      return webhook
    },
    activeOf: (organizationId) => {
      let webhooks = byOrganization.get(organizationId)
      if (webhooks === undefined) {
        webhooks = activeOf.all(organizationId).map(toWebhook)
        byOrganization.set(organizationId, webhooks)
      }
      return webhooks
    },
    headersOf: ({ id, url, headerNames }) =>
      headerNames.length === 0 ? [] : decryptHeaders(headers.get(id), { url, place: placeOf(id), encryption }),
    drop,
  }
}

export function sqliteWebhooks(
  db: Connection,
  writer: Writer,
  cache: WebhookCache,
  remember: RememberInside,
  encryption: Encryption,
  usage: Usage,
  onDemand: OnDemandEvents,
): Webhooks {
  const create = db.prepare(CREATE)
  const get = db.prepare<unknown[], WebhookRow>(GET)
  const list = db.prepare<unknown[], WebhookRow>(LIST)
  const update = db.prepare(UPDATE)
  const setHeaders = db.prepare(SET_HEADERS)
  const secrets = db.prepare<unknown[], SecretsRow>(SECRETS)
  const rotate = db.prepare(ROTATE)
  const pause = db.prepare(PAUSE)
  const count = db.prepare<unknown[], number>(COUNT).pluck()
  const removeDeliveries = db.prepare(REMOVE_DELIVERIES)
  const remove = db.prepare(REMOVE)
  const pausedByServer = db.prepare<unknown[], PausedByServer>(PAUSED_BY_SERVER)

  /** Clears the cache inside the change, so that the next change of the same group sees this one. */
  const change = <T>(write: () => T): Promise<T> =>
    writer.write(() => {
      const value = write()
      cache.drop()
      return value
    })
  const find = (id: string): Webhook | null => {
    const row = get.get(id)
    return row === undefined ? null : toWebhook(row)
  }

  return {
    create: (webhook, secret, record) =>
      change(() => {
        const { id, organizationId, url, events, format, status, description, disabledReason } = webhook
        const { createdAt, updatedAt } = webhook
        const limit = usage.reached(organizationId, 'webhooks', 1, () => one(count, organizationId))
        if (limit !== null) return limit
        const place = placeOf(id)
        const columns = encryptHeaders(webhook.headers ?? [], { url, place, encryption })
        create.run(
          id,
          organizationId,
          url,
          JSON.stringify(events),
          format,
          status,
          description,
          disabledReason,
          createdAt,
          updatedAt,
          encryption.encrypt(secret, place),
          webhook.mode,
          webhook.domainId,
          columns.headerNames,
          columns.headers,
        )
        remember(record)
        return 'created'
      }),
    count: async (organizationId) => one(count, organizationId),
    get: async (id) => find(id),
    list: async (organizationId, page) => toPage(list.all(organizationId, ...rangeOf(page)), page, toWebhook),
    update: (id, fields, now) =>
      change(() => {
        const present = find(id)
        if (present === null) return null
        const { url, events, status, description, disabledReason } = { ...present, ...fields }
        update.run(url, JSON.stringify(events), status, description, disabledReason, now, id)
        const columns = changedHeaders(fields.headers, present.url, { url, place: placeOf(id), encryption })
        if (columns !== null) setHeaders.run(columns.headerNames, columns.headers, id)
        const changed = find(id)
        if (changed !== null && status === 'paused' && present.status === 'active') {
          cache.drop() // it does not receive its own event
          onDemand.offer(webhookPausedEvent(changed, now))
        }
        return changed
      }),
    pausedByServer: async (limit) => pausedByServer.all(limit),
    secrets: async (id) => {
      const row = secrets.get(id)
      return row === undefined ? null : toSecrets(id, row, encryption)
    },
    rotateSecret: (id, secret, previousExpiresAt, now, record) =>
      change(() => {
        rotate.run(previousExpiresAt, encryption.encrypt(secret, placeOf(id)), now, id)
        remember(record)
      }),
    // There may be a month of deliveries: the webhook is paused first and deleted after the last of them. An
    // interruption leaves a paused webhook that can be removed again.
    remove: async (id) => {
      await change(() => pause.run(id))
      let isLeft = true
      while (isLeft) {
        isLeft = await change(() => {
          const mayBeMore = removeDeliveries.run(id, REMOVE_MAX).changes === REMOVE_MAX
          if (!mayBeMore) remove.run(id)
          return mayBeMore
        })
      }
    },
  }
}

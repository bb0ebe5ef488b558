import { webhookPausedEvent } from '../../model/on-demand-event.ts'
import type { Webhook, WebhookSecrets } from '../../model/webhook.ts'
import type { Encryption } from '../encryption.ts'
import { changedHeaders, encryptHeaders, toHeaderNames } from '../endpoint-headers.ts'
import { type Inside, limitReached } from '../inside.ts'
import { rangeOf, toPage } from '../page.ts'
import { changed, type Database, row, rows, run, sql, type Work } from '../sql.ts'
import type { PausedByServer, Webhooks } from '../store.ts'

/** A row of webhooks. */
export type WebhookRow = Omit<Webhook, 'events' | 'headerNames'> & { events: string; headerNames: string | null }

/** A webhook, and what signs its posts. */
export type SigningWebhook = Webhook & { secrets: WebhookSecrets }

/** The same as a row, encrypted. */
export type SigningWebhookRow = WebhookRow & {
  secret: Uint8Array
  previous: Uint8Array | null
  expiresAt: number | null
}

export const WEBHOOK_COLUMNS = `id, organization_id as "organizationId", url, events, format, status, description,
  disabled_reason as "disabledReason", created_at as "createdAt", updated_at as "updatedAt",
  last_success_at as "lastSuccessAt", last_failure_at as "lastFailureAt",
  consecutive_failures as "consecutiveFailures", failing_since as "failingSince", mode, domain_id as "domainId",
  header_names as "headerNames"`
export const SIGNING_COLUMNS = `${WEBHOOK_COLUMNS}, secret, previous_secret as previous,
  previous_expires_at as "expiresAt"`
const CREATE =
  sql(`insert into webhooks (id, organization_id, url, events, format, status, description, disabled_reason,
    created_at, updated_at, secret, mode, domain_id, header_names, headers)
  values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15)`)
const COUNT = sql<{ count: number }>('select count(*) as count from webhooks where organization_id = $1')
const GET = sql<WebhookRow>(`select ${WEBHOOK_COLUMNS} from webhooks where id = $1`)
export const SIGNING_WEBHOOK = sql<SigningWebhookRow>(`select ${SIGNING_COLUMNS} from webhooks where id = $1`)
const LIST = sql<WebhookRow>(`select ${WEBHOOK_COLUMNS} from webhooks
  where organization_id = $1 and id < $2 and created_at >= $3 and created_at < $4 order by id desc limit $5`)
const UPDATE = sql(`update webhooks set url = $2, events = $3, status = $4, description = $5, disabled_reason = $6,
  updated_at = $7 where id = $1`)
const SET_HEADERS = sql('update webhooks set header_names = $2, headers = $3 where id = $1')
const PAUSED_BY_SERVER = sql<PausedByServer>(`select organization_id as "organizationId", count(*) as webhooks,
    max(disabled_reason) as reason
  from webhooks where status = 'paused' and disabled_reason is not null group by organization_id
  order by organization_id limit $1`)
const ROTATE = sql(`update webhooks set previous_secret = secret, previous_expires_at = $2, secret = $3, updated_at = $4
  where id = $1`)
// It gets no further delivery from then on: PostgreSQL drops it from memory. SQLite deletes what an earlier fan-out
// still writes together with the webhook.
const PAUSE = sql(
  `update webhooks set status = 'paused', removing = true where id = $1`,
  `update webhooks set status = 'paused' where id = $1`,
)
// Step by step: PostgreSQL in the order of its index, past what earlier steps have deleted but not yet vacuumed.
const NEXT_OF = sql<Place>(
  `select id, created_at as at from webhook_deliveries
    where webhook_id = $1 and (created_at, id) > ($2::bigint, $3) order by created_at, id limit $4`,
  'select id, created_at as at from webhook_deliveries where webhook_id = $1 order by number limit $4',
)
// In SQLite the queue is a column, and the attempts go with their delivery.
const REMOVE_DELIVERIES = sql(
  `with queued as (delete from webhook_queue where id = any($1::text[])),
      attempts as (delete from webhook_attempts where delivery_id = any($1::text[]))
    delete from webhook_deliveries where id = any($1::text[])`,
  'delete from webhook_deliveries where id = any($1::text[])',
)
const REMOVE = sql('delete from webhooks where id = $1')

/** Deliveries of a removed webhook that are deleted in one transaction: some milliseconds. */
const REMOVE_MAX = 250

export function webhookRecords(
  database: Database,
  { remember, usage, offer, pausing }: Inside,
  encryption: Encryption,
): Webhooks {
  const change = <T>(id: string, work: () => Work<T>): Promise<T> =>
    database.write(function* () {
      const value = yield* work()
      yield* changed('webhook', id)
      return value
    }, 'settings')

  return {
    create: (webhook, secret, record) =>
      change(webhook.id, function* () {
        const { id, organizationId, url, events, format, status, description, disabledReason } = webhook
        const limit = yield* limitReached(usage.planOf(organizationId), 'webhooks', () => count(organizationId))
        if (limit !== null) return limit
        const place = placeOfWebhook(id)
        const { headerNames, headers } = encryptHeaders(webhook.headers ?? [], { url, place, encryption })
        const first = [id, organizationId, url, JSON.stringify(events), format, status, description, disabledReason]
        const { createdAt, updatedAt, mode, domainId } = webhook
        const encrypted = encryption.encrypt(secret, place)
        yield* run(CREATE, ...first, createdAt, updatedAt, encrypted, mode, domainId, headerNames, headers)
        yield* remember(record)
        return 'created'
      }),
    count: (organizationId) => database.read(() => count(organizationId)),
    get: (id) => database.read(() => find(id)),
    list: async (organizationId, page) =>
      toPage(await database.rows(LIST, organizationId, ...rangeOf(page)), page, toWebhook),
    update: (id, fields, now) => {
      const kind = fields.status === 'paused' ? 'settings and events' : 'settings'
      return database.write(function* () {
        const present = yield* find(id)
        if (present === null) return null
        const { url, events, status, description, disabledReason } = { ...present, ...fields }
        yield* run(UPDATE, id, url, JSON.stringify(events), status, description, disabledReason, now)
        const columns = changedHeaders(fields.headers, present.url, { url, place: placeOfWebhook(id), encryption })
        if (columns !== null) yield* run(SET_HEADERS, id, columns.headerNames, columns.headers)
        yield* changed('webhook', id)
        const webhook = yield* find(id)
        if (webhook?.status === 'paused' && present.status === 'active') {
          yield* pausing(id)
          yield* offer(webhookPausedEvent(webhook, now))
        }
        return webhook
      }, kind)
    },
    pausedByServer: (limit) => database.rows(PAUSED_BY_SERVER, limit),
    secrets: async (id) => {
      const found = await database.row(SIGNING_WEBHOOK, id)
      return found === null ? null : toSigningWebhook(found, encryption).secrets
    },
    rotateSecret: (id, secret, previousExpiresAt, now, record) =>
      change(id, function* () {
        yield* run(ROTATE, id, previousExpiresAt, encryption.encrypt(secret, placeOfWebhook(id)), now)
        yield* remember(record)
      }),
    // There may be a month of deliveries: the webhook is paused first, and deleted with the last of them.
    remove: async (id) => {
      await change(id, () => run(PAUSE, id))
      await database.groupsSettled()
      for (let last: Place | null = { at: -1, id: '' }; last !== null; ) {
        const after: Place = last
        last = await database.write(() => removeSome(id, after), 'settings and events')
      }
    },
  }
}

function* count(organizationId: string): Work<number> {
  return (yield* row(COUNT, organizationId))?.count ?? 0
}

function* find(id: string): Work<Webhook | null> {
  const found = yield* row(GET, id)
  return found === null ? null : toWebhook(found)
}

/** Place of a delivery in the order of a webhook's deliveries. */
interface Place {
  at: number
  id: string
}

/** Deletes the next deliveries of a webhook → the last of them; null once the webhook is deleted with the last ones. */
function* removeSome(webhookId: string, { at, id }: Place): Work<Place | null> {
  const next = yield* rows(NEXT_OF, webhookId, at, id, REMOVE_MAX)
  const ids = next.map((each) => each.id)
  yield* run(REMOVE_DELIVERIES, ids)
  if (next.length === REMOVE_MAX) return next.at(-1) ?? null
  yield* run(REMOVE, webhookId)
  yield* changed('webhook', webhookId)
  return null
}

export function toWebhook({ events, headerNames, ...rest }: WebhookRow): Webhook {
  return { ...rest, events: JSON.parse(events), headerNames: toHeaderNames(headerNames) }
}

/** Throws EncryptionKeyUnusable if the secrets were encrypted with another key. */
export function toSigningWebhook(
  { secret, previous, expiresAt, ...webhook }: SigningWebhookRow,
  encryption: Encryption,
): SigningWebhook {
  const open = (encrypted: Uint8Array) => encryption.decrypt(encrypted, placeOfWebhook(webhook.id)).toString()
  return {
    ...toWebhook(webhook),
    secrets: {
      secret: open(secret),
      previous: previous === null ? null : { secret: open(previous), expiresAt: expiresAt ?? 0 },
    },
  }
}

/** Encryption place of its headers and of both its secrets: a rotation moves one to the other's column. */
export const placeOfWebhook = (id: string) => `webhooks ${id}`

import type { EndpointHeaders } from '../../model/endpoint-headers.ts'
import type { Remember } from '../../model/idempotency.ts'
import type { LimitReached } from '../../model/limits.ts'
import { webhookPausedEvent } from '../../model/on-demand-event.ts'
import type { SigningWebhook, Webhook, WebhookSecrets } from '../../model/webhook.ts'
import type { Encryption } from '../encryption.ts'
import { changedHeaders, encryptHeaders, toHeaderNames } from '../endpoint-headers.ts'
import { limitReached, offer, planOf, remember } from '../inside.ts'
import { insideMail } from '../mail/inside.ts'
import { removePosts } from '../mail/remove-events.ts'
import { type Page, type RecordsRequest, rangeOf, toPage } from '../page.ts'
import { changed, changing, type Database, row, rows, run, sql, type Work } from '../sql.ts'

/** A webhook with the headers for its URL, none by default. */
type NewWebhook = Omit<Webhook, 'headerNames'> & { headers?: EndpointHeaders }

/** Webhooks of an organization that the server has paused. */
interface PausedByServer {
  organizationId: string
  webhooks: number
  reason: string
}

/** A row of webhooks. */
export type WebhookRow = Omit<Webhook, 'events' | 'headerNames'> & { events: string; headerNames: string | null }

/** A SigningWebhook as a row, encrypted. */
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
// A success ends `failing_since`.
const PAUSE_FAILING = sql(`update webhooks set status = 'paused', disabled_reason = $2, updated_at = $3
  where id = $1 and status = 'active' and updated_at = $4 and failing_since = $5`)
const SET_HEADERS = sql('update webhooks set header_names = $2, headers = $3 where id = $1')
const PAUSED_BY_SERVER = sql<PausedByServer>(`select organization_id as "organizationId", count(*) as webhooks,
    max(disabled_reason) as reason
  from webhooks where status = 'paused' and disabled_reason is not null group by organization_id
  order by organization_id limit $1`)
const ROTATE = sql(`update webhooks set previous_secret = secret, previous_expires_at = $2, secret = $3, updated_at = $4
  where id = $1`)
// It gets no further delivery from then on: PostgreSQL drops it from memory. SQLite deletes what an earlier fan-out
// still writes together with the webhook.
const PAUSE = sql(`update webhooks set status = 'paused', removing = true where id = $1`)
// Step by step in the order of its index, past what earlier steps deleted and PostgreSQL has not vacuumed yet. Nothing
// waits for those whose results are being written.
const NEXT_OF = sql<{ number: number; status: string }>(`select number::float8 as number, status from webhook_deliveries
  where webhook_id = $1 and number > $2::bigint order by webhook_id, webhook_deliveries.number limit $3
  for update skip locked`)
const ANY_OF = sql<{ found: number }>('select 1 as found from webhook_deliveries where webhook_id = $1 limit 1')
const REMOVE = sql('delete from webhooks where id = $1')

/** Deliveries of a removed webhook that are deleted in one transaction: some milliseconds. */
const REMOVE_MAX = 250

export function webhookRecords(database: Database, encryption: Encryption) {
  const change = changing(database, 'webhook')

  return {
    create: (webhook: NewWebhook, secret: string, record?: Remember): Promise<'created' | LimitReached> =>
      change(webhook.id, function* () {
        const { id, organizationId, url, events, format, status, description, disabledReason } = webhook
        const limit = yield* limitReached(yield* planOf(organizationId), 'webhooks', () => count(organizationId))
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
    count: (organizationId: string): Promise<number> => database.read(() => count(organizationId)),
    get: (id: string): Promise<Webhook | null> => database.read(() => find(id)),
    list: async (organizationId: string, page: RecordsRequest): Promise<Page<Webhook>> =>
      toPage(await database.rows(LIST, organizationId, ...rangeOf(page)), page, toWebhook),
    /** Pausing an active webhook writes an event if another active one receives it. A URL of another origin removes the
     *  headers that are not given again. */
    update: (
      id: string,
      fields: Partial<Pick<NewWebhook, 'url' | 'events' | 'status' | 'description' | 'disabledReason' | 'headers'>>,
      now: number,
    ): Promise<Webhook | null> =>
      database.write(function* () {
        const present = yield* find(id)
        if (present === null) return null
        const { url, events, status, description, disabledReason } = { ...present, ...fields }
        yield* run(UPDATE, id, url, JSON.stringify(events), status, description, disabledReason, now)
        const columns = changedHeaders(fields.headers, present.url, { url, place: placeOfWebhook(id), encryption })
        if (columns !== null) yield* run(SET_HEADERS, id, columns.headerNames, columns.headers)
        yield* changed('webhook', id)
        const webhook = yield* find(id)
        if (webhook?.status === 'paused' && present.status === 'active') yield* reportPause(webhook, now)
        return webhook
      }, 'settings'),
    /** Pauses an active webhook for its failures, with an event as `update` → whether it did. Not if it was changed, or had a
     *  success, since it was read. */
    pauseFailing: ({ id, updatedAt, failingSince }: Webhook, disabledReason: string, now: number): Promise<boolean> =>
      database.write(function* () {
        if ((yield* run(PAUSE_FAILING, id, disabledReason, now, updatedAt, failingSince)) === 0) return false
        yield* changed('webhook', id)
        const webhook = yield* find(id)
        if (webhook !== null) yield* reportPause(webhook, now)
        return true
      }, 'settings'),
    /** Webhooks that the server has paused, of at most `limit` organizations, with the reason of one of each. */
    pausedByServer: (limit: number): Promise<PausedByServer[]> => database.rows(PAUSED_BY_SERVER, limit),
    secrets: async (id: string): Promise<WebhookSecrets | null> => {
      const found = await database.row(SIGNING_WEBHOOK, id)
      return found === null ? null : toSigningWebhook(found, encryption).secrets
    },
    rotateSecret: (
      id: string,
      secret: string,
      previousExpiresAt: number,
      now: number,
      record?: Remember,
    ): Promise<void> =>
      change(id, function* () {
        yield* run(ROTATE, id, previousExpiresAt, encryption.encrypt(secret, placeOfWebhook(id)), now)
        yield* remember(record)
      }),
    /** Removes it with its deliveries. Since there may be many, it uses several transactions: the webhook is paused in
     *  the first and deleted in the last, and can be removed again after a crash in between. */
    remove: async (id: string): Promise<void> => {
      await change(id, () => run(PAUSE, id))
      await database.groupsSettled()
      for (let last: number | null = 0; last !== null; ) {
        const after: number = last
        last = await database.write(() => removeSome(id, after), 'settings')
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

/** A webhook was paused: it receives no event from now on, and others one of its pause. */
function* reportPause(webhook: Webhook, now: number): Work<void> {
  const { pausing } = yield* insideMail()
  pausing(webhook.id)
  yield* offer(webhookPausedEvent(webhook, now))
}

/** Deletes the next deliveries of a webhook behind a number → that of the last of them; null once the webhook is deleted
 *  with the last ones. */
function* removeSome(webhookId: string, after: number): Work<number | null> {
  const next = yield* rows(NEXT_OF, webhookId, after, REMOVE_MAX)
  yield* removePosts(next)
  if (next.length === REMOVE_MAX) return next.at(-1)?.number ?? null
  if ((yield* row(ANY_OF, webhookId)) !== null) return 0 // from the first one again
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
const placeOfWebhook = (id: string) => `webhooks ${id}`

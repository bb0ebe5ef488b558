import { webhookPausedEvent } from '../../model/on-demand-event.ts'
import type { Webhook, WebhookSecrets } from '../../model/webhook.ts'
import type { Encryption } from '../encryption.ts'
import { changedHeaders, encryptHeaders, toHeaderNames } from '../endpoint-headers.ts'
import { rangeOf, toPage } from '../page.ts'
import type { PausedByServer, Webhooks } from '../store.ts'
import { placeOf, type SecretsRow, toSecrets, toWebhook, type WebhookRow } from '../webhook-rows.ts'
import { textArray } from './arrays.ts'
import type { Additions, MailLane } from './group.ts'
import { groupsSettled } from './groups-under-way.ts'
import type { RememberInside } from './idempotency.ts'
import { createMirror, type Mirror, readerOf } from './mirror.ts'
import type { Reads } from './reads.ts'
import type { Queries } from './transactions.ts'
import type { Usage } from './usage.ts'
import type { SettingsStatements, Writer } from './writer.ts'

export const WEBHOOK_COLUMNS = `id, organization_id as "organizationId", url, events, format, status, description,
  disabled_reason as "disabledReason", created_at::float8 as "createdAt", updated_at::float8 as "updatedAt",
  last_success_at::float8 as "lastSuccessAt", last_failure_at::float8 as "lastFailureAt",
  consecutive_failures as "consecutiveFailures", failing_since::float8 as "failingSince", mode,
  domain_id as "domainId", header_names as "headerNames"`
const SECRETS = `secret, previous_secret as "previous", previous_expires_at::float8 as "expiresAt"`
const CREATE = `insert into webhooks (id, organization_id, url, events, format, status, description, disabled_reason,
    created_at, updated_at, secret, mode, domain_id, header_names, headers)
  values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15)`
const ALL = `select ${WEBHOOK_COLUMNS}, ${SECRETS} from webhooks where not removing`
const GET = `select ${WEBHOOK_COLUMNS} from webhooks where id = $1`
const LIST = `select ${WEBHOOK_COLUMNS} from webhooks
  where organization_id = $1 and id < $2 and created_at >= $3 and created_at < $4 order by id desc limit $5`
const UPDATE = `update webhooks set url = $2, events = $3, status = $4, description = $5, disabled_reason = $6,
  updated_at = $7 where id = $1`
const SET_HEADERS = 'update webhooks set header_names = $2, headers = $3 where id = $1'
const GET_SECRETS = `select ${SECRETS} from webhooks where id = $1`
const ROTATE = `update webhooks set previous_secret = secret, previous_expires_at = $2, secret = $3, updated_at = $4
  where id = $1`
const COUNT = 'select count(*)::int as count from webhooks where organization_id = $1'
// It gets no further delivery from then on, since it is gone from memory.
const PAUSE = `update webhooks set status = 'paused', removing = true where id = $1`
// Step by step in the order of the index, past what earlier steps have deleted.
const NEXT_OF = `select id, created_at::float8 as at from webhook_deliveries
  where webhook_id = $1 and (created_at, id) > ($2::bigint, $3) order by created_at, id limit $4`
const REMOVE_DELIVERIES = `with queued as (delete from webhook_queue where id = any($1::text[])),
    attempts as (delete from webhook_attempts where delivery_id = any($1::text[]))
  delete from webhook_deliveries where id = any($1::text[])`
const PAUSED_BY_SERVER = `select organization_id as "organizationId", count(*)::int as webhooks, max(disabled_reason) as reason
  from webhooks where status = 'paused' and disabled_reason is not null group by organization_id
  order by organization_id limit $1`
const REMOVE = 'delete from webhooks where id = $1'

/** Deliveries of a removed webhook that are deleted in one transaction: some ten milliseconds. */
const REMOVE_MAX = 1000

/** A webhook with what is needed to post to it. */
export type MirroredWebhook = Webhook & { secrets: WebhookSecrets }

export function webhookMirror(encryption: Encryption): Mirror<MirroredWebhook> {
  const read = readerOf<WebhookRow & SecretsRow>(ALL)
  return createMirror(async (queries, ids) => {
    const rows = await read(queries, ids)
    return rows.map(({ secret, previous, expiresAt, ...row }) => ({
      ...toWebhook(row),
      secrets: toSecrets(row.id, { secret, previous, expiresAt }, encryption),
    }))
  })
}

export function postgresWebhooks(
  reads: Reads,
  writer: Writer,
  inside: { encryption: Encryption; remember: RememberInside; usage: Usage; lane: MailLane },
): Webhooks {
  const { encryption, remember, usage, lane } = inside
  const count = async (queries: Queries, organizationId: string) =>
    (await queries.query<{ count: number }>(COUNT, [organizationId]))[0]?.count ?? 0
  const find = async (queries: Queries, id: string) => {
    const [row] = await queries.query<WebhookRow>(GET, [id])
    return row === undefined ? null : toWebhook(row)
  }
  const change = <T>(id: string, work: (statements: SettingsStatements) => Promise<T>): Promise<T> =>
    writer.writeSettings((statements) => {
      statements.changed('webhook', id)
      return work(statements)
    })

  return {
    create: (webhook, secret, record) =>
      change(webhook.id, async (statements) => {
        const { id, organizationId, url, events, format, status, description, disabledReason } = webhook
        const limit = await usage.reached(organizationId, 'webhooks', 1, () => count(statements, organizationId))
        if (limit !== null) return limit
        const values = [id, organizationId, url, JSON.stringify(events), format, status, description, disabledReason]
        const place = placeOf(id)
        const encrypted = encryption.encrypt(secret, place)
        const rest = [webhook.createdAt, webhook.updatedAt, encrypted, webhook.mode, webhook.domainId]
        const { headerNames, headers } = encryptHeaders(webhook.headers ?? [], { url, place, encryption })
        await statements.run(CREATE, [...values, ...rest, headerNames, headers])
        await remember(statements, record)
        return 'created'
      }),
    count: (organizationId) => count(reads, organizationId),
    get: (id) => find(reads, id),
    list: async (organizationId, page) =>
      toPage(await reads.query<WebhookRow>(LIST, [organizationId, ...rangeOf(page)]), page, toWebhook),
    update: (id, fields, now) => {
      const write = async (statements: SettingsStatements, add: Additions | null) => {
        const present = await find(statements, id)
        if (present === null) return null
        const { headers, ...rest } = fields
        const changed = { ...present, ...rest, updatedAt: now }
        const { url, events, status, description, disabledReason } = changed
        await statements.run(UPDATE, [id, url, JSON.stringify(events), status, description, disabledReason, now])
        const columns = changedHeaders(headers, present.url, { url, place: placeOf(id), encryption })
        if (columns !== null) {
          await statements.run(SET_HEADERS, [id, columns.headerNames, columns.headers])
          changed.headerNames = toHeaderNames(columns.headerNames)
        }
        if (present.status === 'active' && add !== null) reportPaused(add, changed, now)
        return changed
      }
      if (fields.status !== 'paused') return change(id, (statements) => write(statements, null))
      return writer.writeSettingsIn(lane, ({ statements, add }) => {
        statements.changed('webhook', id)
        return write(statements, add)
      })
    },
    pausedByServer: (limit) => reads.query<PausedByServer>(PAUSED_BY_SERVER, [limit]),
    secrets: async (id) => {
      const [row] = await reads.query<SecretsRow>(GET_SECRETS, [id])
      return row === undefined ? null : toSecrets(id, row, encryption)
    },
    rotateSecret: (id, secret, previousExpiresAt, now, record) =>
      change(id, async (statements) => {
        await statements.run(ROTATE, [id, previousExpiresAt, encryption.encrypt(secret, placeOf(id)), now])
        await remember(statements, record)
      }),
    // There may be a month of deliveries: the webhook is paused first and deleted after the last of them.
    remove: async (id) => {
      await change(id, ({ run }) => run(PAUSE, [id]))
      await groupsSettled(reads)
      for (let last: Removed | null = { at: -1, id: '' }; last !== null; ) last = await removeSome(lane, id, last)
      await change(id, ({ run }) => run(REMOVE, [id]))
    },
  }
}

/** Writes the event of a webhook that the change pauses. */
export function reportPaused(add: Pick<Additions, 'pausing' | 'onDemand'>, webhook: Webhook, now: number): void {
  add.pausing(webhook.id)
  add.onDemand.offer(webhookPausedEvent(webhook, now))
}

/** Place of a delivery in the order of a webhook's deliveries. */
interface Removed {
  at: number
  id: string
}

/** Deletes the next deliveries of a webhook → the last of them; null if there are no more. */
function removeSome(lane: MailLane, webhookId: string, { at, id }: Removed): Promise<Removed | null> {
  return lane.perform(async ({ statements }) => {
    const next = await statements.query<Removed>(NEXT_OF, [webhookId, at, id, REMOVE_MAX])
    if (next.length > 0) await statements.run(REMOVE_DELIVERIES, [textArray(next.map((row) => row.id))])
    return next.length < REMOVE_MAX ? null : (next.at(-1) ?? null)
  })
}

import type { EndpointHeaders } from '../../model/endpoint-headers.ts'
import type { Webhook } from '../../model/webhook.ts'
import type { Encryption } from '../encryption.ts'
import { decryptHeaders } from '../endpoint-headers.ts'
import {
  placeOfWebhook,
  SIGNING_WEBHOOK,
  type SigningWebhook,
  toSigning,
  toWebhook,
  WEBHOOK_COLUMNS,
  type WebhookRow,
} from '../records/webhooks.ts'
import { sql } from '../sql.ts'
import { prepareIn } from './database.ts'
import type { Connection } from './driver.ts'
import type { ForeignChanges } from './foreign.ts'

/** Webhooks for fan-out and posting, in memory until something changes. */
export interface WebhookCache {
  get(id: string): SigningWebhook | null
  activeOf(organizationId: string): Webhook[]
  /** Decrypts the headers for a request, since ten of them can be larger than everything else. */
  headersOf(webhook: Webhook): EndpointHeaders
  drop(): void
}

const ACTIVE_OF = sql<WebhookRow>(`select ${WEBHOOK_COLUMNS} from webhooks
  where organization_id = $1 and status = 'active' order by id`)
const HEADERS = sql<{ headers: Uint8Array | null }>('select headers from webhooks where id = $1')

export function webhookCache(db: Connection, foreign: ForeignChanges, encryption: Encryption): WebhookCache {
  const [find, activeOf, headers] = [prepareIn(db, SIGNING_WEBHOOK), prepareIn(db, ACTIVE_OF), prepareIn(db, HEADERS)]
  const byId = inMemory((id) => {
    const [row] = find.rows([id])
    return row === undefined ? null : toSigning(row, encryption)
  })
  const byOrganization = inMemory((organizationId) => activeOf.rows([organizationId]).map(toWebhook))
  const drop = () => {
    byId.drop()
    byOrganization.drop()
  }
  foreign.onChange(drop)
  return {
    get: byId.get,
    activeOf: byOrganization.get,
    headersOf: ({ id, url, headerNames }) => {
      if (headerNames.length === 0) return []
      return decryptHeaders(headers.rows([id])[0]?.headers, { url, place: placeOfWebhook(id), encryption })
    },
    drop,
  }
}

/** What `read` returns for a key, read once until `drop`. */
function inMemory<T>(read: (key: string) => T): { get(key: string): T; drop(): void } {
  const known = new Map<string, T>()
  return {
    get: (key) => {
      const present = known.get(key)
      if (present !== undefined) return present
      const value = read(key)
      known.set(key, value)
      return value
    },
    drop: () => known.clear(),
  }
}

import type { Webhook, WebhookSecrets } from '../model/webhook.ts'
import type { Encryption } from './encryption.ts'
import { toHeaderNames } from './endpoint-headers.ts'

/** A webhook as both databases store it. */
export type WebhookRow = Omit<Webhook, 'events' | 'headerNames'> & { events: string; headerNames: string | null }

export function toWebhook(row: WebhookRow): Webhook {
  return { ...row, events: JSON.parse(row.events), headerNames: toHeaderNames(row.headerNames) }
}

/** Its secrets, encrypted. */
export interface SecretsRow {
  secret: Uint8Array
  previous: Uint8Array | null
  expiresAt: number | null
}

/** Encryption place of its headers and of both its secrets: a rotation moves one to the other's column. */
export const placeOf = (id: string) => `webhooks ${id}`

/** Throws EncryptionKeyUnusable if they were encrypted with another key. */
export function toSecrets(
  id: string,
  { secret, previous, expiresAt }: SecretsRow,
  encryption: Encryption,
): WebhookSecrets {
  const open = (encrypted: Uint8Array) => encryption.decrypt(encrypted, placeOf(id)).toString()
  return {
    secret: open(secret),
    previous: previous === null ? null : { secret: open(previous), expiresAt: expiresAt ?? 0 },
  }
}

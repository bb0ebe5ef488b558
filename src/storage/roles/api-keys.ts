import type { ApiKey } from '../../model/api-key.ts'
import type { LimitReached } from '../../model/limits.ts'
import type { Remember } from './idempotency.ts'
import type { Page, RecordsRequest } from './paging.ts'

export interface ApiKeys {
  /** The oldest records of keys that no longer work go, beyond FIXED_LIMITS.inactiveKeys. */
  create(key: ApiKey, secretHash: Uint8Array, remember?: Remember): Promise<'created' | LimitReached>
  /** Keys that work at `now`, without those in the grace period of a rotation. */
  count(organizationId: string, now: number): Promise<number>
  /** Synchronous and cheap: asked for at every request. */
  findBySecret(secretHash: Uint8Array): ApiKey | null
  get(id: string): Promise<ApiKey | null>
  list(organizationId: string, page: RecordsRequest): Promise<Page<ApiKey>>
  /** Changes what is given; null when there is no such key. */
  update(id: string, change: Partial<Pick<ApiKey, 'name' | 'allowedNetworks'>>): Promise<ApiKey | null>
  /** Revokes at `at`; doing it again keeps the first time. */
  revoke(id: string, at: number): Promise<void>
  /** Adds the new key, and lets the old one end at `oldExpiresAt`; `invalid_state` when the old one was already
   *  rotated, revoked or has expired at `now`. Keys in their grace period have the plan's limit of keys for themselves, so
   *  that a rotation is possible when all keys are in use. */
  rotate(
    oldId: string,
    fresh: ApiKey,
    secretHash: Uint8Array,
    oldExpiresAt: number,
    now: number,
    remember?: Remember,
  ): Promise<'rotated' | 'invalid_state' | LimitReached>
  /** When keys were last used; gathered in memory and written now and then. */
  recordUse(uses: { id: string; at: number }[]): Promise<void>
}

import type { ApiKey } from '../../model/api-key.ts'
import type { LimitReached } from '../../model/limits.ts'
import type { Remember } from './idempotency.ts'
import type { Page, RecordsRequest } from './paging.ts'

export interface ApiKeys {
  /** Also deletes the oldest inactive keys beyond FIXED_LIMITS.inactiveKeys. */
  create(key: ApiKey, secretHash: Uint8Array, remember?: Remember): Promise<'created' | LimitReached>
  /** Number of keys that are valid at `now`, without those in the grace period of a rotation. */
  count(organizationId: string, now: number): Promise<number>
  get(id: string): Promise<ApiKey | null>
  list(organizationId: string, page: RecordsRequest): Promise<Page<ApiKey>>
  /** Changes the given fields; null if there is no such key. */
  update(id: string, change: Partial<Pick<ApiKey, 'name' | 'allowedNetworks'>>): Promise<ApiKey | null>
  /** Revokes at `at`; a repeated call keeps the first time. */
  revoke(id: string, at: number): Promise<void>
  /** Revokes at `at` all keys that a user made, in an organization or all (null) → how many that were valid. */
  revokeOf(userId: string, organizationId: string | null, at: number): Promise<number>
  /** The keys that a user made, in an organization or all (null), belong to the organization alone from now on, with at most
   *  the rights of the user's last role (`makerRole`, which removing the user notes). */
  disown(userId: string, organizationId: string | null): Promise<void>
  /** Adds the new key, and sets the expiry of the old one to `oldExpiresAt`. `invalid_state` if the old one was
   *  already rotated or revoked, or has expired at `now`. Keys in their grace period count separately against the
   *  plan's limit, so that a rotation is possible when all keys are in use. */
  rotate(
    oldId: string,
    fresh: ApiKey,
    secretHash: Uint8Array,
    oldExpiresAt: number,
    now: number,
    remember?: Remember,
  ): Promise<'rotated' | 'invalid_state' | LimitReached>
  /** Stores when keys were last used; callers collect these in memory. */
  recordUse(uses: { id: string; at: number }[]): Promise<void>
}

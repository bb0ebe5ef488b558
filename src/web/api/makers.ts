import type { ApiKey } from '../../model/api-key.ts'
import { NO_GRANTS, type User } from '../../model/user.ts'
import type { Store } from '../../storage/store.ts'

/** The users who made API keys. A key never has more rights than its maker has at the time of a call (rights.ts). */
export interface Makers {
  /** The maker of a key, as of at most a second ago. Null: the key was made on the command line and has the rights that it
   *  was given. Rejects with the error of the store. */
  of(key: Made): Promise<Maker | null>
}

export type Made = Pick<ApiKey, 'createdBy' | 'makerRole' | 'organizationId'>

/** Nothing is granted to a user who was removed. */
export interface Maker extends Pick<User, 'disabledAt' | 'isOperator' | 'roles' | 'awaiting'> {
  /** Null for the maker of a key that was kept: of the removed user, only the last role is known. */
  id: string | null
}

const KEPT_MS = 1_000
const MOST_KEPT = 10_000

/** `now`: ms, monotonic. */
export function createMakers(users: Pick<Store['users'], 'get'>, now: () => number): Makers {
  const known = new Map<string, { maker: Promise<Maker | null>; until: number }>()
  return {
    of: async (key) => {
      const { createdBy } = key
      if (createdBy === null) return makerNow(users, key)
      const held = known.get(createdBy)
      if (held !== undefined && now() < held.until) return held.maker
      if (known.size >= MOST_KEPT) known.clear()
      const maker = makerNow(users, key)
      known.set(createdBy, { maker, until: now() + KEPT_MS })
      maker.catch(() => known.delete(createdBy))
      return maker
    },
  }
}

/** The maker of a key, as the store has it now. Rejects with the error of the store. */
export async function makerNow(
  users: Pick<Store['users'], 'get'>,
  { createdBy, makerRole, organizationId }: Made,
): Promise<Maker | null> {
  if (createdBy !== null) return (await users.get(createdBy)) ?? { ...NOBODY, id: createdBy }
  return makerRole === null ? null : { ...NOBODY, id: null, roles: { [organizationId]: makerRole } }
}

const NOBODY = { disabledAt: null, awaiting: NO_GRANTS, ...NO_GRANTS }

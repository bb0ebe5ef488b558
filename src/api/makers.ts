import type { ApiKey } from '../model/api-key.ts'
import { NO_GRANTS, type User } from '../model/user.ts'
import type { Store } from '../storage/store.ts'

/** The users who made API keys. A key never has more rights than its maker has at the time of a call (rights.ts). */
export interface Makers {
  /** The maker of a key, as of at most a second ago. Null: the key was made on the command line, or belongs to its
   *  organization alone, and has the rights that it was given. Rejects with the error of the store. */
  of(key: Pick<ApiKey, 'createdBy'>): Promise<Maker | null>
}

/** Nothing is granted to a user who was removed. */
export type Maker = Pick<User, 'id' | 'disabledAt' | 'isOperator' | 'roles' | 'awaiting'>

const KEPT_MS = 1_000
const MOST_KEPT = 10_000

/** `now`: ms, monotonic. */
export function createMakers(users: Pick<Store['users'], 'get'>, now: () => number): Makers {
  const known = new Map<string, { maker: Promise<Maker>; until: number }>()
  return {
    of: async ({ createdBy }) => {
      if (createdBy === null) return null
      const held = known.get(createdBy)
      if (held !== undefined && now() < held.until) return held.maker
      if (known.size >= MOST_KEPT) known.clear()
      const maker = makerNow(users, createdBy)
      known.set(createdBy, { maker, until: now() + KEPT_MS })
      maker.catch(() => known.delete(createdBy))
      return maker
    },
  }
}

/** The user who made a key, as the store has it now. Rejects with the error of the store. */
export async function makerNow(users: Pick<Store['users'], 'get'>, createdBy: string): Promise<Maker> {
  return (await users.get(createdBy)) ?? { id: createdBy, disabledAt: null, awaiting: NO_GRANTS, ...NO_GRANTS }
}

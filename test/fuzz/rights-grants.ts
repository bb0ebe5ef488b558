import type { Dice } from './dice.ts'
import { changeNetworks, createKey, replay, revokeKey, rotateKey } from './rights-keys.ts'
import type { Caller } from './rights-model.ts'
import { accept, add, changeAccount, invite, remove, setRole, signOn, verify } from './rights-people.ts'
import type { World } from './rights-world.ts'

/** Weight, the operation that it calls, if any, and the change. */
export const GRANTS: [number, string | null, (world: World, by: Caller, dice: Dice) => Promise<string>][] = [
  [5, 'api_keys_create', createKey],
  [3, 'api_keys_rotate', rotateKey],
  [2, 'api_keys_create', replay],
  [1, 'api_keys_update', changeNetworks],
  [1, 'api_keys_revoke', revokeKey],
  [3, 'invitations_create', invite],
  [2, null, accept],
  [5, 'users_update', setRole],
  [3, 'users_delete', remove],
  [3, 'users_update', changeAccount],
  [1, null, verify],
  [1, null, signOn],
  [1, null, add],
]

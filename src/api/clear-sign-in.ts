import type { User } from '../model/user.ts'
import type { Store } from '../storage/store.ts'

/** Before an account whose address nobody has verified gets rights beyond the organization that invited it: ends everything
 *  that somebody else may have set up to sign in as this user. `proved`: whoever reads the mail of the address is there, so
 *  that it is verified from now on; null: the rights wait for that. Keys stay: they belong to the organization that invited,
 *  whose owners see them, and never had more than its rights. Operators get an alert (alerts/sources.ts). Twice is harmless.
 *  Rejects with the error of the store. */
export async function clearSignIn(
  { users }: Pick<Store, 'users'>,
  { id }: Pick<User, 'id'>,
  how: { proved: { passwordHash: string | null } | null; now: number },
): Promise<void> {
  await users.clear(id, how)
}

import { foldedEmail, type User } from '../../../model/user.ts'
import type { Store } from '../../../storage/store.ts'
import { verifyPassword } from '../password.ts'

/** The user of an address, or the only one, and the password hash that was verified; null if the password is wrong or the
 *  account is disabled. It takes the same time for an unknown address, so that a client cannot measure which addresses
 *  have an account. */
export async function userOfPassword(
  users: Store['users'],
  { email, password }: { email?: string | undefined; password: string },
  isKnown = false,
): Promise<{ user: User; hash: string } | null> {
  const user = email === undefined ? await users.only() : await users.findByEmail(foldedEmail(email))
  const hash = await users.passwordHash(user?.id ?? '')
  const isRight = await verifyPassword(password, hash, isKnown)
  return isRight && hash !== null && user !== null && user.disabledAt === null ? { user, hash } : null
}

/** The refusal of every wrong password, with or without an account. */
export const WRONG_PASSWORD = 'Wrong email address or password.'

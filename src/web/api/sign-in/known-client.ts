import { createHmac, timingSafeEqual } from 'node:crypto'
import { foldedEmail, type User } from '../../../model/user.ts'
import { SECURE_PREFIX } from '../sessions.ts'
import type { SignInContext } from './context.ts'

/** A browser in which a user has signed in before has a cookie that proves it, for that account only. Wrong passwords of
 *  strangers use up the attempts of an account, but not those of such a browser. The cookie signs nobody in. */

const COOKIE = 'postrider_known'
export const KNOWN_SECONDS = 365 * 86_400
const VALUE = /^[\w-]{22}$/

/** The `Set-Cookie` header for the browser of a user who has just signed in. It counts until the user gets another
 *  password. Rejects with the error of the store. */
export async function knownCookie(context: SignInContext, { id }: Pick<User, 'id'>, isSecure: boolean) {
  const value = await tagOf(context, id)
  const cookie = `${COOKIE}=${value}; Path=/; HttpOnly; SameSite=Strict; Max-Age=${KNOWN_SECONDS}`
  return isSecure ? `${SECURE_PREFIX}${cookie}; Secure` : cookie
}

/** True if somebody has signed in to the account with this browser before. `account`: the address as entered; absent: the
 *  only user. */
export async function isKnownClient(context: SignInContext, request: Request, account = ''): Promise<boolean> {
  const presented = cookiesOf(request)
  if (presented.length === 0) return false
  const { users } = context.store
  // The only user signs in without an address.
  const user = account === '' ? await users.only() : await users.findByEmail(foldedEmail(account))
  // The same work for an unknown address, so that the time does not show whether it has an account.
  const wanted = Buffer.from(await tagOf(context, user?.id ?? ''))
  return presented.some((value) => timingSafeEqual(Buffer.from(value), wanted)) && user !== null
}

/** At most one of each name. */
function cookiesOf(request: Request): string[] {
  const pairs = (request.headers.get('cookie') ?? '').split(/; ?/)
  const values = [COOKIE, SECURE_PREFIX + COOKIE].map((name) =>
    pairs.find((pair) => pair.startsWith(`${name}=`))?.slice(name.length + 1),
  )
  return values.flatMap((value) => (value !== undefined && VALUE.test(value) ? [value] : []))
}

async function tagOf({ store, random }: SignInContext, userId: string): Promise<string> {
  const secret = await store.secret('known-clients', random.bytes(32))
  const facts = `${userId} ${(await store.users.passwordHash(userId)) ?? ''}`
  return createHmac('sha256', secret).update(facts).digest().toString('base64url', 0, 16)
}

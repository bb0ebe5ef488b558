import { z } from 'zod'
import { invalid, Refusal } from '../../../model/refusal.ts'
import { verifyPassword } from '../password.ts'
import type { SignedIn } from '../sessions.ts'
import { givenPassword, type SignInContext } from './context.ts'
import { enteredCode, givenCode } from './entered-code.ts'

/** What a user repeats to change what they sign in with. */
export const confirmation = { password: givenPassword.optional(), code: givenCode.optional() }
const body = z.strictObject(confirmation)
export type Confirmation = z.infer<typeof body>

/** A user without a password confirms by having signed in recently. */
const RECENT_MS = 10 * 60_000

/** How the user of a session can confirm a change: `password` and `code` are alternatives; neither means that a recent
 *  sign-in is needed. */
export async function waysToConfirm({ store }: Pick<SignInContext, 'store'>, userId: string) {
  const [hash, totp] = await Promise.all([store.users.passwordHash(userId), store.factors.totp(userId)])
  return { password: hash !== null, code: totp?.isEnabled === true }
}

/** Resolves if the user confirms the change, so that a stolen cookie is not enough: with the password or a code, or,
 *  where neither is set, with a session that began in the last ten minutes. A code is used up. Rejects with
 *  `validation_error` for a wrong or missing password or code, with `forbidden` for an older session, and with
 *  `rate_limited`. */
export async function requireConfirmed(
  context: SignInContext,
  signedIn: SignedIn,
  { password, code }: Confirmation,
  address: string,
): Promise<void> {
  const { user } = signedIn
  const { store } = context
  const ways = await waysToConfirm(context, user.id)
  if (!ways.password && !ways.code) return requireRecent(context, signedIn)
  if (code !== undefined && ways.code) {
    await context.take('code', address, user.id)
    const entered = await enteredCode(context, user.id, code)
    if (entered !== null && (await store.factors.useCode(user.id, entered))) return
    throw invalid([{ field: 'code', message: 'code is wrong or was already used' }])
  }
  await context.take('password', address, user.id)
  if (await verifyPassword(password ?? '', await store.users.passwordHash(user.id), true)) return
  throw invalid([{ field: 'password', message: 'password is wrong' }])
}

/** Throws `forbidden` if the session is older than ten minutes. */
export function requireRecent({ clock }: Pick<SignInContext, 'clock'>, { session }: SignedIn): void {
  if (clock.now() - session.createdAt < RECENT_MS) return
  throw new Refusal('forbidden', 'Sign in again first. This change needs a sign-in within the last ten minutes.')
}

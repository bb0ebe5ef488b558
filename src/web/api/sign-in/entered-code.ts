import { z } from 'zod'
import type { UsedCode } from '../../../model/factors.ts'
import type { SignInContext } from './context.ts'
import { recoveryCode } from './recovery-codes.ts'
import { stepOfCode } from './totp.ts'

/** A code of an app, or a recovery code; with the spaces and hyphens that people type. */
export const givenCode = z.string().max(40)

/** What a user entered → the code that it is; null for one that cannot be right. The store says whether it is still
 *  unused. `hasWaiting`: a secret that waits for its first code counts too. */
export async function enteredCode(
  { store, clock }: Pick<SignInContext, 'store' | 'clock'>,
  userId: string,
  text: string,
): Promise<UsedCode | null> {
  const totp = await store.factors.totp(userId)
  if (totp === null || !totp.isEnabled) return null
  const step = stepOfCode(totp.secret, text.replaceAll(/\s/g, ''), clock.now())
  return step === null ? recoveryCode(text) : { step }
}

import type { SignInChallenge, SignInProof, UsedCode } from '../../model/factors.ts'
import { row, run, sql, type Work } from '../sql.ts'

// The rows are locked, so that a change of the user at the same time comes before or after the session.
const IS_ENABLED = sql<object>('select 1 from users where id = $1 and disabled_at is null for share')
const HAS_PASSWORD = sql<object>(`select 1 from users
  where id = $1 and password_hash = $2 and disabled_at is null for share`)
const LOCK_CHALLENGE = sql<object>(`select 1 from sign_in_challenges
  where token_hash = $1 and kind = $2 and user_id in ($3, '') and expires_at > $4 for update`)
export const END_CHALLENGE = sql('delete from sign_in_challenges where token_hash = $1')
const USE_STEP = sql(`update totp set last_step = $2
  where user_id = $1 and last_step < $2 and enabled_at is not null`)
const USE_RECOVERY_CODE = sql('delete from recovery_codes where user_id = $1 and code_hash = $2')
const USE_PASSKEY = sql(`update passkeys set counter = $3, last_used_at = $4
  where id = $1 and user_id = $2 and (counter < $3 or (counter = 0 and $3 = 0))`)

/** Uses up a proof. False, without a change, if it is not valid any more. */
export function* useProof(proof: SignInProof, userId: string, now: number): Work<boolean> {
  if (proof.kind === 'password') return (yield* row(HAS_PASSWORD, userId, proof.passwordHash)) !== null
  if ((yield* row(IS_ENABLED, userId)) === null) return false
  const { challengeHash, kind } = proof
  if (!(yield* isOpen(challengeHash, { kind, userId, now }))) return false
  const isUsed = kind === 'code' ? yield* useCode(userId, proof.code) : yield* usePasskey(proof, userId, now)
  if (isUsed) yield* run(END_CHALLENGE, challengeHash)
  return isUsed
}

/** Locks a challenge. False if it is not of that kind and user, was used, or has expired. */
export function* isOpen(
  challengeHash: Uint8Array,
  { kind, userId, now }: { kind: SignInChallenge['kind']; userId: string; now: number },
): Work<boolean> {
  return (yield* row(LOCK_CHALLENGE, challengeHash, kind, userId, now)) !== null
}

/** False if the code was used, or is older than one that was. */
export function* useCode(userId: string, code: UsedCode): Work<boolean> {
  const used =
    'step' in code ? yield* run(USE_STEP, userId, code.step) : yield* run(USE_RECOVERY_CODE, userId, code.recoveryHash)
  return used > 0
}

function* usePasskey(
  { passkeyId, counter }: Extract<SignInProof, { kind: 'passkey' }>,
  userId: string,
  now: number,
): Work<boolean> {
  return (yield* run(USE_PASSKEY, passkeyId, userId, counter, now)) > 0
}

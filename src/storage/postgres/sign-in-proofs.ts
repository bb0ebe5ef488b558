import type { SignInChallenge, SignInProof, UsedCode } from '../../model/factors.ts'
import type { Statements } from './transactions.ts'

// The rows are locked, so that a change of the user at the same time comes before or after the session.
const IS_ENABLED = 'select 1 from users where id = $1 and disabled_at is null for share'
const HAS_PASSWORD = 'select 1 from users where id = $1 and password_hash = $2 and disabled_at is null for share'
const LOCK_CHALLENGE = `select 1 from sign_in_challenges
  where token_hash = $1 and kind = $2 and user_id in ($3, '') and expires_at > $4 for update`
const END_CHALLENGE = 'delete from sign_in_challenges where token_hash = $1'
const USE_STEP = 'update totp set last_step = $2 where user_id = $1 and last_step < $2 and enabled_at is not null'
const USE_RECOVERY_CODE = 'delete from recovery_codes where user_id = $1 and code_hash = $2'
const USE_PASSKEY = `update passkeys set counter = $3, last_used_at = $4
  where id = $1 and user_id = $2 and (counter < $3 or (counter = 0 and $3 = 0))`

/** Runs `use`, and ends the challenge if that returns true. False, without a change, if the challenge is not valid. */
export async function answer(
  { query, run }: Statements,
  tokenHash: Uint8Array,
  { kind, userId, now }: { kind: SignInChallenge['kind']; userId: string; now: number },
  use: () => Promise<boolean>,
): Promise<boolean> {
  if ((await query(LOCK_CHALLENGE, [tokenHash, kind, userId, now])).length === 0 || !(await use())) return false
  await run(END_CHALLENGE, [tokenHash])
  return true
}

export async function useCode({ run }: Statements, userId: string, code: UsedCode): Promise<boolean> {
  const used = 'step' in code ? run(USE_STEP, [userId, code.step]) : run(USE_RECOVERY_CODE, [userId, code.recoveryHash])
  return (await used) > 0
}

/** False, without a change, if the proof is not valid any more. */
export async function useProof(
  statements: Statements,
  proof: SignInProof,
  userId: string,
  now: number,
): Promise<boolean> {
  const { query, run } = statements
  if (proof.kind === 'password') return (await query(HAS_PASSWORD, [userId, proof.passwordHash])).length > 0
  if ((await query(IS_ENABLED, [userId])).length === 0) return false
  return answer(statements, proof.challengeHash, { kind: proof.kind, userId, now }, async () => {
    if (proof.kind === 'code') return useCode(statements, userId, proof.code)
    return (await run(USE_PASSKEY, [proof.passkeyId, userId, proof.counter, now])) > 0
  })
}

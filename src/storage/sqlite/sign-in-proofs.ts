import type { SignInChallenge, SignInProof, UsedCode } from '../../model/factors.ts'
import type { Connection } from './driver.ts'

const IS_ENABLED = 'select 1 from users where id = ? and disabled_at is null'
const HAS_PASSWORD = 'select 1 from users where id = ? and password_hash = ? and disabled_at is null'
const HAS_CHALLENGE = `select 1 from sign_in_challenges
  where token_hash = ? and kind = ? and user_id in (?, '') and expires_at > ?`
const END_CHALLENGE = 'delete from sign_in_challenges where token_hash = ?'
const USE_STEP = 'update totp set last_step = ? where user_id = ? and last_step < ? and enabled_at is not null'
const USE_RECOVERY_CODE = 'delete from recovery_codes where user_id = ? and code_hash = ?'
const USE_PASSKEY = `update passkeys set counter = ?, last_used_at = ?
  where id = ? and user_id = ? and (counter < ? or (counter = 0 and ? = 0))`

/** A challenge with its use, inside of a transaction. */
export interface ProofsInside {
  /** Runs `use`, and ends the challenge if that returns true. False, without a change, if the challenge is not valid. */
  answer(
    tokenHash: Uint8Array,
    of: { kind: SignInChallenge['kind']; userId: string; now: number },
    use: () => boolean,
  ): boolean
  useCode(userId: string, code: UsedCode): boolean
  /** False, without a change, if the proof is not valid any more. */
  useProof(proof: SignInProof, userId: string, now: number): boolean
}

export function proofsInside(db: Connection): ProofsInside {
  const isEnabled = db.prepare(IS_ENABLED)
  const hasPassword = db.prepare(HAS_PASSWORD)
  const hasChallenge = db.prepare(HAS_CHALLENGE)
  const endChallenge = db.prepare(END_CHALLENGE)
  const useStep = db.prepare(USE_STEP)
  const useRecoveryCode = db.prepare(USE_RECOVERY_CODE)
  const usePasskey = db.prepare(USE_PASSKEY)

  const answer: ProofsInside['answer'] = (tokenHash, { kind, userId, now }, use) => {
    if (hasChallenge.get(tokenHash, kind, userId, now) === undefined || !use()) return false
    endChallenge.run(tokenHash)
    return true
  }
  const useCode: ProofsInside['useCode'] = (userId, code) =>
    'step' in code
      ? useStep.run(code.step, userId, code.step).changes > 0
      : useRecoveryCode.run(userId, code.recoveryHash).changes > 0

  return {
    answer,
    useCode,
    useProof: (proof, userId, now) => {
      if (proof.kind === 'password') return hasPassword.get(userId, proof.passwordHash) !== undefined
      if (isEnabled.get(userId) === undefined) return false
      return answer(proof.challengeHash, { kind: proof.kind, userId, now }, () => {
        if (proof.kind === 'code') return useCode(userId, proof.code)
        const { counter, passkeyId } = proof
        return usePasskey.run(counter, now, passkeyId, userId, counter, counter).changes > 0
      })
    },
  }
}

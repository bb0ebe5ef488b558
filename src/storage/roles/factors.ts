import type { FactorSummary, Passkey, SignInChallenge, Totp, UsedCode } from '../../model/factors.ts'

/** What users sign in with besides a password, and steps that wait for an answer. Tokens and recovery codes are passed as
 *  SHA-256. There is no cache: a change holds for the next request on every node. Methods with `keep` end every other
 *  session of the user, and sign-ins under way. */
export interface Factors {
  /** By user ID; users without any are left out. */
  summaries(userIds: readonly string[]): Promise<ReadonlyMap<string, FactorSummary>>
  /** Null if none was set up. */
  totp(userId: string): Promise<Totp | null>
  /** Stores a secret that waits for its first code, in place of an earlier one. `enabled` if one is in use. */
  beginTotp(userId: string, secret: Uint8Array, now: number): Promise<'begun' | 'enabled'>
  /** Takes the waiting secret in use, with `step` as used and new recovery codes. False if none waits. */
  enableTotp(
    userId: string,
    first: { step: number; recoveryHashes: readonly Uint8Array[]; now: number },
    keep: string,
  ): Promise<boolean>
  /** Uses a code: true once for each recovery code, and for each time step, unless a newer one was used. */
  useCode(userId: string, code: UsedCode): Promise<boolean>
  recoveryCodesLeft(userId: string): Promise<number>
  /** Replaces all recovery codes. False unless codes of an app are in use. */
  replaceRecoveryCodes(userId: string, hashes: readonly Uint8Array[], keep: string): Promise<boolean>
  /** Removes app and recovery codes. */
  disableTotp(userId: string, keep: string): Promise<void>
  /** Oldest first. */
  passkeys(userId: string): Promise<Passkey[]>
  findPasskey(credentialId: string): Promise<Passkey | null>
  /** Adds a passkey and uses up its challenge. `unknown` if the challenge is not valid any more, `taken` if the
   *  credential is known, `too_many` beyond MAX_PASSKEYS. */
  addPasskey(passkey: Passkey, challengeHash: Uint8Array): Promise<'added' | 'unknown' | 'taken' | 'too_many'>
  /** False if the user has no such passkey. */
  removePasskey(userId: string, id: string, keep: string): Promise<boolean>
  /** Removes all factors of a user, and ends all sessions. */
  clear(userId: string): Promise<void>
  /** Stores a challenge, and deletes some that expired before `now`. */
  addChallenge(challenge: SignInChallenge, tokenHash: Uint8Array, now: number): Promise<void>
  /** The challenge of a token; null if there is none of that kind, it was used, or it has expired. */
  challenge(tokenHash: Uint8Array, kind: SignInChallenge['kind'], now: number): Promise<SignInChallenge | null>
  /** Counts a try before it is made. False beyond MAX_CODE_TRIES, also on another node. */
  countTry(tokenHash: Uint8Array, now: number): Promise<boolean>
}

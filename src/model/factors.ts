import { isVerified, type User } from './user.ts'

/** What a user signs in with besides a password. */

/** An app that shows codes (RFC 6238). */
export interface Totp {
  secret: Uint8Array
  /** False until the user entered a first code: until then, sign-in does not ask for one. */
  isEnabled: boolean
  createdAt: number
}

/** A passkey: a key pair of the user's device (WebAuthn Level 3). */
export interface Passkey {
  /** `psk_…` */
  id: string
  userId: string
  /** Chosen by the device, base64url. */
  credentialId: string
  /** COSE_Key (RFC 9052 §7). */
  publicKey: Uint8Array
  /** Signatures that the device counted; 0 if it does not count. */
  counter: number
  /** How a browser reaches the device. */
  transports: string[]
  name: string
  createdAt: number
  lastUsedAt: number | null
}

/** Which factors a user has. */
export interface FactorSummary {
  /** A password needs a code of an app or a recovery code. */
  hasTotp: boolean
  passkeys: number
}

/** A step that waits for an answer: the code after a password, or the signature of a passkey. Its token works once. */
export interface SignInChallenge {
  kind: 'code' | 'passkey' | 'new_passkey'
  /** Null while the user is not known: a passkey names it. */
  userId: string | null
  expiresAt: number
}

/** The code that a user entered: the time step of an app's code, or the SHA-256 of a recovery code. */
export type UsedCode = { step: number } | { recoveryHash: Uint8Array }

/** What a new session is opened with, checked and used up in one transaction with it. Every one of them needs an enabled
 *  user. */
export type SignInProof =
  /** The stored hash that the password matched: it must still be the user's. */
  | { kind: 'password'; passwordHash: string }
  | { kind: 'code'; challengeHash: Uint8Array; code: UsedCode }
  | { kind: 'passkey'; challengeHash: Uint8Array; passkeyId: string; counter: number }

/** Time (ms UTC) from which on a link for a new password removes added factors: those from before somebody proved to be the
 *  user, or so recent that a thief of the password may have added them. Older ones stay, so that a mailbox alone does not
 *  remove the second factor. */
export function doubtfulSince(user: User, now: number): number {
  return isVerified(user) ? now - DOUBT_MS : 0
}

const DOUBT_MS = 7 * 86_400_000
/** Time to answer a challenge. */
export const CHALLENGE_MS = 5 * 60_000
/** Codes that may be tried after one password. */
export const MAX_CODE_TRIES = 5
export const MAX_PASSKEYS = 20
/** Recovery codes of a user. */
export const RECOVERY_CODES = 10

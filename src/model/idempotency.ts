/** Lifetime of an Idempotency-Key: 24 h, as the manual states. A later record replaces an older one. */
export const IDEMPOTENCY_KEPT_MS = 24 * 3_600_000

/** A response stored in the same transaction as its change, so that a repeated request gets the same bytes. A change
 *  with a record rejects with AlreadyRemembered, and nothing is written, if there is a record of the same key that is
 *  younger than IDEMPOTENCY_KEPT_MS at `createdAt`: so of two requests with one key only one makes its change, on
 *  whatever nodes. An older one is replaced. */
export interface Remember {
  organizationId: string
  /** SHA-256 of the Idempotency-Key. */
  keyHash: Uint8Array
  /** SHA-256 of method, operation and body. */
  requestHash: Uint8Array
  status: number
  /** Encrypted by the caller if the response contains a secret. */
  body: Uint8Array
  createdAt: number
}

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

export interface IdempotencyRecords {
  find(organizationId: string, keyHash: Uint8Array, since: number): Promise<Remember | null>
  /** Replaces status and body of the record of the same request; does nothing if there is none. */
  replace(record: Remember): Promise<void>
  /** Deletes at most `limit` records older than `before`; returns the number deleted. */
  prune(before: number, limit: number): Promise<number>
}

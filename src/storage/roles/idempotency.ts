/** A response stored in the same transaction as its change, so that a repeated request gets the same bytes. */
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
  /** Deletes at most `limit` records older than `before`; returns the number deleted. */
  prune(before: number, limit: number): Promise<number>
}

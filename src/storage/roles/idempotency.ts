/** A response stored in the same transaction as its change, so that a repeated request gets the same bytes. */
export interface Remember {
  organizationId: string
  /** SHA-256 of the Idempotency-Key. */
  keyHash: Uint8Array
  /** SHA-256 of method, operation and body. */
  requestHash: Uint8Array
  status: number
  /** Sealed by the caller where the answer shows a secret. */
  body: Uint8Array
  createdAt: number
}

export interface IdempotencyRecords {
  find(organizationId: string, keyHash: Uint8Array, since: number): Promise<Remember | null>
  /** Forgets at most `limit` records made before `before`; answers how many went. */
  prune(before: number, limit: number): Promise<number>
}

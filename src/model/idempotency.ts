/** Lifetime of an Idempotency-Key: 24 h, as the manual states. A later record replaces an older one. */
export const IDEMPOTENCY_KEPT_MS = 24 * 3_600_000

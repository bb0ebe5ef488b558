/** A failed order with its reason for the operator. */
export class OrderFailure extends Error {
  /** Milliseconds before the authority accepts another request. */
  readonly retryAfterMs: number
  /** Names whose validation failed or that the authority will not certify. */
  readonly refusedNames: readonly string[]

  constructor(message: string, more: { retryAfterMs?: number; refusedNames?: readonly string[] } = {}) {
    super(message)
    this.name = 'OrderFailure'
    this.retryAfterMs = more.retryAfterMs ?? 0
    this.refusedNames = more.refusedNames ?? []
  }
}

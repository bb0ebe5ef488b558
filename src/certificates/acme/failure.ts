/** An order that came to nothing: why, in words for the operator. */
export class OrderFailure extends Error {
  /** The authority asked not to come back before so many ms. */
  readonly retryAfterMs: number
  /** Names that it found not to be ours, or will not certify. */
  readonly refusedNames: readonly string[]

  constructor(message: string, more: { retryAfterMs?: number; refusedNames?: readonly string[] } = {}) {
    super(message)
    this.name = 'OrderFailure'
    this.retryAfterMs = more.retryAfterMs ?? 0
    this.refusedNames = more.refusedNames ?? []
  }
}

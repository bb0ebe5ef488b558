/** Organizations with events whose deliveries are still to be written, in the order of their turns. */
export class PendingFanOuts {
  /** How often each has queued events. */
  readonly #queued = new Map<string, number>()

  /** Starts again with these. */
  fill(organizationIds: readonly string[]): void {
    this.#queued.clear()
    for (const id of organizationIds) this.queued(id)
  }

  has(organizationId: string): boolean {
    return this.#queued.has(organizationId)
  }

  /** Events were queued, and are committed. */
  queued(organizationId: string): void {
    this.#queued.set(organizationId, (this.#queued.get(organizationId) ?? 0) + 1)
  }

  /** Whose turn it is, and what `looked` needs; null if there is none. */
  next(): { organizationId: string; queued: number } | null {
    for (const [organizationId, queued] of this.#queued) return { organizationId, queued }
    return null
  }

  /** Some deliveries were written. Without more, the organization leaves, unless it has queued others meanwhile. */
  looked({ organizationId, queued }: { organizationId: string; queued: number }, isMore: boolean): void {
    const now = this.#queued.get(organizationId)
    if (now === undefined) return
    this.#queued.delete(organizationId)
    if (isMore || now !== queued) this.#queued.set(organizationId, now) // behind the others
  }
}

/** After its commit, an event may be behind a transaction that still writes: so followers are told of it twice. */
const AGAIN_MS = 50

/** Tells followers in this process of new events. */
export class ShownEvents {
  readonly #onEvents: (organizationId: string) => void
  #again = new Set<string>()

  constructor(onEvents: (organizationId: string) => void) {
    this.#onEvents = onEvents
  }

  show(organizationIds: Iterable<string>): void {
    if (this.#again.size === 0) setTimeout(() => this.#showAgain(), AGAIN_MS)
    for (const id of organizationIds) {
      this.#again.add(id)
      this.#onEvents(id)
    }
  }

  #showAgain(): void {
    const again = this.#again
    this.#again = new Set()
    for (const id of again) this.#onEvents(id)
  }
}

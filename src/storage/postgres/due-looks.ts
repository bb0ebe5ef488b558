import type { DueKeys } from './due-keys.ts'

/** How often a node reads what is due, for what a notification that was lost said. */
const LOOK_MS = 30_000
/** With very many keys less often: it takes a tenth of the time at most. */
const LOOK_REST = 10
/** Pause behind a failure: what ended nodes were working on waits for it. */
const RETRY_MS = 1_000

/** When a node reads the due keys from the tables. */
export class DueLooks {
  readonly #keys: Pick<DueKeys, 'load'>
  /** Clock in ms UTC. */
  readonly #clock: () => number
  readonly #onRead: () => void
  readonly #onFailed: (error: unknown) => void
  #takeOver = async () => {}
  /** Of the steady clock, ms. */
  #nextAt = Number.NEGATIVE_INFINITY
  /** The same behind a failure, also if a node ended. */
  #retryAt = Number.NEGATIVE_INFINITY
  /** A node ended, and its keys were not read yet. */
  #hasEnded = true
  #looking: Promise<void> | null = null

  /** `onRead`: keys may be due. `onFailed`: a read or a take-over failed, and is repeated after a second. */
  constructor(
    keys: Pick<DueKeys, 'load'>,
    clock: () => number,
    { onRead, onFailed }: { onRead: () => void; onFailed: (error: unknown) => void },
  ) {
    this.#keys = keys
    this.#clock = clock
    this.#onRead = onRead
    this.#onFailed = onFailed
  }

  /** What nodes that end from now on were working on is due again by this. */
  takeOverBy(takeOver: () => Promise<void>): void {
    this.#takeOver = takeOver
  }

  /** Notifications may have been missed: the next beat reads. */
  missed(): void {
    this.#nextAt = performance.now()
  }

  /** After a beat. It does not wait for what it starts: a hundred thousand keys take some seconds. */
  turn(hasEnded: boolean): void {
    this.#hasEnded ||= hasEnded
    const now = performance.now()
    if (this.#looking !== null || now < this.#retryAt || (!this.#hasEnded && now < this.#nextAt)) return
    const isAll = this.#hasEnded
    this.#hasEnded = false
    this.#nextAt = Number.POSITIVE_INFINITY
    this.#looking = this.#look(isAll)
      .catch((error) => {
        this.#hasEnded ||= isAll
        this.#nextAt = Number.NEGATIVE_INFINITY
        this.#retryAt = performance.now() + RETRY_MS
        this.#onFailed(error)
      })
      .then(() => {
        this.#looking = null
      })
  }

  /** Resolves when it reads nothing. */
  async settled(): Promise<void> {
    await this.#looking
  }

  /** All keys if a node ended, whose keys nobody else has; otherwise those that are due. */
  async #look(isAll: boolean): Promise<void> {
    const beganAt = performance.now()
    await this.#takeOver()
    await this.#keys.load(isAll ? Number.POSITIVE_INFINITY : this.#clock())
    this.#onRead()
    const restMs = Math.max(LOOK_MS, LOOK_REST * (performance.now() - beganAt))
    this.#nextAt = Math.min(this.#nextAt, beganAt + restMs)
  }
}

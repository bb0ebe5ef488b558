/** The store cannot write at present (disk full, locked, read-only, no connection). */
export class StoreUnavailable extends Error {
  /** True if the disk is full. */
  readonly isFull: boolean
  /** True if the change may have been written all the same; false = nothing was written. */
  readonly isUncertain: boolean
  constructor(message: string, options: ErrorOptions & { isFull?: boolean; isUncertain?: boolean } = {}) {
    super(message, options)
    this.name = 'StoreUnavailable'
    this.isFull = options.isFull ?? false
    this.isUncertain = options.isUncertain ?? false
  }
}

/** Another request with the same idempotency key has made its change. */
export class AlreadyRemembered extends Error {
  constructor() {
    super('another request with the same idempotency key was first')
    this.name = 'AlreadyRemembered'
  }
}

/** The files of the store are damaged, so mail could be missing. The message says what to do. */
export class StoreDamaged extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options)
    this.name = 'StoreDamaged'
  }
}

/** The PostgreSQL database that the config names cannot be used: no server responds, it is too old, or rights are missing.
 *  The message says what to do. */
export class DatabaseUnusable extends Error {
  /** True if the URL itself is wrong. */
  readonly isWrongUrl: boolean
  constructor(message: string, options: ErrorOptions & { isWrongUrl?: boolean } = {}) {
    super(message, options)
    this.name = 'DatabaseUnusable'
    this.isWrongUrl = options.isWrongUrl ?? false
  }
}

/** The store belongs to a newer Postrider, or its history is not ours. */
export class StoreMismatch extends Error {
  constructor(message: string) {
    super(message)
    this.name = 'StoreMismatch'
  }
}

/** The data is somewhere else now, or not complete yet. The message says what to do. */
export class StoreMoved extends Error {
  constructor(message: string) {
    super(message)
    this.name = 'StoreMoved'
  }
}

/** The store cannot write at present (disk full, locked, read-only); nothing was written. */
export class StoreUnavailable extends Error {
  /** True if the disk is full. */
  readonly isFull: boolean
  constructor(message: string, options: ErrorOptions & { isFull?: boolean } = {}) {
    super(message, options)
    this.name = 'StoreUnavailable'
    this.isFull = options.isFull ?? false
  }
}

/** The files of the store are damaged, so mail could be missing. The message says what to do. */
export class StoreDamaged extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options)
    this.name = 'StoreDamaged'
  }
}

/** The store cannot write at present (disk full, locked, read-only); nothing was written. */
export class StoreUnavailable extends Error {
  /** For want of room on the disk. */
  readonly isFull: boolean
  constructor(message: string, options: ErrorOptions & { isFull?: boolean } = {}) {
    super(message, options)
    this.name = 'StoreUnavailable'
    this.isFull = options.isFull ?? false
  }
}

/** The files of the store are not what was written: mail would be missing. The message names the remedy. */
export class StoreDamaged extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options)
    this.name = 'StoreDamaged'
  }
}

/** Contents that are objects outside of the database. */
export interface Contents {
  /** Writes, reads and removes an object. False = all contents are in the database. Rejects with StoreUnavailable, and
   *  with Error if it reads something else. */
  checkObjects(): Promise<boolean>
  /** Removes objects that no message refers to, because retention removed the message or it was never written. Looks at
   *  some hundred objects after `after` that were written before `before` (ms UTC). Returns where to continue, null at
   *  the end. Rejects with StoreUnavailable. */
  removeOrphans(request: { after: string; before: number }): Promise<string | null>
}

/** All contents are in the database. */
export const contentsInside: Contents = {
  checkObjects: async () => false,
  removeOrphans: async () => null,
}

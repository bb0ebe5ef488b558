/** Where contents are kept outside of the database. */
export interface Objects {
  /** Writes an object, or replaces it. Rejects with StoreUnavailable. */
  put(key: string, bytes: Uint8Array): Promise<void>
  /** The first `mostBytes` of an object; null if there is none. Rejects with StoreUnavailable. */
  get(key: string, mostBytes: number): Promise<Uint8Array | null>
  /** Succeeds if there is none. Rejects with StoreUnavailable. */
  remove(key: string): Promise<void>
  /** Objects of a folder ('' = all) after a key, in their order, at most 1,000. Rejects with StoreUnavailable. */
  list(folder: string, after: string): Promise<{ key: string; writtenAt: number }[]>
}

/** The place of objects: `s3://bucket/prefix` with its service. */
export interface ObjectPlace {
  bucket: string
  /** '' or with a slash at its end. */
  prefix: string
  /** URL of the service; '' = Amazon S3. */
  endpoint: string
  region: string
  accessKeyId: string
  secretAccessKey: string
}

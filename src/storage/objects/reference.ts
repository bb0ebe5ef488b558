/** What the database stores in place of a content that is an object. */
export interface Reference {
  key: string
  bytes: number
  /** SHA-256 of the object. */
  hash: Uint8Array
}

/** First byte, in place of the version of a blob (mail/blob.ts). */
const REFERENCE = 0x52
const HASH_AT = 5
const KEY_AT = HASH_AT + 32

/** Reference → the byte, the length (32 bits, big-endian), the hash, the key. */
export function packReference({ key, bytes, hash }: Reference): Uint8Array {
  const name = new TextEncoder().encode(key)
  const packed = new Uint8Array(KEY_AT + name.byteLength)
  packed[0] = REFERENCE
  new DataView(packed.buffer).setUint32(1, bytes)
  packed.set(hash, HASH_AT)
  packed.set(name, KEY_AT)
  return packed
}

/** The opposite; null for a content that is stored itself. */
export function unpackReference(stored: Uint8Array): Reference | null {
  if (stored[0] !== REFERENCE || stored.byteLength <= KEY_AT) return null
  return {
    key: new TextDecoder().decode(stored.subarray(KEY_AT)),
    bytes: new DataView(stored.buffer, stored.byteOffset).getUint32(1),
    hash: stored.slice(HASH_AT, KEY_AT),
  }
}

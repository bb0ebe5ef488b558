/** Bytes that arrive in pieces of any size. */
export interface ByteBlocks {
  /** Copies the bytes. */
  add(bytes: Uint8Array): void
  /** Memory in use. */
  heldBytes(): number
  /** Everything added, in order. To be called once. */
  joined(): Uint8Array
}

/** Expected size, or null if it is unknown → empty ByteBlocks. Pieces are copied, because each one has an object and a
 *  buffer of its own: a client that sends single bytes would occupy some hundred times the size of its body. */
export function createByteBlocks(size: number | null): ByteBlocks {
  const full: Uint8Array[] = []
  let block = new Uint8Array(size ?? FIRST_BYTES)
  let used = 0
  let held = block.byteLength

  return {
    add: (bytes) => {
      let rest = bytes
      while (rest.byteLength > 0) {
        if (used === block.byteLength) {
          full.push(block)
          block = new Uint8Array(NEXT_BYTES)
          held += NEXT_BYTES
          used = 0
        }
        const part = rest.subarray(0, block.byteLength - used)
        block.set(part, used)
        used += part.byteLength
        rest = rest.subarray(part.byteLength)
      }
    },
    heldBytes: () => held,
    joined: () => {
      const last = block.subarray(0, used)
      return full.length === 0 ? last : Buffer.concat([...full, last])
    },
  }
}

const FIRST_BYTES = 16 * 1024
const NEXT_BYTES = 64 * 1024

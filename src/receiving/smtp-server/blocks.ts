/** Bytes of pieces of any size, copied into fixed blocks. Mail that arrives byte by byte, or as a small view of a large
 *  buffer, holds at most its own length plus one block. */
export interface Blocks {
  sizeBytes(): number
  /** Memory that the blocks occupy, in bytes. */
  takenBytes(): number
  append(piece: Uint8Array): void
  /** All bytes in one array with its own buffer, ready to transfer to a thread. Empties the blocks. */
  takeOut(): Uint8Array<ArrayBuffer>
}

export const BLOCK_BYTES = 16_384

/** Returns empty Blocks. */
export function createBlocks(): Blocks {
  let blocks: Uint8Array[] = []
  let size = 0
  let taken = 0
  return {
    sizeBytes: () => size,
    takenBytes: () => taken,
    append: (piece: Uint8Array) => {
      const tail = blocks.at(-1)
      const intoTail = Math.min(taken - size, piece.length)
      if (tail !== undefined && intoTail > 0) tail.set(piece.subarray(0, intoTail), tail.length - (taken - size))
      const rest = piece.subarray(intoTail)
      if (rest.length > 0) {
        const block = new Uint8Array(Math.max(rest.length, BLOCK_BYTES))
        block.set(rest)
        blocks.push(block)
        taken += block.length
      }
      size += piece.length
    },
    takeOut: () => {
      const whole = new Uint8Array(size)
      let at = 0
      for (const block of blocks) {
        whole.set(block.subarray(0, size - at), at)
        at += block.length
      }
      blocks = []
      size = 0
      taken = 0
      return whole
    },
  }
}

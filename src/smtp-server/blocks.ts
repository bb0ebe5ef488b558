/** Pieces of any size, copied into blocks: a mail that comes byte by byte, or a small piece of a large buffer, holds no
 *  more memory than its own length and one block. */
export interface Blocks {
  sizeBytes(): number
  /** What the blocks take. */
  takenBytes(): number
  append(piece: Uint8Array): void
  /** All of it in one array with a buffer of its own, so that it can be handed to a thread; none is left. */
  takeOut(): Uint8Array<ArrayBuffer>
}

export const BLOCK_BYTES = 16_384

/** → Blocks without a byte. */
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

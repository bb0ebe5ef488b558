import { createHash } from 'node:crypto'
import type { Random } from '../../src/os/random.ts'

/** Random that is the same at every run: SHA-256 of a counter. */
export function createTestRandom(): Random {
  let counter = 0
  return {
    bytes: (size) => {
      const blocks = Array.from({ length: Math.ceil(size / 32) }, () =>
        createHash('sha256').update(`test ${counter++}`).digest(),
      )
      return new Uint8Array(Buffer.concat(blocks).subarray(0, size))
    },
    fraction: () => 0.5,
  }
}

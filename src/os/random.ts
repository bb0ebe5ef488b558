import { randomBytes } from 'node:crypto'

/** Randomness; tests use a seeded source. */
export interface Random {
  /** Returns `size` cryptographically strong bytes. */
  bytes(size: number): Uint8Array
  /** A fraction in [0, 1), for jitter only. */
  fraction(): number
}

export const systemRandom: Random = {
  bytes: (size) => (size <= SMALL_BYTES ? fromPool(size) : randomBytes(size)),
  fraction: () => Math.random(),
}

/** Reads ahead: ten random bytes cost as much as four thousand, and each request needs several. */
const SMALL_BYTES = 64
let pool = randomBytes(0)
let used = 0

function fromPool(size: number): Uint8Array {
  if (used + size > pool.length) {
    pool = randomBytes(4096)
    used = 0
  }
  const bytes = pool.subarray(used, used + size)
  used += size
  return bytes
}

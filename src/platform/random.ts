import { randomBytes } from 'node:crypto'

/** Randomness as the house sees it; tests give a seeded one. */
export interface Random {
  /** `size` cryptographically strong bytes. */
  bytes(size: number): Uint8Array
  /** A fraction in [0, 1), for jitter only. */
  fraction(): number
}

export const systemRandom: Random = {
  bytes: (size) => randomBytes(size),
  fraction: () => Math.random(),
}

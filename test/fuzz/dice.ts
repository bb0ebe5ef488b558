/** Choices that follow from one number, so that a run can be repeated. */
export interface Dice {
  /** From 0 up to, but without, 1. */
  roll(): number
  chance(of: number): boolean
  pick<T>(from: readonly T[]): T
  /** Null for an empty list. */
  maybe<T>(from: readonly T[]): T | null
}

/** 32-bit seed → Dice (mulberry32, by Tommy Ettinger, public domain). */
export function createDice(seed: number): Dice {
  let state = seed >>> 0
  const roll = () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
  const at = <T>(from: readonly T[]): T | undefined => from[Math.floor(roll() * from.length)]
  return {
    roll,
    chance: (of) => roll() < of,
    pick: (from) => at(from)!,
    maybe: (from) => at(from) ?? null,
  }
}

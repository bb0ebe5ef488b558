/** A bounded amount that owners share. Nothing waits: what does not fit is refused. */
export interface FairPool {
  /** Takes `amount` for all of these owners together. False, and nothing is taken, if the pool has no room or one of them
   *  has its part already. */
  take(owners: readonly PoolOwner[], amount: number): boolean
  /** Gives back what `take` took for the same owners. */
  give(owners: readonly PoolOwner[], amount: number): void
}

export interface PoolOwner {
  name: string
  /** It may hold at most this part of what stays free. */
  part: number
}

/** Total amount → an empty FairPool. Each call is O(number of owners given).
 *
 *  An owner is measured against what is free, and not against the total: with part 1 a single owner gets half of the pool,
 *  and `n` owners who take all they get leave 1/(n+1) of it. So somebody who holds little is admitted, however much the others
 *  want. `mayUse` is asked before the pool as a whole grows to an amount. */
export function createFairPool(total: number, mayUse: (amount: number) => boolean = () => true): FairPool {
  const heldBy = new Map<string, number>()
  let used = 0
  const heldOf = (name: string) => heldBy.get(name) ?? 0

  return {
    take: (owners, amount) => {
      const free = total - used - amount
      if (owners.some(({ name, part }) => heldOf(name) + amount > part * free) || !mayUse(used + amount)) return false
      used += amount
      for (const { name } of owners) heldBy.set(name, heldOf(name) + amount)
      return true
    },
    give: (owners, amount) => {
      used -= amount
      for (const { name } of owners) {
        const left = heldOf(name) - amount
        if (left > 0) heldBy.set(name, left)
        else heldBy.delete(name)
      }
    },
  }
}

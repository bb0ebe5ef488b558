import type { Rates } from '../../storage/store.ts'

/** Requests of a key in its current minute. */
export interface RateWindow {
  /** At this node. */
  used: number
  /** At other nodes, when they were last asked. */
  others: number
  refused: number
  endsAt: number
}

/** Shares the counts of keys with other nodes. Call it after each request of a key; `now` is in ms UTC. The first
 *  request in a while is shared at once, further ones together after SHARE_MS. Windows of several nodes end together,
 *  with the earliest. While the store does not answer, each node counts alone. */
export function createRateSharing(
  rates: Pick<Rates, 'exchange'>,
  windows: ReadonlyMap<string, RateWindow>,
): (id: string, now: number) => void {
  let active = new Set<string>()
  let isWaiting = false
  let latest = 0

  const exchange = async () => {
    const own = [...active].flatMap((id) => {
      const window = windows.get(id)
      return window === undefined ? [] : [{ id, endsAt: window.endsAt, used: window.used }]
    })
    active = new Set()
    const foreign = (await rates.exchange(own)).filter(({ endsAt }) => endsAt > latest)
    const counts = Map.groupBy(foreign, ({ id }) => id)
    for (const { id } of own) {
      const window = windows.get(id)
      if (window === undefined) continue
      const others = counts.get(id) ?? []
      window.others = others.reduce((sum, { used }) => sum + used, 0)
      window.endsAt = Math.min(window.endsAt, ...others.map(({ endsAt }) => endsAt))
    }
  }
  const run = () => {
    isWaiting = true
    exchange()
      .catch(() => {}) // the next exchange has the sums
      .then(() => {
        const next = () => {
          if (active.size > 0) run()
          else isWaiting = false
        }
        setTimeout(next, SHARE_MS).unref()
      })
  }
  return (id, now) => {
    latest = now
    active.add(id)
    if (!isWaiting) run()
  }
}

const SHARE_MS = 250

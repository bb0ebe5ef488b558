import type { Json } from '../../kit/api.ts'

/** The order in which inbound routes get mail, and how a priority changes it. */

const RANKS = ['address', 'pattern', 'domain', 'catch_all']
const rankOf = ({ match }: Json) => RANKS.indexOf(match.type)

/** Negative if `a` is before `b`: highest priority first, then the most specific match, then the older route, as
 *  chooseRoute of the model decides. */
const precedence = (a: Json, b: Json): number =>
  b.priority - a.priority ||
  rankOf(a) - rankOf(b) ||
  Date.parse(a.created_at) - Date.parse(b.created_at) ||
  (a.id < b.id ? -1 : 1)

/** Routes as the API lists them → in matching order. */
export function inOrder(routes: readonly Json[]): Json[] {
  return routes.toSorted(precedence)
}

/** Routes in matching order, with the one at `from` moved to `to` → the priorities to change, by ID. Only that of the
 *  moved route if one fits between its neighbours; otherwise all are numbered anew, in steps that leave room. */
export function prioritiesAfterMove(routes: readonly Json[], from: number, to: number): Map<string, number> {
  const moved = routes[from]
  const order = routes.toSpliced(from, 1).toSpliced(to, 0, moved)
  const [before, after] = [order[to - 1], order[to + 1]]
  const fits = (priority: number) => {
    const changed = { ...moved, priority }
    return (!before || precedence(before, changed) < 0) && (!after || precedence(changed, after) < 0)
  }
  const [most, least] = [before?.priority ?? MOST, after?.priority ?? LEAST]
  const middle = before && after ? Math.round((most + least) / 2) : before ? most - STEP : least + STEP
  const found = [moved.priority, middle, most, least].find(
    (priority) => priority >= LEAST && priority <= MOST && fits(priority),
  )
  if (found !== undefined) return new Map(found === moved.priority ? [] : [[moved.id, found]])
  const step = Math.max(1, Math.min(STEP, Math.floor(MOST / order.length)))
  const numbered = order.map((route, at) => ({ route, priority: (order.length - 1 - at) * step }))
  return new Map(
    numbered.filter(({ route, priority }) => route.priority !== priority).map((each) => [each.route.id, each.priority]),
  )
}

/** Range of the API. */
const [LEAST, MOST] = [-1000, 1000]
const STEP = 10

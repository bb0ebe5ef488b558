import type { PoolEvent, PoolState } from '../os/thread-pool.ts'
import type { Registry } from './registry.ts'

/** The thread pools, as their operator sees them. */
export interface PoolMetrics {
  onEvent(event: PoolEvent): void
  /** Asks this pool when it is read. */
  add(name: string, state: () => PoolState): void
}

export function countPools(registry: Registry): PoolMetrics {
  const pools = new Map<string, () => PoolState>()
  const all = (value: (state: PoolState) => number) => () =>
    [...pools].map(([name, state]) => ({ values: [name], value: value(state()) }))
  const ended = registry.counter(
    'postrider_pool_ended_total',
    'Threads that ended: over_budget = a job took too long, died = by themselves, idle, stopped.',
    ['pool', 'cause'],
  )
  const poisonous = registry.counter(
    'postrider_pool_poisonous_jobs_total',
    'Jobs that were given up because two threads ended over them.',
    ['pool'],
  )
  const apart = registry.counter(
    'postrider_pool_owners_apart_total',
    'Times that the jobs of an organization had ended so many threads that they wait, or run one at a time.',
    ['pool'],
  )
  registry.gauges(
    'postrider_pool_runners',
    'Threads that run.',
    ['pool'],
    all(({ runners }) => runners),
  )
  registry.gauges(
    'postrider_pool_under_way',
    'Jobs in a thread.',
    ['pool'],
    all(({ underWay }) => underWay),
  )
  registry.gauges(
    'postrider_pool_waiting',
    'Jobs that wait for a thread.',
    ['pool'],
    all(({ waiting }) => waiting),
  )
  return {
    onEvent: (event) => {
      if (event.kind === 'ended') ended([event.pool, event.cause])
      else if (event.kind === 'poisonous_job') poisonous([event.pool])
      else if (event.kind === 'owner_apart') apart([event.pool])
    },
    add: (name, state) => {
      pools.set(name, state)
      ended([name, 'over_budget'], 0)
      poisonous([name], 0)
      apart([name], 0)
    },
  }
}

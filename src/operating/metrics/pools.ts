import { createThreadDeaths, type ThreadDeath } from '../../os/thread-deaths.ts'
import type { PoolEvent, PoolState } from '../../os/thread-pool.ts'
import type { Registry } from './registry.ts'

/** Metrics of the thread pools, and what ended their threads. */
export interface PoolMetrics {
  onEvent(event: PoolEvent): void
  /** Adds a pool; its state is read on each scrape. */
  add(name: string, state: () => PoolState): void
  /** The last threads that ended by themselves. */
  deaths(): readonly ThreadDeath[]
}

/** `now`: ms UTC. */
export function countPools(registry: Registry, now: () => number): PoolMetrics {
  const deaths = createThreadDeaths(now)
  const pools = new Map<string, () => PoolState>()
  const all = (value: (state: PoolState) => number) => () =>
    [...pools].map(([name, state]) => ({ values: [name], value: value(state()) }))
  const ended = registry.counter(
    'postrider_pool_ended_total',
    'Threads that ended, by cause: over_budget (a job exceeded its time), died (crash), idle, stopped.',
    ['pool', 'cause'],
  )
  const poisonous = registry.counter(
    'postrider_pool_poisonous_jobs_total',
    'Jobs that failed after they crashed or timed out two threads.',
    ['pool'],
  )
  const apart = registry.counter(
    'postrider_pool_owners_apart_total',
    'Times Postrider limited an organization for up to 10 min because its jobs crashed or timed out several threads.',
    ['pool'],
  )
  registry.gauges(
    'postrider_pool_runners',
    'Running threads.',
    ['pool'],
    all(({ runners }) => runners),
  )
  registry.gauges(
    'postrider_pool_under_way',
    'Jobs in progress.',
    ['pool'],
    all(({ underWay }) => underWay),
  )
  registry.gauges(
    'postrider_pool_waiting',
    'Jobs waiting for a thread.',
    ['pool'],
    all(({ waiting }) => waiting),
  )
  return {
    deaths: deaths.recent,
    onEvent: (event) => {
      deaths.onEvent(event)
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

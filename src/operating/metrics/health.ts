import type { HealthWatch } from '../health/watch.ts'
import type { Registry } from './registry.ts'

/** One sample per check with its last result; none before the first run. */
export function gaugeHealth(registry: Registry, health: Pick<HealthWatch, 'latest'>): void {
  registry.gauges(
    'postrider_health_check',
    'Always 1. Label status has the last result of each health check (pass, warn, fail, skip).',
    ['name', 'status'],
    () => (health.latest()?.checks ?? []).map(({ name, status }) => ({ values: [name, status], value: 1 })),
  )
  registry.gauges(
    'postrider_health_checked_timestamp_seconds',
    'Time of the last run of the health checks.',
    [],
    () => {
      const latest = health.latest()
      return latest === null ? [] : [{ values: [], value: latest.checkedAt / 1000 }]
    },
  )
}

import type { HealthWatch } from '../health/watch.ts'
import type { Registry } from './registry.ts'

/** A line for each check, by what it found last; none before the first look. */
export function gaugeHealth(registry: Registry, health: Pick<HealthWatch, 'latest'>): void {
  registry.gauges(
    'postrider_health_check',
    'Always 1: what each health check found last (pass, warn, fail, skip).',
    ['name', 'status'],
    () => (health.latest()?.checks ?? []).map(({ name, status }) => ({ values: [name, status], value: 1 })),
  )
  registry.gauges('postrider_health_checked_timestamp_seconds', 'When the health checks were made last.', [], () => {
    const latest = health.latest()
    return latest === null ? [] : [{ values: [], value: latest.checkedAt / 1000 }]
  })
}

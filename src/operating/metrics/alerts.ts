import { ALERT_SEVERITIES, type Alert } from '../../model/alert.ts'
import type { Registry } from './registry.ts'

/** Firing alerts by severity, as of the last look; none if alerts are off. */
export function gaugeAlerts(registry: Registry, firing: (() => readonly Alert[]) | null): void {
  registry.gauges('postrider_alerts_firing', 'Alerts that fire, of the whole installation.', ['severity'], () =>
    firing === null
      ? []
      : ALERT_SEVERITIES.map((severity) => ({
          values: [severity],
          value: firing().filter((alert) => alert.severity === severity).length,
        })),
  )
}

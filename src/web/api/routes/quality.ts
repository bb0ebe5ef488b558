import { z } from 'zod'
import type { Domain } from '../../../model/domain.ts'
import { iso } from '../../../model/event.ts'
import type { QualityAlert, QualityFigures, QualityThresholds } from '../../../model/quality.ts'
import { share } from '../../../model/stats.ts'
import type { Store } from '../../../storage/store.ts'
import { rule } from '../access.ts'
import { type Operation, operation } from '../operation.ts'
import { pageRequest, pageResponse } from '../page.ts'
import { pageFields } from '../schema.ts'
import { filteredPage, NO_RECORDS, scopeOf } from '../scope.ts'

const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS
/** Age up to which resolved alerts are shown, and maximum number of them per domain. */
const RECENT_MS = 30 * DAY_MS
const MOST_ALERTS = 20

/** The operation of `/v1/quality`: bounce and complaint rates of live mail by domain, the thresholds for
 *  `quality.alert`, and the alerts that are active or were resolved in the last 30 days. Rates are from 0 to 1, and 0
 *  without mail. */
export function qualityOperations(deps: {
  store: Pick<Store, 'snapshot' | 'quality' | 'domains'>
  config: { quality: QualityThresholds & { windowHours: number; stopSending: boolean } }
}): Operation[] {
  const { store } = deps
  const settings = deps.config.quality

  const recordOf = async (domain: Domain, now: number) => {
    const [figures, alerts] = await Promise.all([
      store.quality.figures(domain.id, settings.windowHours * HOUR_MS, now),
      store.quality.alerts(domain.id, MOST_ALERTS),
    ])
    const firing = store.snapshot.firingAlerts(domain.id)
    const ended = alerts.filter(({ resolvedAt }) => resolvedAt !== null && resolvedAt > now - RECENT_MS)
    return { id: domain.id, domain, figures, firing, ended }
  }

  return [
    operation({
      id: 'quality_list',
      method: 'GET',
      path: '/v1/quality',
      tag: 'Statistics',
      access: rule('read', 'viewer', 'test_records', 'own_domain'),
      summary: 'List bounce and complaint rates by domain',
      description:
        'Live messages of the last `window_hours`, with alerts. A `quality.alert` event fires when a rate exceeds its threshold with at least `min_sent` recipients, and again when it is well below it.',
      responses: async () => (await import('../responses/figures.ts')).qualityResponses,
      query: z.strictObject(pageFields),
      async handle({ key, organizationId, query, now }) {
        const scope = scopeOf(key)
        const asked = pageRequest(query)
        // Rates cover live mail, which test keys cannot see.
        if (scope.mode === 'test') return pageResponse(NO_RECORDS, () => null)
        const list = (page: typeof asked) => store.domains.list(organizationId, page)
        const isKept = ({ id }: Domain) => scope.domainId === null || id === scope.domainId
        const { records, hasMore } = await filteredPage(list, asked, isKept)
        const read = await Promise.all(records.map((domain) => recordOf(domain, now)))
        return pageResponse({ records: read, hasMore }, (each) => toWire(each, settings))
      },
    }),
  ]
}

interface DomainQuality {
  domain: Domain
  figures: QualityFigures
  firing: QualityAlert[]
  /** Alerts resolved in the last 30 days. */
  ended: QualityAlert[]
}

function toWire(
  { domain, figures, firing, ended }: DomainQuality,
  settings: QualityThresholds & { windowHours: number; stopSending: boolean },
) {
  return {
    domain_id: domain.id,
    domain: domain.name,
    sent: figures.sent,
    hard_bounced: figures.hardBounced,
    delivered: figures.delivered,
    complained: figures.complained,
    bounce_rate: share(figures.hardBounced, figures.sent),
    complaint_rate: share(figures.complained, figures.delivered),
    thresholds: {
      bounce_rate: settings.bounceRate,
      complaint_rate: settings.complaintRate,
      min_sent: settings.minSent,
    },
    window_hours: settings.windowHours,
    sending_stopped: settings.stopSending && firing.length > 0,
    alerts: [...firing, ...ended].map(alertToWire),
  }
}

function alertToWire(alert: QualityAlert) {
  return {
    alert_id: alert.id,
    metric: alert.metric,
    value: alert.value,
    threshold: alert.threshold,
    window_hours: alert.windowHours,
    sent: alert.sent,
    affected: alert.affected,
    state: alert.state,
    triggered_at: iso(alert.triggeredAt),
    resolved_at: alert.resolvedAt === null ? null : iso(alert.resolvedAt),
  }
}

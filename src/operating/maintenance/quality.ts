import { createEvent, iso } from '../../model/event.ts'
import type { QualityAlert, QualityFigures, QualityThresholds } from '../../model/quality.ts'
import type { MintId } from '../../os/ids.ts'
import { judgeQuality, type Measured, measure } from '../../receiving/feedback/quality.ts'
import type { Store } from '../../storage/store.ts'

const HOUR_MS = 3_600_000

/** Checks the rates of every domain with mail in the window. Creates a `quality.alert` event when a rate becomes too
 *  high, and one when that ends. Alert and event are written in one transaction and the store keeps active alerts,
 *  so that a restart repeats and loses nothing. Returns true if there was an event. Throws only what the store
 *  throws; events written before stay. */
export async function watchQuality(
  now: number,
  deps: {
    store: Pick<Store, 'quality' | 'domains'>
    mintId: MintId
    settings: QualityThresholds & { windowHours: number }
  },
): Promise<boolean> {
  const { store, mintId, settings } = deps
  const windowMs = settings.windowHours * HOUR_MS
  const firing = Map.groupBy(await store.quality.firing(), ({ domainId }) => domainId)
  const ids = new Set([...(await store.quality.domainsWithOutcomes(windowMs, now)), ...firing.keys()])
  let hasEvents = false

  for (const id of ids) {
    const domain = await store.domains.get(id)
    // A removed domain can no longer send, so its alerts end.
    const figures = domain === null ? NOTHING : await store.quality.figures(id, windowMs, now)
    for (const measured of measure(figures, settings)) {
      const current = firing.get(id)?.find(({ metric }) => metric === measured.metric)
      const judgement = judgeQuality(measured, settings, current !== undefined)
      if (judgement === 'raise' && domain !== null) {
        const { organizationId, name } = domain
        const alert = newAlert(mintId('alr'), { organizationId, domainId: id, domain: name }, measured, settings, now)
        hasEvents = (await store.quality.raise(alert, alertEvent(mintId('evt'), alert, now))) === 'raised' || hasEvents
      }
      if (judgement === 'resolve' && current !== undefined) {
        const alert = ended(current, measured, settings, now)
        hasEvents =
          (await store.quality.resolve(alert, alertEvent(mintId('evt'), alert, now))) === 'resolved' || hasEvents
      }
    }
  }
  return hasEvents
}

const NOTHING: QualityFigures = { sent: 0, hardBounced: 0, delivered: 0, complained: 0 }

function newAlert(
  id: string,
  of: Pick<QualityAlert, 'organizationId' | 'domainId' | 'domain'>,
  measured: Measured,
  { windowHours }: { windowHours: number },
  now: number,
): QualityAlert {
  return { id, ...of, ...measured, windowHours, state: 'firing', triggeredAt: now, resolvedAt: null }
}

function ended(
  alert: QualityAlert,
  measured: Measured,
  { windowHours }: { windowHours: number },
  now: number,
): QualityAlert {
  return { ...alert, ...measured, windowHours, state: 'resolved', resolvedAt: now }
}

/** Both events of an alert contain the time of its start; the timestamp of the second is the time of its end. */
function alertEvent(id: string, alert: QualityAlert, now: number) {
  const { organizationId, domainId } = alert
  return createEvent(
    { id, type: 'quality.alert', organizationId, domainId, messageId: null, mode: 'live', createdAt: now },
    {
      alert_id: alert.id,
      domain_id: domainId,
      domain: alert.domain,
      metric: alert.metric,
      value: alert.value,
      threshold: alert.threshold,
      window_hours: alert.windowHours,
      sent: alert.sent,
      affected: alert.affected,
      state: alert.state,
      triggered_at: iso(alert.triggeredAt),
    },
  )
}

import { type OutcomeCounts, type QualityAlert, qualityFigures } from '../../model/quality.ts'
import { OUTCOMES_KEPT_MS, widthFor } from '../outcome-widths.ts'
import type { Quality } from '../store.ts'
import { type Connection, one } from './driver.ts'
import type { AppendInside } from './fan-out.ts'
import type { ForeignChanges } from './foreign.ts'
import type { Writer } from './writer.ts'

const COLUMNS = `id, organization_id as organizationId, domain_id as domainId, domain, metric, value, threshold,
  window_hours as windowHours, sent, affected, state, triggered_at as triggeredAt, resolved_at as resolvedAt`
// Goes from domain to domain along the key: its cost is their number, not that of their counts.
const COUNTED_DOMAINS = `with recursive counted (id) as (
    select min(domain_id) from outcomes where width_ms = ?
    union all
    select (select min(domain_id) from outcomes where width_ms = ? and domain_id > id) from counted where id is not null)
  select id from counted where id is not null`
const LATEST = 'select max(start) from outcomes where width_ms = ? and domain_id = ?'
const FIGURES = `select total(delivered) as delivered, total(bounced) as bounced, total(hard_bounced) as hardBounced,
    total(late_bounced) as lateBounced, total(complained) as complained
  from outcomes where width_ms = ? and domain_id = ? and start > ?`
const PRUNE = `delete from outcomes where (width_ms, domain_id, start) in
  (select width_ms, domain_id, start from outcomes where width_ms = ? and domain_id = ? and start < ? limit ?)`
const FIRING = `select ${COLUMNS} from quality_alerts where state = 'firing' order by domain_id, metric`
const ALERTS = `select ${COLUMNS} from quality_alerts where domain_id = ? order by id desc limit ?`
const RAISE = `insert into quality_alerts (id, organization_id, domain_id, domain, metric, value, threshold, window_hours,
    sent, affected, state, triggered_at)
  values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 'firing', ?) on conflict do nothing`
const RESOLVE = `update quality_alerts set state = 'resolved', value = ?, threshold = ?, window_hours = ?, sent = ?,
    affected = ?, resolved_at = ?
  where id = ? and state = 'firing'`

export function sqliteQuality(
  db: Connection,
  writer: Writer,
  inside: { append: AppendInside; foreign: ForeignChanges },
): Quality & { drop(): void; firingAlerts(domainId: string): QualityAlert[] } {
  const countedDomains = db.prepare<unknown[], string>(COUNTED_DOMAINS).pluck()
  const latest = db.prepare<unknown[], number>(LATEST).pluck()
  const figures = db.prepare<unknown[], OutcomeCounts>(FIGURES)
  const prune = db.prepare(PRUNE)
  const firing = db.prepare<unknown[], QualityAlert>(FIRING)
  const alerts = db.prepare<unknown[], QualityAlert>(ALERTS)
  const raise = db.prepare(RAISE)
  const resolve = db.prepare(RESOLVE)

  /** Active alerts by domain: read for every message if alerts stop mail. */
  let byDomain: Map<string, QualityAlert[]> | null = null
  const drop = () => {
    byDomain = null
  }
  inside.foreign.onChange(drop)

  const domainsIn = (width: number) => countedDomains.all(width, width)

  return {
    drop,
    domainsWithOutcomes: async (windowMs, now) => {
      const width = widthFor(windowMs)
      const ids = domainsIn(width)
      return ids.filter((id) => one(latest, width, id) > now - windowMs - width)
    },
    figures: async (domainId, windowMs, now) => {
      const width = widthFor(windowMs)
      return qualityFigures(one(figures, width, domainId, now - windowMs - width))
    },
    firing: async () => firing.all(),
    firingAlerts: (domainId) => {
      inside.foreign.glance()
      byDomain ??= Map.groupBy(firing.all(), (alert) => alert.domainId)
      return byDomain.get(domainId) ?? []
    },
    alerts: async (domainId, limit) => alerts.all(domainId, limit),
    raise: (alert, event) =>
      writer.write(() => {
        const { id, organizationId, domainId, domain, metric, value, threshold, windowHours, sent, affected } = alert
        const values = [value, threshold, windowHours, sent, affected, alert.triggeredAt]
        if (raise.run(id, organizationId, domainId, domain, metric, ...values).changes === 0) return 'exists'
        drop()
        inside.append(event)
        return 'raised'
      }),
    resolve: ({ id, value, threshold, windowHours, sent, affected, resolvedAt }, event) =>
      writer.write(() => {
        if (resolve.run(value, threshold, windowHours, sent, affected, resolvedAt, id).changes === 0) return 'gone'
        drop()
        inside.append(event)
        return 'resolved'
      }),
    pruneOutcomes: (now, limit) =>
      writer.write(() => {
        let left = limit
        for (const [width, keptMs] of OUTCOMES_KEPT_MS) {
          for (const id of domainsIn(width)) {
            if (left > 0) left -= prune.run(width, id, now - keptMs - width, left).changes
          }
        }
        return limit - left
      }),
  }
}

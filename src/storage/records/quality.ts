import type { Event } from '../../model/event.ts'
import { type OutcomeCounts, type QualityAlert, type QualityFigures, qualityFigures } from '../../model/quality.ts'
import { append } from '../inside.ts'
import { OUTCOMES_KEPT_MS, widthFor } from '../outcome-widths.ts'
import { changed, type Database, run, sql } from '../sql.ts'

const COLUMNS = `id, organization_id as "organizationId", domain_id as "domainId", domain, metric, value, threshold,
  window_hours as "windowHours", sent, affected, state, triggered_at as "triggeredAt", resolved_at as "resolvedAt"`
// Goes from domain to domain along the key: its cost is their number, not that of their counts.
const COUNTED_DOMAINS = `with recursive counted (id) as (
    select min(domain_id) from quality_counts where width_ms = $1
    union all
    select (select min(domain_id) from quality_counts where width_ms = $1 and domain_id > id)
    from counted where id is not null)`
const DOMAINS_SINCE = sql<{ id: string }>(`${COUNTED_DOMAINS} select id from counted
  where (select max(start) from quality_counts where width_ms = $1 and domain_id = id) > $2`)
const sum = (column: string) => `coalesce(sum(${column}), 0)::float8`
const FIGURES = sql<OutcomeCounts>(`select ${sum('delivered')} as delivered, ${sum('bounced')} as bounced,
    ${sum('hard_bounced')} as "hardBounced", ${sum('late_bounced')} as "lateBounced", ${sum('complained')} as complained
  from quality_counts where width_ms = $1 and domain_id = $2 and start > $3`)
// SQLite has no lateral join, and the table no row numbers. On PostgreSQL a start has a row for each lane.
const PRUNE = sql(
  `${COUNTED_DOMAINS} delete from quality_counts where ctid = any(array(
    select old.ctid from counted cross join lateral (
      select ctid from quality_counts where width_ms = $1 and domain_id = id and start < $2 order by start limit $3) old
    limit $3))`,
  `${COUNTED_DOMAINS} delete from quality_counts where (width_ms, domain_id, start) in (
    select width_ms, domain_id, start from counted
    cross join quality_counts on width_ms = $1 and domain_id = id and start < $2 limit $3)`,
)
/** All active alerts. */
export const FIRING_ALERTS = sql<QualityAlert>(
  `select ${COLUMNS} from quality_alerts where state = 'firing' order by domain_id, metric`,
)
const ALERTS = sql<QualityAlert>(`select ${COLUMNS} from quality_alerts where domain_id = $1 order by id desc limit $2`)
const RAISE = sql(`insert into quality_alerts (id, organization_id, domain_id, domain, metric, value, threshold,
    window_hours, sent, affected, state, triggered_at)
  values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, 'firing', $11) on conflict do nothing`)
const RESOLVE = sql(`update quality_alerts set state = 'resolved', value = $2, threshold = $3, window_hours = $4,
    sent = $5, affected = $6, resolved_at = $7
  where id = $1 and state = 'firing'`)

/** Bounce and complaint counts of domains, and alerts. Windows end at `now`; they begin slightly early (5 s, or a
 *  quarter of an hour for windows of more than two hours). */
export function qualityRecords(database: Database) {
  return {
    /** Ids of domains whose live mail had an outcome in the window. */
    domainsWithOutcomes: async (windowMs: number, now: number): Promise<string[]> => {
      const width = widthFor(windowMs)
      return (await database.rows(DOMAINS_SINCE, width, now - windowMs - width)).map(({ id }) => id)
    },
    figures: async (domainId: string, windowMs: number, now: number): Promise<QualityFigures> => {
      const width = widthFor(windowMs)
      const counts = await database.row(FIGURES, width, domainId, now - windowMs - width)
      if (counts === null) throw new Error('a sum without a row')
      return qualityFigures(counts)
    },
    /** All active alerts. */
    firing: (): Promise<QualityAlert[]> => database.rows(FIRING_ALERTS),
    /** Newest first. */
    alerts: (domainId: string, limit: number): Promise<QualityAlert[]> => database.rows(ALERTS, domainId, limit),
    /** Writes a new alert with its event; `exists` while an alert of that domain and metric is active. */
    raise: (alert: QualityAlert, event: Event): Promise<'raised' | 'exists'> =>
      database.write(function* () {
        const { id, organizationId, domainId, domain, metric, value, threshold, windowHours, sent, affected } = alert
        const values = [value, threshold, windowHours, sent, affected, alert.triggeredAt]
        if ((yield* run(RAISE, id, organizationId, domainId, domain, metric, ...values)) === 0) return 'exists'
        yield* changed('qualityAlert', id)
        yield* append(event)
        return 'raised'
      }, 'settings'),
    /** Ends an active alert, with its last figures; `gone` if it is not active. */
    resolve: (
      { id, value, threshold, windowHours, sent, affected, resolvedAt }: QualityAlert,
      event: Event,
    ): Promise<'resolved' | 'gone'> =>
      database.write(function* () {
        const values = [value, threshold, windowHours, sent, affected, resolvedAt]
        if ((yield* run(RESOLVE, id, ...values)) === 0) return 'gone'
        yield* changed('qualityAlert', id)
        yield* append(event)
        return 'resolved'
      }, 'settings'),
    /** Deletes at most `limit` counts that are older than any window; returns the number deleted. */
    pruneOutcomes: (now: number, limit: number): Promise<number> =>
      database.write(function* () {
        let pruned = 0
        for (const [width, keptMs] of OUTCOMES_KEPT_MS)
          pruned += yield* run(PRUNE, width, now - keptMs - width, limit - pruned)
        return pruned
      }),
  }
}

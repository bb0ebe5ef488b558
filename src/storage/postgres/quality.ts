import { type OutcomeCounts, type QualityAlert, qualityFigures } from '../../model/quality.ts'
import { OUTCOMES_KEPT_MS, widthFor } from '../outcome-widths.ts'
import type { Quality } from '../store.ts'
import type { MailLane } from './group.ts'
import { createMirror, type Mirror, readerOf } from './mirror.ts'
import type { Reads } from './reads.ts'
import type { Writer } from './writer.ts'

const COLUMNS = `id, organization_id as "organizationId", domain_id as "domainId", domain, metric, value, threshold,
  window_hours as "windowHours", sent::float8 as sent, affected::float8 as affected, state,
  triggered_at::float8 as "triggeredAt", resolved_at::float8 as "resolvedAt"`
// Goes from domain to domain along the key: its cost is their number, not that of their counts.
const COUNTED_DOMAINS = `with recursive counted (id) as (
    select min(domain_id) from quality_counts where width_ms = $1
    union all
    select (select min(domain_id) from quality_counts where width_ms = $1 and domain_id > id)
    from counted where id is not null)`
const DOMAINS_SINCE = `${COUNTED_DOMAINS} select id from counted
  where (select max(start) from quality_counts where width_ms = $1 and domain_id = id) > $2`
const FIGURES = `select coalesce(sum(delivered), 0)::float8 as delivered, coalesce(sum(bounced), 0)::float8 as bounced,
    coalesce(sum(hard_bounced), 0)::float8 as "hardBounced", coalesce(sum(late_bounced), 0)::float8 as "lateBounced",
    coalesce(sum(complained), 0)::float8 as complained
  from quality_counts where width_ms = $1 and domain_id = $2 and start > $3`
const PRUNE = `${COUNTED_DOMAINS} delete from quality_counts where ctid = any(array(
  select old.ctid from counted cross join lateral (
    select ctid from quality_counts where width_ms = $1 and domain_id = id and start < $2 order by start limit $3) old
  limit $3))`
const ACTIVE = `select ${COLUMNS} from quality_alerts where state = 'firing'`
const FIRING = `${ACTIVE} order by domain_id, metric`
const ALERTS = `select ${COLUMNS} from quality_alerts where domain_id = $1 order by id desc limit $2`
const RAISE = `insert into quality_alerts (id, organization_id, domain_id, domain, metric, value, threshold, window_hours,
    sent, affected, state, triggered_at)
  values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, 'firing', $11) on conflict do nothing`
const RESOLVE = `update quality_alerts set state = 'resolved', value = $2, threshold = $3, window_hours = $4, sent = $5,
    affected = $6, resolved_at = $7
  where id = $1 and state = 'firing'`

/** Active alerts: read for every message if alerts stop mail. */
export const qualityAlertMirror = (): Mirror<QualityAlert> => createMirror(readerOf<QualityAlert>(ACTIVE))

export function postgresQuality(reads: Reads, writer: Writer, lane: MailLane): Quality {
  return {
    domainsWithOutcomes: async (windowMs, now) => {
      const width = widthFor(windowMs)
      const rows = await reads.query<{ id: string }>(DOMAINS_SINCE, [width, now - windowMs - width])
      return rows.map(({ id }) => id)
    },
    figures: async (domainId, windowMs, now) => {
      const width = widthFor(windowMs)
      const [row] = await reads.query<OutcomeCounts>(FIGURES, [width, domainId, now - windowMs - width])
      if (row === undefined) throw new Error('a sum without a row')
      return qualityFigures(row)
    },
    firing: () => reads.query<QualityAlert>(FIRING),
    alerts: (domainId, limit) => reads.query<QualityAlert>(ALERTS, [domainId, limit]),
    raise: (alert, event) =>
      writer.writeSettingsIn(lane, async ({ statements, add }) => {
        const { id, organizationId, domainId, domain, metric, value, threshold, windowHours, sent, affected } = alert
        const values = [value, threshold, windowHours, sent, affected, alert.triggeredAt]
        const written = await statements.run(RAISE, [id, organizationId, domainId, domain, metric, ...values])
        if (written === 0) return 'exists'
        statements.changed('qualityAlert', id)
        add.append(event)
        return 'raised'
      }),
    resolve: ({ id, value, threshold, windowHours, sent, affected, resolvedAt }, event) =>
      writer.writeSettingsIn(lane, async ({ statements, add }) => {
        const values = [value, threshold, windowHours, sent, affected, resolvedAt]
        if ((await statements.run(RESOLVE, [id, ...values])) === 0) return 'gone'
        statements.changed('qualityAlert', id)
        add.append(event)
        return 'resolved'
      }),
    pruneOutcomes: (now, limit) =>
      writer.write(async ({ run }) => {
        let pruned = 0
        for (const [width, keptMs] of OUTCOMES_KEPT_MS) {
          pruned += await run(PRUNE, [width, now - keptMs - width, limit - pruned])
        }
        return pruned
      }),
  }
}

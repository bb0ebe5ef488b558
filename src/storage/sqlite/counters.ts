import { COUNT_COLUMNS, createMailCounts, type MailCounts } from '../mail-counts.ts'
import type { Connection } from './driver.ts'

const ADD = `insert into stats (day, hour, organization_id, tag, mode, domain_id, ${COUNT_COLUMNS.join(', ')})
  values (?, ?, ?, ?, ?, ?, ${COUNT_COLUMNS.map(() => '?').join(', ')})
  on conflict do update set ${COUNT_COLUMNS.map((column) => `${column} = ${column} + excluded.${column}`).join(', ')}`
const ADD_OUTCOMES = `insert into quality_counts (width_ms, domain_id, start, delivered, bounced, hard_bounced, late_bounced, complained)
  values (?, ?, ?, ?, ?, ?, ?, ?)
  on conflict do update set delivered = delivered + excluded.delivered, bounced = bounced + excluded.bounced,
    hard_bounced = hard_bounced + excluded.hard_bounced, late_bounced = late_bounced + excluded.late_bounced,
    complained = complained + excluded.complained`

export interface Counters extends Pick<MailCounts, 'accepted' | 'event' | 'drop'> {
  /** Writes the collected counts, inside the transaction. */
  flush(): void
}

export function createCounters(db: Connection): Counters {
  const add = db.prepare(ADD)
  const addOutcomes = db.prepare(ADD_OUTCOMES)
  const counts = createMailCounts()
  return {
    accepted: counts.accepted,
    event: counts.event,
    flush: () => {
      const { stats, outcomes } = counts.take()
      for (const row of stats) {
        add.run(row.day, row.hour, row.organizationId, row.tag, row.mode, row.domainId, ...row.counts)
      }
      for (const row of outcomes) {
        const { delivered, bounced, hardBounced, lateBounced, complained } = row
        addOutcomes.run(row.widthMs, row.domainId, row.start, delivered, bounced, hardBounced, lateBounced, complained)
      }
    },
    drop: counts.drop,
  }
}

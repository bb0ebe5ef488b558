import { TRANSACTIONAL } from '../../model/message.ts'
import { suppressionEvent } from '../../model/on-demand-event.ts'
import type { Suppression } from '../../model/suppression.ts'
import type { OnDemandEvents } from '../fan-out-targets.ts'
import type { SuppressedAddresses, Suppressions, WhySuppressed } from '../store.ts'
import type { Connection } from './driver.ts'
import type { Reader } from './reader.ts'
import type { Reading } from './reading.ts'
import type { Usage } from './usage.ts'

const ADD = `insert into suppressions (id, organization_id, domain_id, email, reason, message_id, created_at, evidence, mode,
    stream)
  values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
  on conflict (organization_id, email, domain_id, mode, stream, (stream <> '' and reason = 'complaint')) do nothing`
// Without the plus, SQLite would create a temporary table of each list for every query. With `min(reason)` it would
// prepare the statement again for every address; one address has few of these rows.
const REASONS = `select reason, nullif(stream, '') as stream from suppressions
  where organization_id = ? and email = ? and +domain_id in ('', ?) and +mode in ('live', ?)
    and (+stream in ('', ?) or reason = 'complaint' and ? <> '${TRANSACTIONAL}')`
/** Writes a suppression and its event inside the change that causes it at `at` (ms UTC; by default the time of the
 *  suppression); an existing one stays. */
export type SuppressInside = (suppression: Suppression, at?: number) => boolean

export function suppressInside(db: Connection, usage: Usage, onDemand: OnDemandEvents): SuppressInside {
  const add = db.prepare(ADD)
  return (suppression, at = suppression.createdAt) => {
    const { id, organizationId, domainId, email, reason, messageId, createdAt, evidence, mode, stream } = suppression
    const values = [id, organizationId, domainId ?? '', email, reason, messageId, createdAt, evidence, mode]
    const isNew = add.run(...values, stream ?? '').changes === 1
    if (!isNew) return false
    usage.add(organizationId, 'suppressions', 1)
    onDemand.offer(suppressionEvent('added', suppression, at))
    return true
  }
}

/** What mails and lists read. */
export function sqliteSuppressionReading(
  db: Connection,
  reading: Reading,
  reader: Reader,
): Pick<Suppressions, 'among' | 'list'> {
  const reasonsOf = db.prepare<unknown[], WhySuppressed>(REASONS)
  return {
    among: async ({ organizationId, domainId, stream, mode }, emails) => {
      reading.begin()
      const found: SuppressedAddresses = new Map()
      for (const email of emails) {
        const [first] = reasonsOf.all(organizationId, email, domainId, mode, stream, stream).sort(byReason)
        if (first !== undefined) found.set(email, first)
      }
      return found
    },
    list: (filter, page) => reader.ask('suppressions', filter.organizationId, filter, page),
  }
}

const byReason = (a: WhySuppressed, b: WhySuppressed) => (a.reason < b.reason ? -1 : Number(a.reason > b.reason))

import type { OnDemandEvents } from '../fan-out-targets.ts'
import type { Inside } from '../inside.ts'
import { remember } from '../records/idempotency.ts'
import type { Work } from '../sql.ts'
import type { AppendInside } from './fan-out.ts'
import type { StoredBytes } from './stored-bytes.ts'
import type { SuppressInside } from './suppressions.ts'
import type { Usage } from './usage.ts'

/** What works write beside their own records. */
export function sqliteInside(parts: {
  usage: Usage
  storedBytes: StoredBytes
  append: AppendInside
  suppress: SuppressInside
  onDemand: OnDemandEvents
}): Inside {
  const { usage, storedBytes, append, suppress, onDemand } = parts
  const stored: Inside['stored'] = (source, rows) =>
    native(() => {
      for (const { place, organizationId, bytes } of rows)
        storedBytes.change(source, place as number | null, organizationId, bytes) // `ctid` is translated to `rowid`
    })
  return {
    remember: (record) => remember(record, stored),
    usage: {
      planOf: usage.planOf,
      used: (organizationId, counter, period) => native(() => usage.used(organizationId, counter, period)),
      add: (organizationId, counter, by, period) => native(() => usage.add(organizationId, counter, by, period)),
    },
    stored,
    append: (event, how) => native(() => append(event, how)),
    offer: (event) => native(() => onDemand.offer(event)),
    suppress: (suppressions, at) => native(() => suppressions.filter((each) => suppress(each, at)).length),
    isNamed: onDemand.isNamed,
    pausing: function* () {}, // since the change was noted, events are for the webhooks as they are now
  }
}

/** A step that only SQLite has → what `perform` returns. */
export function* native<T>(perform: () => T): Work<T> {
  return (yield { wants: 'native', perform }) as T // what the runner gives for it
}

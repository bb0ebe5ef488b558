import type { Inside } from '../inside.ts'
import { remember } from '../records/idempotency.ts'
import type { Work } from '../sql.ts'
import type { Transaction } from './database.ts'
import type { FanOut } from './fan-out.ts'
import type { Additions } from './group.ts'
import { suppressReported } from './suppressions.ts'
import type { Usage } from './usage.ts'

/** What works write beside their own records. */
export function postgresInside(usage: Usage, { isNamed }: Pick<FanOut, 'isNamed'>): Inside {
  const stored: Inside['stored'] = (_source, rows) =>
    native(async ({ statements }) => {
      for (const [organizationId, some] of Map.groupBy(rows, (row) => row.organizationId)) {
        const by = some.reduce((sum, { bytes }) => sum + bytes, 0)
        await usage.add(statements, organizationId, 'stored_bytes', by)
      }
    })
  return {
    remember: (record) => remember(record, stored),
    usage: {
      planOf: usage.planOf,
      used: (organizationId, counter, period) =>
        native(({ statements }) => usage.used(statements, organizationId, counter, period)),
      add: (organizationId, counter, by, period) =>
        native(({ statements }) => usage.add(statements, organizationId, counter, by, period)),
    },
    stored,
    append: (event, how) => native(async ({ add }) => additions(add).append(event, how)),
    offer: (event) => native(async ({ add }) => additions(add).onDemand.offer(event)),
    suppress: (suppressions, at) =>
      native(({ statements, add }) => suppressReported(statements, suppressions, add && { add, at })),
    isNamed,
    pausing: (webhookId) => native(async ({ add }) => additions(add).pausing(webhookId)),
  }
}

/** A step that only PostgreSQL has → what `perform` resolves with. */
export function* native<T>(perform: (transaction: Transaction) => Promise<T>): Work<T> {
  return (yield { wants: 'native', perform }) as T // what the runner gives for it
}

/** What the group of a work with events adds. */
export function additions(add: Additions | null): Additions {
  if (add === null) throw new Error('an event in a work that is not declared so')
  return add
}

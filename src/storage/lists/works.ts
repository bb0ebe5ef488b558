import { dayCounts, groupCounts, hourCounts } from '../records/stats.ts'
import type { Database, Work } from '../sql.ts'
import type { Events, Inbound, Messages, Suppressions, WebhookDeliveries } from '../store.ts'
import { feedEvents, followEvents, listEvents } from './events.ts'
import { listInbound } from './inbound.ts'
import { listMessages, type MessageSearch } from './messages.ts'
import { countWaiting } from './queues.ts'
import type { Pace } from './slices.ts'
import { listSuppressions } from './suppressions.ts'
import { listWebhookDeliveries } from './webhook-deliveries.ts'

/** Reads of many records, by name: lists, searches, counts. Each is a function of plain data, so that it can run in another
 *  thread. */
export function listWorks(search: MessageSearch, pace: Pace) {
  return {
    messages: (...[filter, page]: Parameters<Messages['list']>) => listMessages(filter, page, { search, pace }),
    events: (...[filter, page]: Parameters<Events['list']>) => listEvents(filter, page, pace),
    feed: (...[filter, after, limit]: Parameters<Events['feed']>) => feedEvents(filter, after, { limit, pace }),
    follow: (...[filter, behind, limit]: Parameters<Events['follow']>) => followEvents(filter, behind, { limit, pace }),
    webhookDeliveries: (...[filter, page]: Parameters<WebhookDeliveries['list']>) =>
      listWebhookDeliveries(filter, page, pace),
    inbound: (...[filter, page]: Parameters<Inbound['list']>) => listInbound(filter, page, pace),
    suppressions: (...[filter, page]: Parameters<Suppressions['list']>) => listSuppressions(filter, page, pace),
    waiting: countWaiting,
    hours: hourCounts,
    days: dayCounts,
    groups: groupCounts,
  }
}

export type ListWorks = ReturnType<typeof listWorks>
export type ListName = keyof ListWorks
/** What a list answers. */
export type Answer<Name extends ListName> = ReturnType<ListWorks[Name]> extends Work<infer Result> ? Result : never

/** Reads of many records. `owner`: the organization that asks, '' for the installation. */
export interface Lists {
  ask<Name extends ListName>(name: Name, owner: string, ...args: Parameters<ListWorks[Name]>): Promise<Answer<Name>>
}

/** Name and arguments of a list → its work. */
export function workOf<Name extends ListName>(
  works: ListWorks,
  name: Name,
  args: Parameters<ListWorks[Name]>,
): Work<Answer<Name>> {
  const work = works[name] as (...given: readonly unknown[]) => Work<unknown>
  return work(...args) as Work<Answer<Name>> // the compiler does not pair names with arguments and results
}

/** Reads lists as the roles read everything else. */
export function listsOf(database: Pick<Database, 'read'>, works: ListWorks): Lists {
  return { ask: (name, _owner, ...args) => database.read(() => workOf(works, name, args)) }
}

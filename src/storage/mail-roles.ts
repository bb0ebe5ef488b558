import { INSTALLATION } from '../model/organization.ts'
import type { DueIndex } from './due-index.ts'
import type { Encryption } from './encryption.ts'
import { getEvent, newestEvent, placeOfEvent } from './lists/events.ts'
import { webhookDeliveryReading } from './lists/webhook-deliveries.ts'
import type { Lists } from './lists/works.ts'
import { contentRemovals } from './mail/content-removal.ts'
import { mailDeliveries } from './mail/deliveries.ts'
import { eventWriting } from './mail/event-writing.ts'
import { mailInbound } from './mail/inbound.ts'
import { mailInboundDeliveries } from './mail/inbound-deliveries.ts'
import type { MailInside } from './mail/inside.ts'
import type { MailLane, MailLanes, Others } from './mail/lane.ts'
import type { LargeContents } from './mail/large-contents.ts'
import { mailMessages } from './mail/messages.ts'
import type { PendingFanOuts } from './mail/pending-fan-outs.ts'
import type { QueueName } from './mail/queue-tables.ts'
import { repeats } from './mail/repeats.ts'
import type { Domains } from './mail/take.ts'
import { mailWebhookDeliveries } from './mail/webhook-deliveries.ts'
import { heldRecords } from './records/held.ts'
import type { Database } from './sql.ts'
import type { Events, Stats, Store } from './store.ts'

/** What the roles of mail use, beside the database. */
export interface MailParts {
  /** `appending`: events that no mail causes. */
  lanes: MailLanes & { appending: MailLane }
  large: LargeContents
  lists: Lists
  others: Others
  dueIndexes: Record<QueueName, DueIndex>
  /** Organizations with webhook deliveries to write. */
  pending: PendingFanOuts
  settings: { domain: Domains; webhook: Pick<MailInside['webhooks'], 'get'>; inboundRoute: MailInside['routes'] }
  encryption: Encryption
}

/** The roles of mail: the same on both databases. */
export function mailRoles(database: Database, parts: MailParts) {
  const { lanes, large, lists, others, dueIndexes, pending, settings, encryption } = parts
  const { domain: domains, webhook: webhooks, inboundRoute: routes } = settings
  const { accepting, working, appending } = lanes
  return {
    messages: {
      ...mailMessages(database, lanes, large),
      list: (filter, page) => lists.ask('messages', filter.organizationId, filter, page),
      ...contentRemovals(database),
    },
    deliveries: mailDeliveries(database, working, { others, dueIndex: dueIndexes.deliveries, domains }),
    events: { ...eventWriting(appending), ...eventReading(database, lists) },
    webhookDeliveries: {
      ...mailWebhookDeliveries(database, working, {
        others,
        dueIndex: dueIndexes.webhookDeliveries,
        webhooks,
        encryption,
        pending,
      }),
      ...webhookDeliveryReading(database, (filter, page) =>
        lists.ask('webhookDeliveries', webhooks.get(filter.webhookId)?.organizationId ?? '', filter, page),
      ),
      ...repeats(working),
    },
    inbound: {
      ...mailInbound(database, accepting, large),
      list: (filter, page) => lists.ask('inbound', filter.organizationId, filter, page),
    },
    inboundDeliveries: mailInboundDeliveries(database, working, {
      others,
      routes,
      dueIndex: dueIndexes.inboundDeliveries,
      encryption,
    }),
    queues: { waiting: (now) => lists.ask('waiting', INSTALLATION, now) },
    held: heldRecords(database, { dueIndexes, lane: working, pending }),
    stats: statsFrom(lists),
  } satisfies Partial<Store>
}

function eventReading(database: Pick<Database, 'read'>, lists: Lists): Omit<Events, 'append' | 'appendSample'> {
  return {
    get: (id) => database.read(() => getEvent(id)),
    list: (filter, page) => lists.ask('events', filter.organizationId, filter, page),
    feed: (filter, after, limit) => lists.ask('feed', filter.organizationId, filter, after, limit),
    follow: (filter, behind, limit) => lists.ask('follow', filter.organizationId, filter, behind, limit),
    place: (id) => database.read(() => placeOfEvent(id)),
    newest: (organizationId) => database.read(() => newestEvent(organizationId)),
  }
}

function statsFrom(lists: Lists): Stats {
  return {
    hours: (filter, starts) => lists.ask('hours', filter.organizationId, filter, starts),
    days: (filter, spans) => lists.ask('days', filter.organizationId, filter, spans),
    groups: (filter, by, span) => lists.ask('groups', filter.organizationId, filter, by, span),
  }
}

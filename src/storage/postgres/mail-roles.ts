import type { Encryption } from '../encryption.ts'
import type { Lists } from '../lists/works.ts'
import { createLargeContents } from '../mail/large-contents.ts'
import { mailRoles } from '../mail-roles.ts'
import type { Database } from '../sql.ts'
import { deliveriesOnNode, onNode } from './node-queues.ts'
import type { Parts } from './parts.ts'

/** Distribution tells what other nodes write. */
const OTHERS = { check: () => {} }

/** The roles of mail over the lanes of this node, which claims only while it may, and notes what it holds. */
export function mailRolesOnNode(
  { lanes, mirrors, distribution }: Parts,
  database: Database,
  { lists, encryption }: { lists: Lists; encryption: Encryption },
): ReturnType<typeof mailRoles> {
  const { accepting, working, records, shared } = lanes
  const roles = mailRoles(database, {
    lanes: { accepting, working, appending: accepting },
    large: createLargeContents(shared.writtenAhead, { taking: records.perform, release: records.perform }),
    lists,
    others: OTHERS,
    dueIndexes: distribution.due,
    pending: shared.pendingFanOuts,
    settings: mirrors,
    encryption,
  })
  const { events, deliveries, webhookDeliveries, inboundDeliveries } = roles
  return {
    ...roles,
    deliveries: deliveriesOnNode(deliveries, distribution),
    events: {
      ...events,
      follow: (...asked) => {
        distribution.follow()
        return events.follow(...asked)
      },
    },
    webhookDeliveries: {
      ...webhookDeliveries,
      ...onNode(webhookDeliveries, distribution, { name: 'webhookDeliveries', idOf: ({ id }) => id }),
    },
    inboundDeliveries: {
      ...inboundDeliveries,
      ...onNode(inboundDeliveries, distribution, { name: 'inboundDeliveries', idOf: ({ id }) => id }),
    },
  }
}

import type { Event } from '../../model/event.ts'
import type { Events } from '../store.ts'
import { textArray } from './arrays.ts'
import type { Group, MailLane } from './group.ts'
import type { Usage } from './usage.ts'

const KNOWN = 'select id from events where id = any($1::text[])'

/** Writing of events that no other change causes. */
export function postgresEventWriting(lane: MailLane, usage: Usage): Pick<Events, 'append' | 'appendSample'> {
  return {
    append: (events, onlyWebhook) => lane.perform((group) => appendNew(group, events, onlyWebhook)),
    appendSample: (event, onlyWebhook, month) =>
      lane.perform(async (group) => {
        const { statements, add } = group
        const { organizationId } = event
        const limit = await usage.reached(organizationId, 'test_messages_per_month', 1, async () => {
          await usage.lock(statements, [organizationId])
          const used = await usage.used(statements, organizationId, 'test_messages', month)
          return used + add.used(organizationId, 'test_messages', month)
        })
        if (limit !== null) return limit
        add.use(organizationId, 'test_messages', 1, month)
        await appendNew(group, [event], onlyWebhook)
        return 'appended'
      }),
  }
}

/** An event that exists was fanned out when it was written: nothing happens. */
async function appendNew({ statements, add }: Group, events: readonly Event[], onlyWebhook?: string): Promise<void> {
  const rows = await statements.query<{ id: string }>(KNOWN, [textArray(events.map(({ id }) => id))])
  const known = new Set(rows.map(({ id }) => id))
  for (const event of events) {
    if (known.has(event.id)) continue
    known.add(event.id)
    add.append(event, { onlyWebhook })
  }
}

import type { Event } from '../../model/event.ts'
import { type LimitReached, PLAN_LIMITS } from '../../model/limits.ts'
import { UNLIMITED } from '../../model/organization.ts'
import type { Work } from '../sql.ts'
import type { Events } from '../store.ts'
import { appendAll } from './events.ts'
import type { MailInside } from './inside.ts'
import type { MailLane } from './lane.ts'

/** Writes events that no other change of mail causes. */
export function eventWriting(lane: MailLane): Pick<Events, 'append' | 'appendSample'> {
  return {
    append: (events, onlyWebhook) =>
      lane.perform((inside) =>
        appendAll(
          inside,
          events.map((event) => ({ event, isRepeatable: true, how: { onlyWebhook } })),
        ),
      ),
    appendSample: (event, onlyWebhook, month) =>
      lane.perform((inside) => appendSample(inside, { event, onlyWebhook, month })),
  }
}

function* appendSample(
  inside: MailInside,
  { event, onlyWebhook, month }: { event: Event; onlyWebhook: string; month: string },
): Work<'appended' | LimitReached> {
  const { organizationId } = event
  const name = 'test_messages_per_month'
  const limit = inside.planOf(organizationId)[PLAN_LIMITS[name].of]
  const counter = 'test_messages'
  if (limit !== UNLIMITED) {
    const [used = 0] = yield* inside.usedOf([{ organizationId, counter, period: month }])
    if (used + 1 > limit) return { kind: 'limit', name, limit, used }
  }
  inside.use(organizationId, counter, 1, month)
  yield* appendAll(inside, [{ event, isRepeatable: true, how: { onlyWebhook } }])
  return 'appended'
}

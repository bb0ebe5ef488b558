import { createEventStream } from '../../events/event-stream/event-stream.ts'
import type { EventType } from '../../model/event.ts'
import type { Clock } from '../../os/clock.ts'
import type { Store } from '../../storage/store.ts'
import { usageFault } from '../failure.ts'
import type { Arrival } from './arrival.ts'

/** Polling interval in ms: users see no delay. */
const LOOK_MS = 200

/** Yields events of an organization from the store until `signal` aborts, whether or not the server runs. Needs no
 *  API key and continues when the server restarts. Throws CommandFailure (exit code 2) if `after` is not an event of
 *  the organization. */
export async function* fromStore(
  wanted: { organizationId: string; types: readonly EventType[] | null; after: string | undefined },
  { store, clock, signal }: { store: Pick<Store, 'events'>; clock: Clock; signal: AbortSignal },
): AsyncGenerator<Arrival> {
  const { organizationId, types, after } = wanted
  const everything = { organizationId, types, messageId: null, domainId: null, mode: null }
  const feed = createEventStream({ events: store.events, clock, lookMs: LOOK_MS })
  const follower = feed.follow(everything, await startOf(organizationId, after, store))
  signal.addEventListener('abort', follower.end)
  if (signal.aborted) follower.end()
  for (let events = await follower.next(); events.length > 0; events = await follower.next()) yield* events
}

async function startOf(organizationId: string, after: string | undefined, { events }: Pick<Store, 'events'>) {
  const oldest = { id: null, place: '' }
  if (after === undefined) return (await events.newest(organizationId)) ?? oldest
  if (after === '') return oldest
  const [event, place] = await Promise.all([events.get(after), events.place(after)])
  if (event?.organizationId === organizationId && place !== null) return { id: after, place }
  throw usageFault('after: no stored event has this id')
}

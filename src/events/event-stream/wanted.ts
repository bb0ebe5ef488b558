import type { Event, EventType } from '../../model/event.ts'
import type { Mode } from '../../model/message.ts'
import type { EventFilter } from '../../storage/store.ts'

/** The events that a follower receives; null = all. */
export interface Wanted {
  organizationId: string
  types: readonly EventType[] | null
  messageId: string | null
  domainId: string | null
  /** Events of that domain, and those that concern no single domain; absent or null = all. */
  reach?: string | null
  mode: Mode | null
}

/** Filter for the store. It supports one type or all, so several types become all. */
export function filterOf({ organizationId, types, messageId, domainId, reach = null, mode }: Wanted): EventFilter {
  const type = types?.length === 1 ? types[0]! : null
  return { organizationId, type, messageId, domainId, reach, mode, createdAfter: null, createdBefore: null }
}

export function isWanted({ type, messageId, domainId, mode }: Event, wanted: Wanted): boolean {
  return (
    (wanted.types === null || wanted.types.includes(type)) &&
    (wanted.messageId === null || wanted.messageId === messageId) &&
    (wanted.domainId === null || wanted.domainId === domainId) &&
    ((wanted.reach ?? null) === null || domainId === null || wanted.reach === domainId) &&
    (wanted.mode === null || wanted.mode === mode)
  )
}

/** Erasure of the data of one recipient in an organization. */
export interface Erasure {
  id: string
  organizationId: string
  /** Keyed hash of the folded address, hexadecimal. */
  addressHash: string
  createdAt: number
  /** Null while it runs. */
  finishedAt: number | null
  removed: ErasedCounts
  /** Places that named the address when it ended: only people can decide about them. Empty while it runs. */
  remaining: RemainingPlace[]
}

/** A record of the organization that names an erased address and that no erasure changes. `id` is null where a record has
 *  none, because the address itself is its key. */
export interface RemainingPlace {
  type: 'user' | 'invitation' | 'inbound_route' | 'forward_target'
  id: string | null
}

/** What an erasure has removed so far. */
export interface ErasedCounts {
  /** Messages to nobody else. */
  messages: number
  /** Messages that also have other recipients: the address and the content are removed. */
  sharedMessages: number
  events: number
  inboundMessages: number
  /** Stored responses of idempotent requests. */
  responses: number
  /** Suppressions whose address is replaced by its hash. */
  suppressions: number
}

export const NOTHING_ERASED: ErasedCounts = {
  messages: 0,
  sharedMessages: 0,
  events: 0,
  inboundMessages: 0,
  responses: 0,
  suppressions: 0,
}

/** The most that run for one organization: each reads all its events, and the erasures of all organizations take turns. */
export const ERASURES_TOGETHER = 20

/** Stands in place of an erased address where a record remains. RFC 6761 §6.4 */
export const ERASED_ADDRESS = 'erased@erased.invalid'

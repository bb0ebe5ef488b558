import type { Erasure } from '../../model/erasure.ts'
import type { Page, RecordsRequest } from './paging.ts'

/** Erases what names a recipient in an organization, in small steps that survive a restart. Twice is harmless.
 *
 *  Messages to nobody else are removed with everything that belongs to them, and so are inbound messages from or to the
 *  address with the messages that forwarded them. Messages with other recipients lose the address, its attempts and their
 *  content. Events and stored responses that contain the address are removed. Suppressions keep a keyed hash. Counts and
 *  statistics stay. Users, invitations, routes and forward targets stay, and the erasure lists them.
 *
 *  Open deliveries to the address are cancelled first. While an attempt is in progress, or other recipients of a message
 *  still wait for its content, the erasure waits. Messages accepted after it began stay. */
export interface Erasures {
  /** Begins an erasure at `now`; if one of the same address runs, returns that one. Null if the organization has
   *  ERASURES_TOGETHER running. `email` is folded. */
  begin(asked: { id: string; organizationId: string; email: string; now: number }): Promise<Erasure | null>
  get(id: string): Promise<Erasure | null>
  /** Running and finished ones of the organization. */
  list(organizationId: string, page: RecordsRequest): Promise<Page<Erasure>>
  /** Performs one step of an erasure that is due; false if none is. It asks `timeIsUp` when the step begins and after each
   *  record. */
  step(now: number, timeIsUp: () => boolean): Promise<boolean>
}

/** How long an erasure pauses that could not erase everything yet. */
export const ERASURE_PAUSE_MS = 30_000

/** Result of a step: where the next one continues, null at the end; and what this one removed. */
export interface ErasureStep {
  after: string | null
  removed?: Partial<Erasure['removed']>
  /** Something has to wait: all steps run again later. */
  isWaiting?: boolean
  /** The places that still name the address. */
  remaining?: Erasure['remaining']
}

import type { Erasure } from '../model/erasure.ts'
import type { MailInside } from './mail/inside.ts'
import type { Work } from './sql.ts'

/** Records of one step. It ends earlier when its time is up. */
export const ERASED_AT_ONCE = {
  /** A message has at most fifty recipients. */
  messages: 10,
  events: 100,
  inbound: 10,
  /** Records of inbound messages that only list the address as a target that did not get them. */
  notForwarded: 100,
  /** A stored response of a batch has a hundred kilobytes. */
  responses: 20,
  unsubscribables: 200,
}

/** Result of a step: where the next one continues, null at the end; and what this one removed. */
export interface ErasureStep {
  after: string | null
  removed?: Partial<Erasure['removed']>
  /** Something has to wait: all steps run again later. */
  isWaiting?: boolean
  /** The places that still name the address. */
  remaining?: Erasure['remaining']
}

/** An erasure in progress, for one of its steps. */
export interface ErasureJob {
  organizationId: string
  /** Folded. */
  address: string
  addressHash: string
  createdAt: number
  now: number
  /** Asked when a step begins and after each record. */
  timeIsUp: () => boolean
}

/** One kind of record: erases some. `after` is where the last step ended, '' at the beginning; the result says where this
 *  one ended. */
export type ErasureWork = (inside: MailInside, job: ErasureJob, after: string) => Work<ErasureStep>

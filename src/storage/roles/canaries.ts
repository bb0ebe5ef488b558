import type { Canary, CanaryEnd } from '../../model/canary.ts'

/** Canary mails and whether they arrived. */
export interface Canaries {
  /** Writes a mail before it is queued. False, without a change, if its mailbox has one for that time. */
  add(canary: Canary): Promise<boolean>
  get(id: string): Promise<Canary | null>
  /** Stores a result. False, without a change, if the mail has arrived already, or if it has ended and `end` does not say
   *  that it arrived after all. */
  record(id: string, end: CanaryEnd): Promise<boolean>
  /** Mails to a mailbox, the last one first. */
  latest(mailbox: string, limit: number): Promise<Canary[]>
  /** The same, without those on their way. */
  latestEnded(mailbox: string, limit: number): Promise<Canary[]>
  /** Deletes at most `limit` mails sent before `before`; returns the number deleted. */
  prune(before: number, limit: number): Promise<number>
}

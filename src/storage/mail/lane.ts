import type { Work } from '../sql.ts'
import type { MailInside } from './inside.ts'

/** Performs changes of one kind that are written together. Returns the result of each, in their order. */
export type Kind<Change, Result> = (inside: MailInside, changes: readonly Change[]) => Work<readonly Result[]>

/** A change of a kind → the work that performs it by itself. */
export function alone<Change, Result>(
  kind: Kind<Change, Result>,
  change: Change,
): (inside: MailInside) => Work<Result> {
  return function* (inside) {
    const [result] = yield* kind(inside, [change])
    return result!
  }
}

/** Writes mail. Rejects with StoreUnavailable while the database does not respond, and then nothing was written. */
export interface MailLane {
  /** Performs the change with others of its kind that wait → its result, once that is durable. Rejects with what it alone
   *  throws. In an audited action, it is performed as a work by itself. */
  write<Change, Result>(kind: Kind<Change, Result>, change: Change): Promise<Result>
  /** Performs a work by itself → its result, once that is durable, with the entry of the caller's audited action if it
   *  writes anything. Rejects with what it throws. */
  perform<T>(work: (inside: MailInside) => Work<T>): Promise<T>
  /** Runs `read` when the next transaction can begin. What the caller writes in response comes with that transaction. */
  before<T>(read: () => T): Promise<T>
}

/** Changes of different lanes need not wait for each other. */
export interface MailLanes {
  /** New mail and events. */
  accepting: MailLane
  /** Claims, and what becomes of them. */
  working: MailLane
}

/** What other processes write beside this one. */
export interface Others {
  /** Takes over what they have written. */
  check(): void
}

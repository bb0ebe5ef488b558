import type { MailInside } from '../mail/inside.ts'
import { alone, type Kind, type MailLane } from '../mail/lane.ts'
import { accompanied } from '../records/accompany.ts'
import type { AuditedAction } from '../records/audit-log.ts'
import type { Perform } from './database.ts'
import type { Writer } from './writer.ts'

/** Changes that are performed together, so that a large content does not hold the thread for long. */
const MOST = 64

interface Entry {
  change: unknown
  result: unknown
  isDone: boolean
  /** Was rolled back with others: now it runs by itself, so that one caller's error does not affect others. */
  isAlone: boolean
}

type AnyKind = Kind<never, unknown>

/** Changes of the same kind that wait for the writer, which are performed at once: they share the work between the
 *  statements. */
export class Batches {
  readonly #waiting = new Map<AnyKind, Set<Entry>>()
  /** Performed in the present transaction. */
  #performed: Entry[] = []

  enter(kind: AnyKind, change: unknown): Entry {
    const entry: Entry = { change, result: undefined, isDone: false, isAlone: false }
    const others = this.#waiting.get(kind)
    if (others === undefined) this.#waiting.set(kind, new Set([entry]))
    else others.add(entry)
    return entry
  }

  leave(kind: AnyKind, entry: Entry): void {
    this.#waiting.get(kind)?.delete(entry)
  }

  /** Performs the change, and others of its kind that wait. Throws what `perform` throws, and then each has to run alone. */
  perform(kind: AnyKind, entry: Entry, perform: (changes: never[]) => readonly unknown[]): void {
    const batch = this.#with(kind, entry)
    try {
      const results = perform(batch.map(({ change }) => change as never)) // of this kind
      for (const [at, each] of batch.entries()) {
        each.result = results[at]
        each.isDone = true
        this.#performed.push(each)
      }
    } catch (error) {
      for (const each of batch) each.isAlone = true
      throw error
    }
  }

  #with(kind: AnyKind, entry: Entry): Entry[] {
    const batch = [entry]
    const others = this.#waiting.get(kind)
    if (others === undefined) return batch
    others.delete(entry)
    if (entry.isAlone) return batch
    for (const other of others) {
      if (batch.length === MOST) break
      if (other.isAlone) continue
      batch.push(other)
      others.delete(other)
    }
    return batch
  }

  /** It is durable: what it performed stays done, also what follows in a later group. */
  committed(): void {
    this.#performed = []
  }

  /** It was rolled back. */
  undone(): void {
    for (const entry of this.#performed) {
      entry.isDone = false
      entry.isAlone = true
    }
    this.#performed = []
  }
}

/** Performs works on mail in the groups of a writer. */
export class SqliteLane implements MailLane {
  readonly #writer: Writer
  readonly #performNow: Perform
  readonly #inside: MailInside
  readonly #batches: Batches
  readonly #action: AuditedAction

  constructor(
    writer: Writer,
    {
      performNow,
      mail,
      batches,
      action,
    }: { performNow: Perform; mail: MailInside; batches: Batches; action: AuditedAction },
  ) {
    this.#writer = writer
    this.#performNow = performNow
    this.#inside = mail
    this.#batches = batches
    this.#action = action
  }

  write<Change, Result>(kind: Kind<Change, Result>, change: Change): Promise<Result> {
    return this.#action.getStore() === undefined ? this.#together(kind, change) : this.perform(alone(kind, change))
  }

  async #together<Change, Result>(kind: Kind<Change, Result>, change: Change): Promise<Result> {
    const batches = this.#batches
    const of = kind as unknown as AnyKind
    const entry = batches.enter(of, change)
    try {
      return await this.#writer.write(() => {
        if (!entry.isDone) batches.perform(of, entry, (changes) => this.#performNow(kind(this.#inside, changes)))
        return entry.result as Result
      })
    } catch (error) {
      // Its turn came in a later group than that of the others, which is durable and performed it too.
      if (entry.isDone) return entry.result as Result
      throw error
    } finally {
      batches.leave(of, entry)
    }
  }

  perform: MailLane['perform'] = (work) => {
    const whole = accompanied(this.#action, work)
    return this.#writer.write(() => this.#performNow(whole(this.#inside)))
  }

  before: MailLane['before'] = (read) => this.#writer.before(read)
}

import type { MailInside } from '../mail/inside.ts'
import { alone, type Kind, type MailLane } from '../mail/lane.ts'
import { accompanied } from '../records/accompany.ts'
import type { AuditedAction } from '../records/audit-log.ts'
import type { Work } from '../sql.ts'
import type { Connection } from './connection.ts'
import { perform } from './database.ts'
import { NodeGroup, type Shared } from './mail-group.ts'
import { NumbersUsedUp } from './numbers.ts'
import { type Statements, transactionWriter } from './transactions.ts'
import { type GroupWriter, WriteLane } from './write-lane.ts'

/** Most changes in a group. */
const GROUP_MAX = 256

interface Change {
  kind: Kind<unknown, unknown>
  change: unknown
}

/** A connection that writes: what comes in one turn of the event loop, or while a group is under way, is one transaction,
 *  with one statement for all its rows of a table. Rejects as WriteLane.write. */
export class PostgresLane implements MailLane {
  readonly #lane: WriteLane<Change, unknown>
  readonly #action: AuditedAction
  readonly #underWay = new Set<Promise<unknown>>()

  constructor(
    shared: Shared,
    options: {
      connect: () => Promise<Connection>
      /** Its row in `lanes`. */
      laneId: number
      /** Resolves when what was begun before, and a change has to follow, is decided; null = there is nothing. */
      after: () => Promise<void> | null
      action: AuditedAction
      onGroup?: ((ms: number, changes: number) => void) | undefined
      /** How long a caller waits, ms. */
      patienceMs: number
    },
  ) {
    const { connect, laneId, after, action, onGroup, patienceMs } = options
    this.#action = action
    this.#lane = new WriteLane<Change, unknown>({
      connect,
      laneId,
      writer: groupWriter(shared, laneId),
      after,
      most: GROUP_MAX,
      patienceMs,
      ...(onGroup === undefined ? {} : { onGroup }),
    })
  }

  write<Given, Result>(kind: Kind<Given, Result>, change: Given): Promise<Result> {
    return this.#action.getStore() === undefined ? this.#together(kind, change) : this.perform(alone(kind, change))
  }

  async #together<Given, Result>(kind: Kind<Given, Result>, change: Given): Promise<Result> {
    const written = this.#lane.write({ kind: kind as unknown as Kind<unknown, unknown>, change }) // of this kind
    this.#underWay.add(written)
    try {
      return (await written) as Result
    } finally {
      this.#underWay.delete(written)
    }
  }

  readonly perform = <T>(work: (inside: MailInside) => Work<T>): Promise<T> =>
    // Here, in the context of the caller, not in the transaction.
    this.#together(ALONE, accompanied(this.#action, work)) as Promise<T>

  async before<T>(read: () => T): Promise<T> {
    return read()
  }

  /** Resolves when everything that was begun before is decided; null if there is nothing. */
  settled(): Promise<void> | null {
    // The callers of the group under way may have left.
    const begun = [...this.#underWay, this.#lane.decided()].filter((each) => each !== null)
    return begun.length === 0 ? null : Promise.allSettled(begun).then(() => {})
  }

  /** Writes what waits, then closes the connection. */
  close(): Promise<void> {
    return this.#lane.close()
  }
}

const ALONE: Kind<(inside: MailInside) => Work<unknown>, unknown> = function* (inside, works) {
  const results: unknown[] = []
  for (const work of works) results.push(yield* work(inside))
  return results
}

function groupWriter(shared: Shared, laneId: number): GroupWriter<Change, unknown> {
  const group = new NodeGroup(shared, laneId)
  const writer = transactionWriter<Change, unknown>(async (statements, changes) => {
    group.begin()
    const sent: Promise<unknown>[] = []
    try {
      await shared.numbers.refill(statements)
      const results = await performAll(group, changes, { statements, sent })
      return { results, sent: Promise.all(sent) }
    } catch (error) {
      await Promise.allSettled(sent)
      throw error
    }
  })
  let beganAt = 0
  return {
    write: async (...args) => {
      for (;;) {
        beganAt = performance.now()
        try {
          const results = await writer.write(...args)
          if (results !== null) group.committed(performance.now() - beganAt)
          return results
        } catch (error) {
          if (!(error instanceof NumbersUsedUp)) throw error
        }
      }
    },
    recover: () => {
      group.committed(performance.now() - beganAt)
      return writer.recover()
    },
  }
}

/** Performs the changes, kind after kind → the result of each, in order. */
async function performAll(
  group: NodeGroup,
  changes: readonly Change[],
  transaction: { statements: Statements; sent: Promise<unknown>[] },
): Promise<unknown[]> {
  const results = new Map<Change, unknown>()
  const within = { ...transaction, mail: group.inside }
  for (const [kind, ofIt] of Map.groupBy(changes, (change) => change.kind)) {
    const given = ofIt.map(({ change }) => change)
    const performed = await perform(kind(group.inside, given), within)
    for (const [at, change] of ofIt.entries()) results.set(change, performed[at])
  }
  await perform(group.flush(), within)
  return changes.map((change) => results.get(change))
}

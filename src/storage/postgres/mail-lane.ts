import { partition } from '../../os/partition.ts'
import type { Group, Kind, MailLane } from './group.ts'
import type { Places } from './places.ts'
import { type Performed, type Statements, transactionWriter } from './transactions.ts'
import { createWriteLane, type WriteLaneOptions } from './write-lane.ts'
import type { Accompany } from './writer.ts'

/** Most changes in a group. */
const GROUP_MAX = 256

/** A lane's options → its MailLane. `collect` returns empty Additions and what writes them; `settled` resolves when
 *  changes of settings that were begun earlier are decided, null = there are none: a change follows them. */
export function createMailLane(
  options: Pick<WriteLaneOptions<unknown, unknown>, 'connect' | 'laneId' | 'patienceMs' | 'onGroup'> & {
    places: Places
    settled: () => Promise<void> | null
    accompany: Accompany
    collect: (statements: Statements) => Collected
  },
): MailLane {
  const { places, settled, accompany, collect, ...rest } = options
  /** What follows the commit of the last group. */
  let follow: () => void = () => {}
  const writer = transactionWriter<Change, unknown>(async (statements, changes) => {
    const { add, write, committed } = collect(statements)
    follow = committed
    const results = new Map<Change, unknown>()
    const perform = async (kind: Change['kind'], ofIt: readonly Change[]) => {
      const performed = await kind.perform(
        { statements, add },
        ofIt.map(({ change }) => change),
      )
      for (const [at, change] of ofIt.entries()) results.set(change, performed[at])
    }
    const isAnyAlone = changes.some(({ kind }) => kind === ALONE)
    const [first, others] = partition(changes, ({ kind }) => isAnyAlone && (kind === ALONE || kind.isOrdered === true))
    for (const each of first) await perform(each.kind, [each])
    const kinds = Map.groupBy(others, ({ kind }) => kind)
    await allPerformed([...kinds].map(([kind, ofIt]) => perform(kind, ofIt)))
    return { results: changes.map((change) => results.get(change)), ...(await write()) }
  })
  const lane = createWriteLane<Change, unknown>({
    ...rest,
    writer: {
      write: async (...args) => {
        places.begin()
        const results = await writer.write(...args).finally(places.end)
        if (results !== null) follow()
        return results
      },
      recover: () => {
        follow()
        return writer.recover()
      },
    },
    after: settled,
    writtenTo: places.passed,
    gatherMs: 0,
    most: GROUP_MAX,
  })
  const underWay = new Set<Promise<unknown>>()
  const write = async <Result>(change: Change) => {
    const written = lane.write(change)
    underWay.add(written)
    try {
      return (await written) as Result
    } finally {
      underWay.delete(written)
    }
  }
  return {
    write: (kind, change) => write({ kind: kind as Kind<unknown, unknown>, change }),
    perform: (work) => {
      let add: Group['add']
      // Here, in the context of the caller, not in the transaction.
      const accompanied = accompany((statements) => work({ statements, add }))
      const change = (group: Group) => {
        add = group.add
        return accompanied(group.statements)
      }
      return write({ kind: ALONE, change })
    },
    settled: () => (underWay.size === 0 ? null : Promise.allSettled(underWay).then(() => {})),
    close: () => lane.close(),
  }
}

/** Additions of one group. */
export interface Collected {
  add: Group['add']
  /** Sends the statements that write them, except those that can be sent together. */
  write(): Promise<Omit<Performed<unknown>, 'results'>>
  /** Runs what follows the commit. */
  committed(): void
}

/** Resolves when all have ended, so that none sends a statement after the rollback of their transaction. */
async function allPerformed(kinds: readonly Promise<void>[]): Promise<void> {
  for (const each of await Promise.allSettled(kinds)) if (each.status === 'rejected') throw each.reason
}

interface Change {
  kind: Kind<unknown, unknown>
  change: unknown
}

const ALONE: Kind<unknown, unknown> = {
  perform: async (group, changes) => {
    const results = []
    for (const work of changes as ((group: Group) => Promise<unknown>)[]) results.push(await work(group))
    return results
  },
}

import { StoreUnavailable } from '../errors.ts'
import type { SettingsKind } from '../sql.ts'
import { textArray } from './arrays.ts'
import type { Group, MailLane } from './group.ts'
import type { Mirror } from './mirror.ts'
import type { Reads } from './reads.ts'
import type { Statements, Transactions } from './transactions.ts'

/** The statements of a change of settings. */
export interface SettingsStatements extends Statements {
  /** Notes records that the change writes or deletes: every node reads them again after it. */
  changed(kind: SettingsKind, ...ids: string[]): void
}

/** Writes everything except the queues. A change may run more than once, so it has no effect outside the database. */
export interface Writer {
  /** Runs a change in a transaction → its result, once it is durable. Rejects as Transactions.write. */
  write<T>(change: (statements: Statements) => Promise<T>): Promise<T>
  /** The same for settings, one change after the other over all nodes. Resolves once every node has the changed records
   *  in memory. If they cannot be read, it rejects with an uncertain StoreUnavailable, and the next change reads them
   *  too. */
  writeSettings<T>(change: (statements: SettingsStatements) => Promise<T>): Promise<T>
  /** The same for a change with events, in a group of the lane. */
  writeSettingsIn<T>(
    lane: Pick<MailLane, 'perform'>,
    change: (group: Group & { statements: SettingsStatements }) => Promise<T>,
  ): Promise<T>
  /** Resolves when every change of settings that was begun before is decided, and this node has it in memory; null if
   *  there is none. */
  settled(): Promise<void> | null
  /** Version of the settings that this node has in memory. */
  version(): number
  /** Reads what other nodes changed since then. */
  catchUp(): Promise<void>
}

/** Adds writes to a change. */
export type Accompany = <T>(change: (statements: Statements) => Promise<T>) => (statements: Statements) => Promise<T>

const LOCK = 'select version from configuration for update'
const NEXT = 'update configuration set version = version + 1 returning version::float8 as version'
const NOTE = `insert into configuration_changes (version, kind, record_id)
  select configuration.version, $1::text, id from configuration, unnest($2::text[]) id`
const SINCE = `select version::float8 as version, kind, record_id as "recordId" from configuration_changes
  where version > $1 order by version`

/** Transactions and mirrors → Writer. */
export function createWriter(
  transactions: Transactions,
  options: {
    reads: Reads
    mirrors: Readonly<Record<SettingsKind, Pick<Mirror<never>, 'refresh'>>>
    accompany: Accompany
    /** Version of the settings that the mirrors contain. */
    version: number
    /** Resolves when changes of mail that were begun before are decided, null = there are none: a change follows them. */
    mailSettled: () => Promise<void> | null
    /** Tells the other nodes that the settings reached a version, and resolves when they have it. */
    announce: (version: number) => Promise<void>
  },
): Writer {
  const { reads, mirrors, accompany, mailSettled, announce } = options
  let applied = options.version
  /** Records whose changes are committed and not read yet. */
  const unread: Changed = new Map()
  /** One refresh after the other, so that none brings back what a later change replaced. */
  let refreshing: Promise<void> = Promise.resolve()
  const refreshAll = async () => {
    for (const [kind, ids] of [...unread]) {
      unread.delete(kind)
      await mirrors[kind].refresh(reads, [...ids]).catch((error) => {
        note(unread, kind, ids)
        throw error
      })
    }
  }
  const refresh = async (changed: Changed) => {
    for (const [kind, ids] of changed) note(unread, kind, ids)
    refreshing = refreshing.catch(() => {}).then(refreshAll)
    await refreshing.catch((error) => {
      throw new StoreUnavailable('the database wrote the change, but it cannot be read', {
        cause: error,
        isUncertain: true,
      })
    })
  }

  const catchUp = async () => {
    const rows = await reads.query<{ version: number; kind: SettingsKind; recordId: string }>(SINCE, [applied])
    const changed: Changed = new Map()
    for (const { kind, recordId } of rows) note(changed, kind, [recordId])
    if (rows.length > 0) await refresh(changed)
    applied = Math.max(applied, ...rows.map(({ version }) => version))
  }

  /** After the commit of a change that brought the settings to `version`; null = it changed none. */
  const follow = async (changed: Changed, version: number | null) => {
    if (version === null) return
    if (version === applied + 1) {
      await refresh(changed)
      applied = Math.max(applied, version)
    } else await catchUp()
    await announce(version)
  }

  const underWay = new Set<Promise<unknown>>()
  const noted = async <T>(write: Promise<T>): Promise<T> => {
    underWay.add(write)
    try {
      return await write
    } finally {
      underWay.delete(write)
    }
  }
  const writeSettings = async <T>(change: (statements: SettingsStatements) => Promise<T>): Promise<T> => {
    const changed: Changed = new Map()
    // Here, in the context of the caller, not in the transaction.
    const accompanied = accompany((statements) => change(noting(statements, changed)))
    await mailSettled()
    const { value, version } = await transactions.write(async (statements) => {
      changed.clear()
      await statements.query(LOCK)
      const value = await accompanied(statements)
      return { value, version: await noteAll(statements, changed) }
    })
    await follow(changed, version)
    return value
  }
  const writeSettingsIn: Writer['writeSettingsIn'] = async (lane, change) => {
    const changed: Changed = new Map()
    const { value, version } = await lane.perform(async ({ statements, add }) => {
      changed.clear()
      await statements.query(LOCK)
      const value = await change({ statements: noting(statements, changed), add })
      return { value, version: await noteAll(statements, changed) }
    })
    await follow(changed, version)
    return value
  }
  return {
    writeSettingsIn,
    write: (change) => transactions.write(accompany(change)),
    writeSettings: (change) => noted(writeSettings(change)),
    settled: () => (underWay.size === 0 ? null : Promise.allSettled(underWay).then(() => {})),
    version: () => applied,
    catchUp,
  }
}

type Changed = Map<SettingsKind, Set<string>>

/** Writes which records a change of settings concerns → the version that they reach; null if there are none. */
async function noteAll({ query, run }: Statements, changed: Changed): Promise<number | null> {
  if (changed.size === 0) return null
  const [next] = await query<{ version: number }>(NEXT)
  for (const [kind, ids] of changed) await run(NOTE, [kind, textArray([...ids])])
  return next?.version ?? null
}

function noting(statements: Statements, changed: Changed): SettingsStatements {
  return {
    ...statements,
    changed: (kind, ...ids) => note(changed, kind, ids),
  }
}

function note(changed: Changed, kind: SettingsKind, ids: Iterable<string>): void {
  changed.set(kind, new Set([...(changed.get(kind) ?? []), ...ids]))
}

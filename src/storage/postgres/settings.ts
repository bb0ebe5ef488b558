import { withinDeadline } from '../../os/within.ts'
import { StoreUnavailable } from '../errors.ts'
import type { MailLane } from '../mail/lane.ts'
import { inPostgres, row, run, type SettingsKind, type Work } from '../sql.ts'
import type { Mirror } from './mirror.ts'
import type { Reads } from './reads.ts'

/** Settings of the installation: written one change after the other over all nodes, and in the memory of each. */
export interface Settings {
  /** Performs a work in a transaction → its result, once every node has the changed records in memory. If they cannot be
   *  read, it rejects with an uncertain StoreUnavailable, and the next change reads them too. Else as MailLane.perform. */
  write<T>(work: () => Work<T>): Promise<T>
  /** Resolves when every change that was begun before is decided, and this node has it in memory; null if there is none. */
  settled(): Promise<void> | null
  /** Version of the settings that this node has in memory. */
  version(): number
  /** Reads what other nodes changed since then. */
  catchUp(): Promise<void>
}

const LOCK = inPostgres<{ version: number }>('select version::float8 as version from configuration for update')
const NEXT = inPostgres<{ version: number }>(
  'update configuration set version = version + 1 returning version::float8 as version',
)
const NOTE = inPostgres(`insert into configuration_changes (version, kind, record_id)
  select configuration.version, $1::text, id from configuration, unnest($2::text[]) id`)
const SINCE = `select version::float8 as version, kind, record_id as "recordId" from configuration_changes
  where version > $1 order by version`

type Changed = Map<SettingsKind, Set<string>>

/** `lane`: performs nothing else that waits for settings. */
export function createSettings(
  lane: MailLane,
  options: {
    reads: Reads
    mirrors: Readonly<Record<SettingsKind, Pick<Mirror<never>, 'refresh'>>>
    /** Version of the settings that the mirrors contain. */
    version: number
    /** Resolves when mail that was begun before is decided, null = there is none: a change follows it. */
    mailSettled: () => Promise<void> | null
    /** Tells the other nodes that the settings reached a version, and resolves when they have it. */
    announce: (version: number) => Promise<void>
    /** How long a change waits for mail that was begun before, ms. */
    patienceMs: number
  },
): Settings {
  const { reads, mailSettled, announce, patienceMs } = options
  const refresh = refreshing(options)
  const underWay = new Set<Promise<unknown>>()
  let applied = options.version

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
  const write = async <T>(work: () => Work<T>): Promise<T> => {
    const written = lane.perform(() => noting(work()))
    const { value, changed, version } = await written
    await follow(changed, version)
    return value
  }
  return {
    write: async <T>(work: () => Work<T>) => {
      const before = mailSettled()
      const written = before === null ? write(work) : inTime(before, patienceMs).then(() => write(work))
      underWay.add(written)
      try {
        return await written
      } finally {
        underWay.delete(written)
      }
    },
    settled: () => (underWay.size === 0 ? null : Promise.allSettled(underWay).then(() => {})),
    version: () => applied,
    catchUp,
  }
}

/** Mail may be in doubt for as long as the database is away. */
function inTime(before: Promise<void>, patienceMs: number): Promise<void> {
  return withinDeadline(before, patienceMs, () => new StoreUnavailable('the database does not respond'))
}

/** The work behind all others over all nodes → its result, and which records it changed, with the version that the settings
 *  reach; null if they are the same. */
function* noting<T>(work: Work<T>): Work<{ value: T; changed: Changed; version: number | null }> {
  const changed: Changed = new Map()
  yield* row(LOCK)
  let next = work.next()
  while (next.done !== true) {
    const step = next.value
    if (step.wants === 'changed') note(changed, step.kind, step.ids)
    next = work.next(step.wants === 'changed' ? undefined : yield step)
  }
  if (changed.size === 0) return { value: next.value, changed, version: null }
  const reached = yield* row(NEXT)
  for (const [kind, ids] of changed) yield* run(NOTE, kind, [...ids])
  return { value: next.value, changed, version: reached?.version ?? null }
}

/** → What reads changed records again, one call after the other, so that none brings back what a later change replaced. */
function refreshing({
  reads,
  mirrors,
}: Pick<Parameters<typeof createSettings>[1], 'reads' | 'mirrors'>): (changed: Changed) => Promise<void> {
  /** Records whose changes are committed and not read yet. */
  const unread: Changed = new Map()
  let last: Promise<void> = Promise.resolve()
  const refreshAll = async () => {
    for (const [kind, ids] of [...unread]) {
      unread.delete(kind)
      await mirrors[kind].refresh(reads, [...ids]).catch((error) => {
        note(unread, kind, ids)
        throw error
      })
    }
  }
  return async (changed) => {
    for (const [kind, ids] of changed) note(unread, kind, ids)
    last = last.catch(() => {}).then(refreshAll)
    await last.catch((error) => {
      throw new StoreUnavailable('the database wrote the change, but it cannot be read', {
        cause: error,
        isUncertain: true,
      })
    })
  }
}

function note(changed: Changed, kind: SettingsKind, ids: Iterable<string>): void {
  changed.set(kind, new Set([...(changed.get(kind) ?? []), ...ids]))
}

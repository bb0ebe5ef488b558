import type { Encryption } from '../encryption.ts'
import { followEvents, isPlain } from '../lists/events.ts'
import { IN_THREAD } from '../lists/slices.ts'
import { suppressedAmong } from '../lists/suppressions.ts'
import type { MailLanes } from '../mail/lane.ts'
import { createLargeContents } from '../mail/large-contents.ts'
import { mailRoles } from '../mail-roles.ts'
import { recordRoles } from '../records/roles.ts'
import { contentsInside } from '../roles/contents.ts'
import type { Store } from '../store.ts'
import { createDiskReserve, type DiskReserve } from './disk-reserve.ts'
import type { Connection } from './driver.ts'
import { type Engine, type StoreOptions, startEngine } from './engine.ts'
import { sqliteFileMaintenance } from './file-maintenance.ts'
import { SqliteLane } from './mail-lanes.ts'
import { SQLITE_NODES, sqliteWorkers } from './nodes.ts'
import { type Reader, readerOn, threadReader } from './reader.ts'
import { createSearch, type Search } from './search.ts'
import { sqliteSnapshot } from './settings.ts'
import { createSpace, eraseWords } from './space.ts'
import type { Writer } from './writer.ts'

/** Connection with this binary's schema, and the encryption of its secrets → its Store, which closes it. */
export function storeOn(db: Connection, encryption: Encryption, options: StoreOptions = {}): Store {
  const { reserve = createDiskReserve('', 0), readingThread } = options
  const engine = startEngine(db, encryption, options)
  const { reading, settings, storedBytes, mail, writer, database, copyLog } = engine
  const snapshot = sqliteSnapshot(settings, engine.foreign)
  const reader = readingThread === undefined ? readerOn(db, reading) : threadReader(readingThread)
  const taking = takeWithin(reserve, writer)
  const lanes = { accepting: new SqliteLane(taking, engine), working: new SqliteLane(writer, engine) }
  const search = createSearch(db, engine.outdated, { writer, reader })
  const space = createSpace(db, { search, reading, copyLog })
  return {
    ...recordRoles(database, {
      planOf: mail.planOf,
      encryption,
      action: engine.action,
      organization: snapshot.organization,
      domain: snapshot.domain,
      hasErased: settings.hasErased,
      suppressions: {
        list: (filter, page) => reader.ask('suppressions', filter.organizationId, filter, page),
        among: async (asked) => (await database.read(() => suppressedAmong([asked])))[0] ?? new Map(),
      },
      recount: {
        beginCount: () => writer.write(storedBytes.beginCount),
        countSome: () => database.write(storedBytes.countSome),
      },
      space: { ...space, eraseWords: eraseWords(search) },
    }),
    ...mailRolesOf(engine, encryption, { lanes, reader, search }),
    snapshot,
    contents: contentsInside,
    workers: sqliteWorkers(db),
    nodes: SQLITE_NODES,
    // The only server of its data directory.
    rates: null,
    certificates: null,
    leases: { leads: () => true, take: async () => true, release: async () => {} },
    maintain: sqliteFileMaintenance(database, search, space),
    checkWritable: heartbeat(db, taking),
    close: async () => {
      await writer.idle()
      await reader.close()
      db.close()
    },
  }
}

/** The roles of mail. Lists are read in the reading thread. */
function mailRolesOf(
  { database, mail, foreign, waiting, settings }: Engine,
  encryption: Encryption,
  { lanes, reader, search }: { lanes: MailLanes; reader: Reader; search: Search },
): ReturnType<typeof mailRoles> {
  const { accepting, working } = lanes
  const roles = mailRoles(database, {
    lanes: { ...lanes, appending: working },
    large: createLargeContents(mail.writtenAhead, { taking: accepting.perform, release: working.perform }),
    lists: reader,
    others: foreign,
    dueIndexes: waiting,
    pending: waiting.fanOuts,
    settings,
    encryption,
  })
  const { messages, events } = roles
  return {
    ...roles,
    messages: {
      ...messages,
      list: async (filter, page) => {
        if (filter.text !== null) await search.catchUp() // what came before is found by its words
        return messages.list(filter, page)
      },
    },
    events: {
      ...events,
      follow: async (filter, behind, limit) =>
        isPlain(filter) // a live feed at each notification
          ? database.read(() => followEvents(filter, behind, { limit, pace: IN_THREAD }))
          : events.follow(filter, behind, limit),
    },
  }
}

/** → What writes something and undoes nothing, to see whether the store can write. */
function heartbeat(db: Connection, taking: Writer): Store['checkWritable'] {
  // It must change something: SQLite does not write an unchanged row.
  const beat = db.prepare('update heartbeat set beats = beats + 1')
  return () =>
    taking.write(() => {
      beat.run()
    })
}

/** The Writer for new mail, which needs free disk space. */
function takeWithin(reserve: DiskReserve, writer: Writer): Writer {
  return {
    ...writer,
    write: async (change) => {
      reserve.require()
      return writer.write(change)
    },
  }
}

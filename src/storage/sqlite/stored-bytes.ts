import { addCounts } from '../mail/counts.ts'
import type { StoredSource } from '../mail/inside.ts'
import type { UsageSums } from '../mail/usage-sums.ts'
import type { Work } from '../sql.ts'
import { STORED_BYTES_OF_INBOUND, STORED_BYTES_OF_TEMPLATE } from '../stored-bytes.ts'
import { type Connection, one } from './driver.ts'
import type { ForeignChanges } from './foreign.ts'

type Source = StoredSource | 'messages' | 'inbound'

const SOURCES: Record<Source, { from: string; number: string; organization: string; bytes: string }> = {
  messages: { from: 'messages', number: 'number', organization: 'organization_id', bytes: 'stored_bytes' },
  inbound: {
    from: 'inbound_messages',
    number: 'number',
    organization: 'organization_id',
    bytes: STORED_BYTES_OF_INBOUND,
  },
  templates: {
    from: 'template_versions join templates on templates.id = template_id',
    number: 'template_versions.rowid',
    organization: 'organization_id',
    bytes: STORED_BYTES_OF_TEMPLATE,
  },
  answers: { from: 'idempotency', number: 'rowid', organization: 'organization_id', bytes: 'octet_length(body)' },
}

/** Rows read in one step of a recount: some milliseconds if they come from the disk. */
const STEP = 1000

/** Stored bytes of every organization, updated in the transactions that write and remove. A recount once a
 *  week repairs errors: it reads all sources in small steps. Meanwhile every
 *  change to a number that the recount has passed, or that came after its start, also goes into a second counter,
 *  which is therefore exact at the end and replaces the first. */
export interface StoredBytes {
  /** One row is written (`bytes` positive) or removed (negative). `number` null = that of the last insertion. */
  change(source: Source, number: number | bigint | null, organizationId: string, bytes: number): void
  /** Starts a recount, unless one is in progress. */
  beginCount(): void
  /** One step of a recount in progress; true while there is more. */
  countSome(): Work<boolean>
  /** Drops changes that were rolled back. */
  drop(): void
}

export function createStoredBytes(db: Connection, sums: UsageSums, foreign: ForeignChanges): StoredBytes {
  const places = db.prepare<unknown[], Place>(
    'select source, counted_to as countedTo, ends_at as endsAt from storage_count',
  )
  const lastInserted = db.prepare<unknown[], number>('select last_insert_rowid()').pluck()
  const move = db.prepare('update storage_count set counted_to = ? where source = ?')
  /** Null = not read since the last change. */
  let counting: Map<string, Place> | null = null
  const drop = () => {
    counting = null
  }
  foreign.onChange(drop)
  const count = () => {
    counting ??= new Map(places.all().map((place) => [place.source, place]))
    return counting
  }

  return {
    change: (source, number, organizationId, bytes) => {
      sums.add({ organizationId, counter: 'stored_bytes', period: '' }, bytes)
      const place = count().get(source)
      if (place === undefined) return
      const at = number ?? one(lastInserted)
      if (at > place.countedTo && at <= place.endsAt) return
      sums.add({ organizationId, counter: 'stored_bytes_count', period: '' }, bytes)
    },
    beginCount: () => {
      if (count().size > 0) return
      db.exec(`delete from usage where name = 'stored_bytes_count'`)
      for (const [source, { from, number }] of Object.entries(SOURCES)) {
        const end = db.prepare(`select coalesce(max(${number}), 0) from ${from}`).pluck().get()
        db.prepare('insert into storage_count (source, counted_to, ends_at) values (?, 0, ?)').run(source, end)
      }
      drop()
    },
    countSome: function* () {
      if (count().size === 0) return false
      const place = [...count().values()].find(({ countedTo, endsAt }) => countedTo < endsAt)
      if (place === undefined) {
        yield* addCounts(0, { stats: [], outcomes: [], sums: sums.take() }) // counts of this transaction belong to the counters
        replaceCounters(db)
        drop()
        return false
      }
      const { from, number, organization, bytes } = SOURCES[place.source]
      const within = `${number} > ? and ${number} <= ?`
      const last = db
        .prepare<unknown[], number>(
          `select ${number} from ${from} where ${within} order by ${number} limit 1 offset ${STEP - 1}`,
        )
        .pluck()
        .get(place.countedTo, place.endsAt)
      const end = last ?? place.endsAt
      const found = db
        .prepare<unknown[], { organizationId: string; bytes: number }>(
          `select ${organization} as organizationId, sum(${bytes}) as bytes from ${from} where ${within} group by 1`,
        )
        .all(place.countedTo, end)
      for (const { organizationId, bytes } of found)
        sums.add({ organizationId, counter: 'stored_bytes_count', period: '' }, bytes)
      move.run(end, place.source)
      drop()
      return true
    },
    drop,
  }
}

function replaceCounters(db: Connection): void {
  db.exec(`delete from storage_count;
    delete from usage where name = 'stored_bytes';
    update usage set name = 'stored_bytes' where name = 'stored_bytes_count'`)
}

interface Place {
  source: Source
  countedTo: number
  endsAt: number
}

import type { LimitReached } from '../../model/limits.ts'
import { type Database, row, sql, type Work } from '../sql.ts'
import type { Inbound } from '../store.ts'
import { acceptInbound } from './accept-inbound.ts'
import { answeredReading } from './answered.ts'
import { type Content, wholeInTurns } from './contents.ts'
import { inboundLimitNow } from './inbound-limits.ts'
import { INBOUND_COLUMNS, type InboundRow, toInboundMessage } from './inbound-rows.ts'
import type { MailLane } from './lane.ts'
import type { LargeContents } from './large-contents.ts'

const GET = sql<InboundRow>(`select ${INBOUND_COLUMNS} from inbound_messages m where m.id = $1`)
const EXISTING = sql<{ id: string }>('select id from inbound_messages where id = any($1::text[])')
const CONTENT = { parsed: contentBy('parsed'), raw: contentBy('raw') }

/** Accepts inbound mail, and reads one. */
export function mailInbound(
  database: Pick<Database, 'row' | 'rows' | 'read'>,
  accepting: MailLane,
  large: LargeContents,
): Omit<Inbound, 'list'> {
  return {
    ...answeredReading(database),
    accept: (mail) => {
      const forwards = mail.taken.flatMap(({ forward }) => forward?.content ?? [])
      return large.ahead<'accepted' | LimitReached>(
        [mail.parsed, mail.raw, ...forwards],
        () => accepting.write(acceptInbound, mail),
        () => accepting.perform((inside) => inboundLimitNow(inside, mail)),
      )
    },
    get: async (id) => {
      const found = await database.row(GET, id)
      return found === null ? null : toInboundMessage(found)
    },
    existing: async (ids) => new Set((await database.rows(EXISTING, ids)).map(({ id }) => id)),
    raw: (id) => database.read(() => contentOf('raw', id)),
    parsed: (id) => database.read(() => contentOf('parsed', id)),
  }
}

function* contentOf(kind: keyof typeof CONTENT, id: string): Work<Uint8Array | null> {
  return yield* wholeInTurns(kind, () => row(CONTENT[kind], id))
}

function contentBy(column: 'parsed' | 'raw') {
  return sql<Content>(`select c.number::float8 as number, c.${column} as first
    from inbound_messages m join inbound_raws c on c.number = m.raw_number where m.id = $1`)
}

import type { Attempt } from '../../model/delivery.ts'
import { type Database, sql } from '../sql.ts'
import { AlreadyRemembered, type Messages } from '../store.ts'
import { type Accepted, acceptAll } from './accept.ts'
import { contentOf } from './contents.ts'
import type { MailLanes } from './lane.ts'
import type { LargeContents } from './large-contents.ts'
import { refusalNow } from './limits.ts'
import { DELIVERY_COLUMNS, type DeliveryRow, deliveryOf, MESSAGE_COLUMNS, type MessageRow, messageOf } from './rows.ts'
import { cancelMessage, rescheduleMessage } from './withdraw.ts'

const GET = sql<MessageRow>(`select ${MESSAGE_COLUMNS} from messages m where m.id = $1`)
const DELIVERIES = sql<DeliveryRow>(`select ${DELIVERY_COLUMNS}, m.id as "messageId"
  from messages m join deliveries d on d.message_number = m.number where m.id = $1 order by d.position`)
type AttemptRow = Pick<Attempt, 'number' | 'startedAt' | 'durationMs' | 'outcome'> & { email: string; facts: string }
const ATTEMPTS = sql<AttemptRow>(
  `select d.email, a.number, a.started_at::float8 as "startedAt", a.duration_ms::float8 as "durationMs", a.outcome, a.facts
  from messages m join deliveries d on d.message_number = m.number join attempts a on a.delivery_number = d.number
  where m.id = $1 order by a.started_at, d.position, a.number`,
)
const VOLUMES = sql<{ month: string; accepted: number }>(`select period as month, sum(used)::float8 as accepted
  from usage where organization_id = $1 and name = 'volume' group by period order by period desc`)
const VOLUME = sql<{ accepted: number }>(`select coalesce(sum(used), 0)::float8 as accepted
  from usage where organization_id = $1 and name = 'volume' and period = $2`)
const EXISTING = sql<{ id: string }>(`select m.id from messages m join message_contents c on c.message_number = m.number
  where m.id = any($1::text[])`)

/** Other work continues meanwhile: a server that says much makes a megabyte of the attempts of each recipient. */
async function attemptsOf(rows: readonly AttemptRow[]): Promise<{ email: string; attempt: Attempt }[]> {
  const attempts: { email: string; attempt: Attempt }[] = []
  for (const [index, { email, facts, ...attempt }] of rows.entries()) {
    attempts.push({ email, attempt: { ...attempt, ...JSON.parse(facts) } }) // of addAttempts
    if (index % READ_A_TURN === READ_A_TURN - 1) await new Promise(setImmediate)
  }
  return attempts
}

/** Takes less than 10 ms. */
const READ_A_TURN = 25

/** Accepts messages, and reads or withdraws one. */
export function mailMessages(
  reads: Pick<Database, 'row' | 'rows' | 'read'>,
  { accepting, working }: Pick<MailLanes, 'accepting' | 'working'>,
  large: LargeContents,
): Omit<Messages, 'list' | 'removeContent' | 'contentRemoval' | 'redactDue'> {
  return {
    accept: async (accepted, volume, record) => {
      const call = { accepted, volume, record }
      const answer = await large.ahead<Accepted>(
        accepted.map(({ content }) => content),
        () => accepting.write(acceptAll, call),
        () => accepting.perform((inside) => refusalNow(inside, call)),
      )
      if (answer.kind === 'repeated') throw new AlreadyRemembered()
      return answer
    },
    get: async (id) => {
      const found = await reads.row(GET, id)
      return found === null ? null : messageOf(found)
    },
    deliveries: async (id) => (await reads.rows(DELIVERIES, id)).map(deliveryOf),
    attempts: async (id) => attemptsOf(await reads.rows(ATTEMPTS, id)),
    volume: async (organizationId, month) => (await reads.row(VOLUME, organizationId, month))?.accepted ?? 0,
    volumes: (organizationId) => reads.rows(VOLUMES, organizationId),
    existing: async (ids) => new Set((await reads.rows(EXISTING, ids)).map(({ id }) => id)),
    content: (id) => reads.read(() => contentOf(id)),
    cancel: (id, now) => working.perform((inside) => cancelMessage(inside, { id, now })),
    reschedule: (id, at, now) => working.perform((inside) => rescheduleMessage(inside, { id, at, now })),
  }
}

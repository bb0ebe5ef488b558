import type { Domain } from '../../model/domain.ts'
import { ERASED_ADDRESS } from '../../model/erasure.ts'
import { type AnsweredMessage, MOST_ANSWERED } from '../../model/inbound-message.ts'
import { suppressionKey } from '../../model/suppression.ts'
import { type Database, row, rows, sql, type Work } from '../sql.ts'
import type { Inbound } from '../store.ts'

/** Which message of an organization an inbound mail answers. Forwarded mail is not the organization's own, and nobody
 *  receives test mail: an answer to it would bring what a test key has written into posts about live mail. */

type AnsweredRow = Omit<AnsweredMessage, 'tags' | 'metadata'> & { tags: string; metadata: string }

/** More than a message can have (sending/submission/recipients.ts). */
const MOST_RECIPIENTS = 100

const COLUMNS = `d.id as "deliveryId", d.email as "to", m.id, m.organization_id as "organizationId",
  m.domain_id as "domainId", m.mode, m.sender as "from", m.subject, m.metadata, m.tags, m.stream,
  m.template_id as "templateId", coalesce(m.scheduled_at, m.created_at)::float8 as "sentAt"`
const BY_DELIVERY = sql<AnsweredRow>(`select ${COLUMNS} from deliveries d join messages m on m.number = d.message_number
  where d.id = $1 and m.organization_id = $2 and m.mode = 'live' and m.key_id is not null
    and d.email <> '${ERASED_ADDRESS}'`)
const BY_MESSAGE = sql<AnsweredRow>(`select ${COLUMNS} from deliveries d join messages m on m.number = d.message_number
  where d.message_number = $1::bigint and d.email <> '${ERASED_ADDRESS}'
  order by d.message_number, d.position limit ${MOST_RECIPIENTS}`)
const BY_ID = sql<Found>(`select number::float8 as number, message_id_header as header from messages
  where id = any($1::text[]) and organization_id = $2 and domain_id = $3 and mode = 'live' and key_id is not null`)
// The conditions of the index. One program may have sent the same mail again and again.
const BY_HEADER = sql<Found>(`select number::float8 as number, message_id_header as header from messages
  where organization_id = $1 and message_id_header = $2 and domain_id = $3
    and source = 'smtp' and mode = 'live' and key_id is not null and octet_length(message_id_header) <= 998
  order by number desc limit 1`)

const LOCK = sql<{ id: string; mxHost: string | null }>(`select id, mx_host as "mxHost" from deliveries
  where id = any($1::text[]) and email <> '${ERASED_ADDRESS}' order by number for share`)

interface Found {
  number: number
  header: string
}

/** The Message-ID of a message that we composed (sending/submission/draft.ts). */
const OWN_HEADER = /^<([0-9a-hjkmnp-tv-z]{26})@/

export function answeredReading(database: Pick<Database, 'row' | 'read'>): Pick<Inbound, 'answered' | 'findAnswered'> {
  return {
    answered: async (deliveryId, organizationId) => {
      const found = await database.row(BY_DELIVERY, deliveryId, organizationId)
      return found === null ? null : toAnswered(found)
    },
    findAnswered: (domain, messageIds, from) =>
      database.read(() => findAnswered(domain, messageIds.slice(0, MOST_ANSWERED), from)),
  }
}

/** IDs of answered deliveries → those that are still there, with the host of each. An erasure may have ended since they were
 *  found, and one that runs waits until what is written about them is. */
export function* lockAnswered(deliveryIds: readonly string[]): Work<ReadonlyMap<string, string | null>> {
  const found = deliveryIds.length === 0 ? [] : yield* rows(LOCK, [...new Set(deliveryIds)])
  return new Map(found.map(({ id, mxHost }) => [id, mxHost]))
}

function* findAnswered(
  { id: domainId, organizationId }: Pick<Domain, 'id' | 'organizationId'>,
  headers: readonly string[],
  from: string,
): Work<AnsweredMessage | null> {
  const ids = headers.flatMap((header) => OWN_HEADER.exec(header)?.[1] ?? []).map((body) => `msg_${body}`)
  const author = suppressionKey(from)
  const composed = ids.length === 0 ? [] : yield* rows(BY_ID, ids, organizationId, domainId)
  for (const header of headers) {
    const own = composed.find((each) => each.header === header)
    const found = own ?? (yield* row(BY_HEADER, organizationId, header, domainId))
    if (found === null) continue
    const recipients = yield* rows(BY_MESSAGE, found.number)
    const answered = recipients.find(({ to }) => suppressionKey(to) === author) ?? recipients[0]
    if (answered !== undefined) return toAnswered(answered)
  }
  return null
}

function toAnswered({ tags, metadata, ...rest }: AnsweredRow): AnsweredMessage {
  return { ...rest, tags: JSON.parse(tags), metadata: JSON.parse(metadata) }
}

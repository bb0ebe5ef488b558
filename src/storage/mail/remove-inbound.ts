import { inboundStoredBytes } from '../../model/stored-bytes.ts'
import type { Work } from '../sql.ts'
import { letGo } from './contents.ts'
import { each, forEach, writeAll, writeEach, writing } from './each.ts'
import type { MailInside } from './inside.ts'
import { GONE, removalOf } from './remove-messages.ts'

// Nothing waits for deliveries: a transaction that has claimed some may wait for others. Whoever has one locks the message
// afterwards.
const LOCK_DELIVERIES = each<{ number: number }, { messageNumber: number }>(
  GONE,
  `select d.message_number::float8 as "messageNumber" from rows r, inbound_deliveries d
  where d.message_number = r.gone for update of d skip locked`,
)
const COUNT_DELIVERIES = each<{ number: number }, { place: number; count: number }>(
  GONE,
  `select r.gone::float8 as place,
    (select count(*) from inbound_deliveries d where d.message_number = r.gone)::int as count from rows r`,
)
const LOCK_MESSAGES = each<{ number: number }, { number: number; rawNumber: number | null }>(
  GONE,
  `select m.number::float8 as number, m.raw_number::float8 as "rawNumber" from rows r, inbound_messages m
  where m.number = r.gone for update of m`,
)
// Again, since one may have been added until the message was locked.
const REMOVE_DELIVERIES = each<{ number: number }, { number: number; status: string }>(
  GONE,
  `delete from inbound_deliveries using rows r where message_number = r.gone
  returning number::float8 as number, status`,
)
const REMOVE_HELD = removalOf('held_inbound_deliveries', 'number')
const REMOVE_ATTEMPTS = removalOf('inbound_attempts', 'delivery_number')
const REMOVE_ADDRESSES = removalOf('inbound_addresses', 'message_number')
const REMOVE_MESSAGES = each<{ number: number }, { number: number; organizationId: string; sizeBytes: number }>(
  GONE,
  `delete from inbound_messages using rows r where number = r.gone returning number::float8 as number,
    organization_id as "organizationId", size_bytes::float8 as "sizeBytes"`,
)
// Of two that remove the last messages of one mail, the second one finds no other. SQLite has one writer.
const LOCK_RAWS = each<{ number: number }, never>(
  GONE,
  'select 1 from rows r, inbound_raws c where c.number = r.gone for update of c',
  '',
)
const REMOVE_RAWS = each<{ number: number }, { number: number }>(
  GONE,
  `delete from inbound_raws using rows r
  where number = r.gone and not exists (select 1 from inbound_messages where raw_number = r.gone)
  returning number::float8 as number`,
)

/** Removes inbound messages with everything that belongs to them, and the mails that they were the last message of,
 *  unless somebody else has locked one of their deliveries. Returns the number of removed messages. */
export function* removeInbound(inside: MailInside, found: readonly { number: number }[]): Work<number> {
  const own = Map.groupBy(yield* forEach(LOCK_DELIVERIES, found), ({ messageNumber }) => messageNumber)
  const counts = yield* forEach(COUNT_DELIVERIES, found)
  const free = counts.filter(({ place, count }) => count === (own.get(place)?.length ?? 0))
  const locked = yield* forEach(
    LOCK_MESSAGES,
    free.map(({ place: number }) => ({ number })),
  )
  const messages = locked.map(({ number }) => ({ number }))
  const deliveries = yield* forEach(REMOVE_DELIVERIES, messages)
  yield* writeAll(
    writing(
      REMOVE_HELD,
      deliveries.filter(({ status }) => status === 'pending'),
    ),
    writing(REMOVE_ATTEMPTS, deliveries),
    writing(REMOVE_ADDRESSES, messages),
  )
  for (const { number, organizationId, sizeBytes } of yield* forEach(REMOVE_MESSAGES, messages))
    inside.stored('inbound', number, organizationId, -inboundStoredBytes(sizeBytes))
  const numbers = [...new Set(locked.flatMap(({ rawNumber }) => rawNumber ?? []))]
  const raws = numbers.sort((one, other) => one - other).map((number) => ({ number }))
  yield* writeEach(LOCK_RAWS, raws)
  const removed = yield* forEach(REMOVE_RAWS, raws)
  yield* letGo('parsed', removed)
  yield* letGo('raw', removed)
  return messages.length
}

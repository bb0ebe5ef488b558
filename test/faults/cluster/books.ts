import { restingAfter } from '../../support/patience.ts'
import { missingFrom, unless, type Verdict } from '../long/fault.ts'
import type { Load } from './load.ts'
import { CONNECTIONS, type TestCluster } from './setup.ts'

/** What may have been on the wire at a fault, and so come twice. */
export interface OnTheWire {
  /** Tokens of mails, IDs of events. */
  mails: ReadonlySet<string>
  events: ReadonlySet<string>
}

const PATIENCE_MS = 120_000
/** Answers that a client repeats: no answer, unavailable, and the same key under way elsewhere. */
const REPEATED = ['0', '202', '503 unavailable', '409 conflict']

const LEASED_MAILS = `select split_part(d.email, '@', 1) from deliveries d where d.worker in`
const LEASED_EVENTS = `select e.id from webhook_deliveries d join events e on e.number = d.event_number where d.worker in`
const WAITING = `select (select count(*) from deliveries where next_attempt_at is not null)
  + (select count(*) from webhook_deliveries where next_attempt_at is not null)`

/** What the present processes of these nodes have leased. */
export function onTheWireOf({ sql }: Pick<TestCluster, 'sql'>, names: readonly string[]): OnTheWire {
  const workers = `(select c.worker from claims c join lanes l on l.id = c.writer join nodes n on n.id = l.node_id
    where n.ended_at is null and n.name in ('${names.join("','")}'))`
  const column = (statement: string) => new Set(sql(`${statement} ${workers}`).map(([value]) => value!))
  return { mails: column(LEASED_MAILS), events: column(LEASED_EVENTS) }
}

/** Waits until all that was promised has arrived, been recorded and posted, or nothing more comes. */
export async function untilSettled({ sink, receiver, sql }: TestCluster, load: Load): Promise<void> {
  let seen = -1
  for (let lastAt = performance.now(); performance.now() - lastAt < PATIENCE_MS; await Bun.sleep(500)) {
    const haveCome = missingFrom(load.promised.keys(), sink.mails).length === 0
    const isDone = haveCome && (await restingAfter(() => sql(WAITING)[0]![0] === '0'))
    if (isDone) return
    if (sink.mails.size + receiver.requests.length !== seen) lastAt = performance.now()
    seen = sink.mails.size + receiver.requests.length
  }
}

/** Everything that was promised → the figures, and the broken promises. Nothing is waiting any more. */
export function audit(cluster: TestCluster, load: Load, wires: readonly OnTheWire[]): Verdict {
  const { sink, receiver, sql } = cluster
  const number = (statement: string) => Number(sql(statement)[0]![0])
  const { promised, answers } = load
  const stored = new Map(sql('select id, subject from messages').map(([id, token]) => [id!, token!]))
  const lost = [...promised].filter(([token, id]) => stored.get(id) !== token || !sink.mails.has(token))
  const acceptedTwice = stored.size - new Set(stored.values()).size
  const notPromised = [...stored.values()].filter((token) => !promised.has(token))
  const recordedTwice = number(`select count(*) from (select delivery_number from attempts
    where outcome = 'delivered' group by delivery_number having count(*) > 1) twice`)
  const eventsTwice = number(`select count(*) from (select message_id from events where type = 'message.delivered'
    group by message_id having count(*) > 1) twice`)
  const unrecorded = number(`select count(*) from messages m where not exists (
    select 1 from events e where e.message_id = m.id and e.type = 'message.delivered')`)
  const counted = sql(`select sum(accepted), sum(delivered) from stats where hour = 24 and tag = ''`)[0]!
  const mailTimes = [...sink.times].filter(([, times]) => times.length > 1)
  const mailsTwice = mailTimes.map(([token]) => token).filter((token) => !wires.some(({ mails }) => mails.has(token)))
  const otherIds = mailTimes.filter(([token]) => new Set(sink.mails.get(token)).size > 1)
  const posts = Map.groupBy(receiver.requests, ({ headers }) => headers['webhook-id']!)
  const eventTimes = [...posts].filter(([, requests]) => requests.length > 1)
  const postsTwice = eventTimes.map(([id]) => id).filter((id) => !wires.some(({ events }) => events.has(id)))
  const posted = new Set([...posts.values()].map(([first]) => JSON.parse(first!.body).data.message_id))
  const unposted = [...promised.values()].filter((id) => !posted.has(id))
  const strange = [...answers].filter(([answer]) => !REPEATED.includes(answer))
  const isExact = (value: string | undefined) => Number(value) === stored.size
  return {
    figures: `${promised.size} acknowledged, ${lost.length} lost, ${acceptedTwice} accepted twice, ${recordedTwice + eventsTwice} recorded twice, ${mailTimes.length} mails and ${eventTimes.length} posts twice, ${sink.most()} connections at most`,
    broken: [
      ...unless(lost.length === 0, `${lost.length} acknowledged messages are lost, ${few(lost)}`),
      ...unless(acceptedTwice === 0, `${acceptedTwice} messages were accepted twice`),
      ...unless(notPromised.length === 0, `${notPromised.length} messages have no client, ${few(notPromised)}`),
      ...unless(recordedTwice === 0, `${recordedTwice} deliveries were recorded twice`),
      ...unless(eventsTwice === 0, `${eventsTwice} messages have two events`),
      ...unless(unrecorded === 0, `${unrecorded} messages have no event`),
      ...unless(counted.every(isExact), `the statistics count ${counted} of ${stored.size} messages`),
      ...unless(mailsTwice.length === 0, `${mailsTwice.length} mails not on the wire came twice, ${few(mailsTwice)}`),
      ...unless(otherIds.length === 0, `${otherIds.length} copies have another Message-ID`),
      ...unless(unposted.length === 0, `${unposted.length} events were not posted, ${few(unposted)}`),
      ...unless(postsTwice.length === 0, `${postsTwice.length} events not on the wire came twice, ${few(postsTwice)}`),
      ...unless(sink.most() <= CONNECTIONS, `${sink.most()} connections to a destination, limit ${CONNECTIONS}`),
      ...unless(strange.length === 0, `unexpected answers: ${strange.map((each) => each.join(' × '))}`),
    ],
  }
}

const few = (all: readonly unknown[]) => JSON.stringify(all.slice(0, 3))

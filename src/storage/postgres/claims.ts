import { createAllocation } from '../allocation.ts'
import { type DueIndex, type DueTime, mayStart } from '../due-index.ts'
import type { ClaimQueue, ClaimRequest, HeldClaim, Look, PlannedKey } from '../store.ts'
import { numberArray, textArray, valueArray } from './arrays.ts'
import type { Group, Kind, MailLane } from './group.ts'
import type { Queries, Statements } from './transactions.ts'

/** One of the three queue tables, which have the same columns. */
export interface QueueTable {
  table: 'delivery_queue' | 'webhook_queue' | 'inbound_queue'
  /** Slot of a row, which never changes. */
  slotOf: (key: string) => number
  /** Slot whose owner handles the key; by default that of its rows. */
  homeOf?: (key: string) => number
  /** Rows that keep their date when the clock is set; the row is `q`. */
  isDated?: string
  /** Wait after a lost attempt before the row is due again, ms. */
  pauseMs?: string
  /** The rows name their message. */
  hasMessages?: boolean
}

/** A row that is leased. */
export interface Leased {
  id: string
  key: string
  /** Number of its attempt, from 1. */
  attempts: number
}

/** A row as a statement of the same transaction found it. */
export interface Found {
  id: string
  /** Where that version of it is: without a search for it. */
  ctid: string
}

/** A row that is about to be leased. */
export interface Chosen extends Found {
  /** Where rows name it. */
  messageId?: string
  /** Of that message. */
  isOnlyRecipient?: boolean
  /** Of its last outcome; 0 = it has none. */
  seq?: number
}

/** How a claim is made, when it is performed. */
export interface Claiming<Claim> {
  /** Keys that may still start anything; by default all. */
  mayClaim?(key: string): boolean
  /** Reads what the claims contain, beside the lease → what makes claims of the leased rows, once they are committed. */
  read(statements: Statements, chosen: readonly Chosen[]): Promise<Taken<Claim>['claimsOf']>
}

/** Rows that a claim leased, and what makes claims of them. */
interface Taken<Claim> {
  rows: readonly Leased[]
  claimsOf: (rows: readonly Leased[]) => Claim[] | Promise<Claim[]>
}

/** Identity of a claim as text. */
export const claimKey = ({ id, attempt, worker }: HeldClaim) => `${id} ${attempt} ${worker}`

/** Columns of Found. */
export const FOUND = 'id, ctid::text'
/** Columns that name the message of a row. */
export const MESSAGE = 'message_id as "messageId", is_only_recipient as "isOnlyRecipient", seq'
/** Rows per call of endFutureWaits. */
const SLICE = 2000

/** A queue's statements, shared by all queues: from a plan to leases and back. */
export interface Queue {
  /** → ClaimQueue.claimDue: leases rows by the plan. The keys are back on the due index once it is committed. */
  claimDue<Request extends ClaimRequest, Claim>(
    lane: MailLane,
    begin: (request: Request, add: Group['add']) => Claiming<Claim>,
  ): (request: Request) => Promise<Claim[]>
  /** Leases these rows to a worker, inside a change → those that nobody has and that did not change, in the order of
   *  `found`. */
  lease(group: Group, found: readonly Found[], worker: string, now: number): Promise<Leased[]>
  /** The methods that are the same for all queues. `isActive`: keys that may start anything. */
  methods(
    lane: MailLane,
    queries: Queries,
    isActive?: (key: string) => boolean,
  ): Pick<
    ClaimQueue<unknown>,
    'nextDueAt' | 'planClaims' | 'putBack' | 'freed' | 'release' | 'endLeases' | 'endFutureWaits'
  >
  /** Puts the keys of these slots that wait on the due index. */
  load(queries: Queries, slots: ReadonlySet<number>): Promise<void>
  /** Drops the keys of slots that this node does not own. */
  dropForeign(): void
  /** As ClaimQueue.endLeases. */
  endLeases(lane: MailLane, worker: string, underWay: ReadonlySet<string>, now: number): Promise<number>
  /** Claims that ended. */
  finished(ids: Iterable<string>): void
  /** True if no claim of this node in the slot is under way, as far as it knows. */
  isIdle(slot: number): boolean
  /** Claims of this node under way, as far as it knows. */
  underWay(): number
}

/** What a queue has to know of the nodes. */
export interface Share {
  nodeId: number
  /** True if this node may claim keys of the slot now. */
  mayClaim(slot: number): boolean
  /** True if the slot is this node's: it has the due times of its keys. */
  owns(slot: number): boolean
}

/** A queue's table and due index → Queue. */
export function createQueue(
  { table, slotOf, homeOf = slotOf, isDated = 'false', pauseMs = '0', hasMessages = false }: QueueTable,
  dueIndex: DueIndex,
  share: Share,
): Queue {
  /** Slots of the claims under way. */
  const underWay = new Map<string, number>()
  // Goes from key to key along the due index: its cost is the number of keys, not of rows.
  const dueTimes = `with recursive waiting (slot, key, at) as (
      (select slot, key, due_at from ${table} where due_at is not null order by slot, key, due_at limit 1)
      union all
      select next.* from waiting w cross join lateral (
        select slot, key, due_at from ${table} where due_at is not null and (slot, key) > (w.slot, w.key)
        order by slot, key, due_at limit 1) next)
    select w.slot, w.key, (select min(due_at) from ${table} q where q.slot = w.slot and q.key = w.key and due_at is not null
      and worker is null)::float8 as at from waiting w`
  // Keys and times since when they can have something; what was claimed before that is passed over.
  const asked = `unnest($1::smallint[], $2::text[], $3::bigint[], $4::bigint[], $5::int[], $6::smallint[])
    with ordinality as asked (slot, key, since, until, most, home, number)`
  // PostgreSQL goes from key to key in their order and stops at $7. Keys that share a quota bring too many rows.
  // A join with the slots could begin with those.
  const candidates = `select asked.number::int as number, found.* from ${asked} cross join lateral (
      select ${FOUND}, due_at::float8 as "dueAt"${hasMessages ? `, ${MESSAGE}` : ''} from ${table} q
      where q.slot = asked.slot and q.key = asked.key and q.due_at >= asked.since
        and q.due_at <= asked.until and q.worker is null
        and (select o.node_id from slots o where o.slot = asked.home) = $8
      order by q.due_at limit asked.most) found
    limit $7`
  const nextTimes = `select asked.key, (select min(due_at) from ${table} q where q.slot = asked.slot
      and q.key = asked.key and q.due_at >= asked.since and q.worker is null)::float8 as at
    from ${asked} order by asked.number`
  const lease = `update ${table} q set worker = $2, attempts = q.attempts + 1, attempted_at = $3::bigint
    from unnest($1::tid[], $4::text[]) as chosen (ctid, id)
    where q.ctid = chosen.ctid and q.id = chosen.id and q.worker is null and q.due_at is not null
    returning q.id, q.key, q.attempts`
  const giveBack = `update ${table} q set worker = null, attempts = q.attempts - 1, attempted_at = q.recorded_at,
      due_at = $4::bigint
    from unnest($1::text[], $2::text[], $3::int[]) as given (id, worker, attempts)
    where q.id = given.id and q.worker = given.worker and q.attempts = given.attempts returning q.key`
  const note = `insert into workers (queue, worker, node_id) values ('${table}', $1, $2) on conflict do nothing`
  const forget = `delete from workers where queue = '${table}' and worker = $1`
  const end = `update ${table} q set worker = null, due_at = $2::bigint + ${pauseMs}
    where q.worker = $1 and not q.id = any($3::text[]) returning q.id, q.key, q.due_at::float8 as at`
  const isFuture = `q.worker is null and not ${isDated} and coalesce(q.attempted_at, q.accepted_at) > $2::bigint`
  const future = `with slice as materialized (select * from ${table} where id > $1 order by id limit ${SLICE})
    select (select max(id) from slice) as last, (select count(*) from slice)::int as size,
      (select json_agg(json_build_array(q.id, q.key)) from slice q
        where q.due_at > $2::bigint and ${isFuture})::text as wrong`
  const makeDue = `update ${table} q set due_at = $2::bigint
    from unnest($1::text[]) as wrong (id) where q.id = wrong.id and ${isFuture} returning q.key`

  const endLeases: Queue['endLeases'] = (lane, worker, present, now) =>
    lane.perform(async ({ statements, add }) => {
      const rows = await statements.query<DueTime & { id: string }>(end, [worker, now, textArray([...present])])
      if (present.size === 0) {
        noted.delete(worker)
        await statements.run(forget, [worker])
      }
      add.afterCommit(() => {
        if (present.size === 0) noted.delete(worker)
        finished(rows.map(({ id }) => id))
        for (const { key, at } of rows) dueIndex.offer(key, at)
      })
      return rows.length
    })
  const finished = (ids: Iterable<string>) => {
    for (const id of ids) underWay.delete(id)
  }
  const columnsOf = (plan: readonly PlannedKey[], now: number, most: (planned: PlannedKey) => number) => [
    numberArray(plan.map(({ key }) => slotOf(key))),
    textArray(plan.map(({ key }) => key)),
    numberArray(plan.map(({ dueAt }) => dueAt)),
    numberArray(plan.map(({ dueUntil }) => dueUntil ?? now)),
    numberArray(plan.map(most)),
    numberArray(plan.map(({ key }) => homeOf(key))),
  ]

  const claim = async <Claim>(
    { statements, add }: Group,
    request: ClaimRequest,
    { read, mayClaim = () => true }: Claiming<Claim>,
  ): Promise<Taken<Claim>> => {
    const { now, limit, worker } = request
    const plan = request.plan.filter(({ key }) => mayClaim(key))
    const refused = request.plan.filter((planned) => !plan.includes(planned))
    add.afterCommit(() => dueIndex.putBack(refused))
    const whole = createAllocation(limit)
    const columns = columnsOf(plan, now, ({ quotas }) => Math.max(0, whole.capacityFor(quotas)))
    const most = isAnyShared(plan) ? 2 * limit : limit
    const found = await statements.query<Candidate>(candidates, [...columns, most, share.nodeId])
    const chosen = choose(plan, limit, found)
    const reached = plan.filter(({ key }) => !chosen.untouched.has(key) && !chosen.unreached.has(key))
    const [rows, times, claimsOf] = await Promise.all([
      leaseAll({ statements, add }, chosen.rows, worker, now),
      statements.query<{ key: string; at: number | null }>(
        nextTimes,
        columnsOf(
          // Those before were leased just now.
          reached.map((planned) => ({ ...planned, dueAt: chosen.last.get(planned.key) ?? planned.dueAt })),
          now,
          () => 0,
        ),
      ),
      chosen.rows.length === 0 ? () => [] : read(statements, chosen.rows),
    ])
    const next = new Map(times.map(({ key, at }) => [key, at]))
    const leased = new Set(rows.map(({ id }) => id))
    const missed = chosen.rows.filter(({ id }) => !leased.has(id))
    add.afterCommit(() => {
      for (const { number, dueAt } of missed) dueIndex.offer(plan[number - 1]!.key, dueAt)
      dueIndex.putBack(plan.filter(({ key }) => chosen.unreached.has(key)))
      for (const { key, dueAt } of plan) {
        const blocker = chosen.untouched.get(key)
        if (blocker !== undefined) dueIndex.putBehind(key, dueAt, blocker)
      }
      for (const { key } of plan) {
        const at = next.get(key) ?? null
        if (at === null) continue
        const filled = chosen.filled.get(key)
        if (filled === undefined || at > now) dueIndex.offer(key, at)
        // Behind keys that found nothing left, so that keys of one quota take turns.
        else dueIndex.putBehind(key, at, filled)
      }
    })
    return { rows, claimsOf }
  }
  const release = (lane: MailLane, claims: readonly HeldClaim[], dueAt: number) =>
    lane.perform(async ({ statements, add }) => {
      const rows = await statements.query<{ key: string }>(giveBack, [
        textArray(claims.map(({ id }) => id)),
        textArray(claims.map(({ worker }) => worker)),
        valueArray(claims.map(({ attempt }) => attempt)),
        dueAt,
      ])
      add.afterCommit(() => {
        finished(claims.map(({ id }) => id))
        for (const { key } of rows) dueIndex.offer(key, dueAt)
      })
    })
  /** Workers that are in the table of workers. */
  const noted = new Set<string>()
  const leaseAll: Queue['lease'] = async ({ statements, add }, found, worker, now) => {
    if (found.length === 0) return []
    const ids = found.map(({ id }) => id)
    const [rows] = await Promise.all([
      statements.query<Leased>(lease, [textArray(found.map(({ ctid }) => ctid)), worker, now, textArray(ids)]),
      noted.has(worker) ? 0 : statements.run(note, [worker, share.nodeId]),
    ])
    add.afterCommit(() => {
      noted.add(worker)
      for (const { id, key } of rows) underWay.set(id, homeOf(key))
    })
    const byId = new Map(rows.map((row) => [row.id, row]))
    return ids.flatMap((id) => byId.get(id) ?? [])
  }

  /** Calls `use` with a look that refuses keys whose home moved to another node, and then offers them there. */
  const withoutMoved = <T>(look: Look, use: (ours: Look) => T): T => {
    const moved: [key: string, at: number][] = []
    const result = use((key, at) => {
      if (share.owns(homeOf(key))) return look(key, at)
      moved.push([key, at])
      return false
    })
    for (const [key, at] of moved) {
      dueIndex.set(key, null)
      dueIndex.offer(key, at)
    }
    return result
  }

  return {
    claimDue: <Request extends ClaimRequest, Claim>(
      lane: MailLane,
      begin: (request: Request, add: Group['add']) => Claiming<Claim>,
    ) => {
      const kind: Kind<Request, Taken<Claim>> = {
        isOrdered: true,
        perform: async (group, requests) => {
          const taken: Taken<Claim>[] = []
          for (const request of requests) taken.push(await claim(group, request, begin(request, group.add)))
          return taken
        },
      }
      return async (request: Request) => {
        if (request.plan.length === 0) return []
        const { rows, claimsOf } = await lane.write(kind, request)
        try {
          return await claimsOf(rows)
        } catch (error) {
          const { worker, now } = request
          await release(
            lane,
            rows.map(({ id, attempts }) => ({ id, attempt: attempts, worker })),
            now,
          )
          throw error
        }
      }
    },
    lease: leaseAll,
    load: async ({ query }, slots) => {
      const times = await query<{ slot: number; key: string; at: number | null }>(dueTimes)
      for (const { key, at } of times) if (at !== null && slots.has(homeOf(key))) dueIndex.offer(key, at)
    },
    dropForeign: () => dueIndex.keep((key) => share.owns(homeOf(key))),
    finished,
    endLeases,
    underWay: () => underWay.size,
    isIdle: (slot) => !underWay.values().some((each) => each === slot),
    methods: (lane, queries, isActive = () => true) => {
      let looked = ''
      const mayClaim = (key: string) => share.mayClaim(homeOf(key)) && isActive(key)
      return {
        nextDueAt: async (look, now) =>
          withoutMoved(
            (key, at) => mayClaim(key) && look(key, at),
            (ours) => dueIndex.nextAt(mayStart(ours), now),
          ),
        planClaims: async (request) =>
          withoutMoved(
            (key, at) => mayClaim(key) && request.look(key, at),
            (look) => dueIndex.plan({ ...request, look }),
          ),
        putBack: async (plan) => dueIndex.putBack(plan),
        freed: async (blockers) => blockers.forEach(dueIndex.freed),
        release: (claims, dueAt) => release(lane, claims, dueAt),
        endLeases: (worker, present, now) => endLeases(lane, worker, present, now),
        endFutureWaits: async (now) => {
          const [row] = await queries.query<{ last: string | null; size: number; wrong: string | null }>(future, [
            looked,
            now,
          ])
          const found: [id: string, key: string][] = JSON.parse(row?.wrong ?? '[]')
          // Each node sets right what it handles itself.
          const wrong = found.filter(([, key]) => share.owns(homeOf(key))).map(([id]) => id)
          if (wrong.length > 0) {
            await lane.perform(async ({ statements, add }) => {
              const rows = await statements.query<{ key: string }>(makeDue, [textArray(wrong), now])
              add.afterCommit(() => {
                for (const { key } of rows) dueIndex.offer(key, now)
              })
            })
          }
          const isLast = (row?.size ?? 0) < SLICE
          looked = isLast ? '' : (row?.last ?? '')
          return !isLast
        },
      }
    },
  }
}

/** True if two keys share a quota: rows that are due then may be more than can be claimed. */
function isAnyShared(plan: readonly PlannedKey[]): boolean {
  const names = plan.flatMap(({ quotas }) => quotas.map(({ name }) => name))
  return new Set(names).size < names.length
}

/** A row that is due for a key of the plan. */
type Candidate = Chosen & {
  /** Of the key in the plan, from 1. */
  number: number
  dueAt: number
}

/** What one claim takes. */
interface Choice {
  rows: Candidate[]
  /** When the last taken row of each key was due. */
  last: Map<string, number>
  /** Keys that were not looked at, since the claim was full. */
  unreached: Set<string>
  /** Keys that got nothing, and those that got some and could have more, with the quota that is used up. */
  untouched: Map<string, string>
  filled: Map<string, string>
}

/** Plan, limit, and what could be claimed of each key → what is claimed: of the keys in their order, as many as the
 *  quotas leave. */
function choose(plan: readonly PlannedKey[], limit: number, found: readonly Candidate[]): Choice {
  const allocation = createAllocation(limit)
  const byNumber = Map.groupBy(found, ({ number }) => number)
  const chosen: Choice = { rows: [], last: new Map(), unreached: new Set(), untouched: new Map(), filled: new Map() }
  const blockerOf = ({ quotas }: PlannedKey) => (allocation.left() <= 0 ? null : allocation.blockedBy(quotas))
  for (const [at, planned] of plan.entries()) {
    const { key, quotas } = planned
    if (allocation.left() <= 0) {
      chosen.unreached.add(key)
      continue
    }
    const blocker = allocation.blockedBy(quotas)
    if (blocker !== null) {
      chosen.untouched.set(key, blocker)
      continue
    }
    const rows = (byNumber.get(at + 1) ?? []).slice(0, Math.max(0, allocation.capacityFor(quotas)))
    chosen.rows.push(...rows)
    for (const { dueAt } of rows) chosen.last.set(key, dueAt)
    allocation.took(quotas, rows.length)
    const filled = blockerOf(planned)
    if (filled !== null) chosen.filled.set(key, filled)
  }
  return chosen
}

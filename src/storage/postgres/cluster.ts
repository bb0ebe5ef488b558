import { StoreUnavailable } from '../errors.ts'
import { type Connection, NoAnswer } from './connection.ts'
import { GROUPS, type History } from './history.ts'
import { faultOf, type InstanceState, setInstanceState } from './instance.ts'
import type { Node } from './nodes.ts'
import type { Places } from './places.ts'
import type { Queries } from './transactions.ts'

/** Interval of beats. */
const BEAT_MS = 250
/** Interval while some node follows events: it sees them once every node has said that it writes none before. */
const FOLLOWED_MS = 50
/** How long a node counts as following after it read events. */
const FOLLOWS_MS = 5_000
/** Beats further apart were interrupted. */
const GAP_MS = 2_000
/** A node that had no beat for this part of the takeover time claims nothing more: others may end it soon. */
const SAFE_PART = 0.8

const BEAT = `update nodes set seen_at = clock_timestamp(), passed = $2::bigint, configuration_version = $3::bigint,
    under_way = $5, follows = $6
  where id = $1 and ended_at is null
  returning (select version from configuration)::float8 as version,
    extract(epoch from clock_timestamp())::float8 * 1000 as time,
    (select min(passed) from nodes o where o.id <> $1 and o.ended_at is null)::float8 as passed,
    (select max(passed) from nodes o where o.id <> $1)::float8 as highest,
    exists (select 1 from nodes o where o.id <> $1 and o.ended_at is null and o.follows) as "isFollowed",
    (select string_agg(id::text, ' ' order by id) from nodes o where o.ended_at is null
      and o.handles_mail and (o.id = $1 or o.seen_at > clock_timestamp() - $4::float8 * interval '1 millisecond')) as live,
    (select string_agg(id::text, ' ') from nodes o where o.ended_at is null and o.draining_at is not null) as draining,
    ${GROUPS} as groups, (select state from instance) as state,
    exists (select 1 from nodes o where o.id <> $1 and o.ended_at is null
      and o.seen_at <= clock_timestamp() - $4::float8 * interval '1 millisecond') as "hasSilent"`
// The node and its lanes at once.
const END_SILENT = `with silent as (
    update nodes set ended_at = clock_timestamp() where ended_at is null and id <> $1
      and seen_at <= clock_timestamp() - $2::float8 * interval '1 millisecond' returning id),
  ended as (
    update lanes set ended_at = clock_timestamp() where ended_at is null and node_id in (select id from silent))
  select count(*)::int as count from silent`
const BEHIND = `select count(*)::int as count from nodes
  where id <> $1 and ended_at is null and configuration_version < $2`

interface Beat {
  version: number
  /** ms UTC. */
  time: number
  passed: number | null
  highest: number | null
  /** Another node follows events. */
  isFollowed: boolean
  /** IDs, separated by spaces; null = none handles mail. */
  live: string | null
  /** The same of the nodes that hand over. */
  draining: string | null
  /** As History.learn. */
  groups: string | null
  state: InstanceState
  hasSilent: boolean
}

/** What a node knows of the others. */
export interface Cluster {
  /** Sends beats until it is closed. Resolves after the first one; rejects with its error. */
  start(): Promise<void>
  /** True while no other node may take this one for dead. */
  isSafe(): boolean
  /** Time since the last beat, ms. */
  silentMs(): number
  /** Place up to which no node writes further events. */
  passed(): number
  /** This node reads events as they happen: beats come more often for a while, also at the other nodes. */
  follow(): void
  /** Whether this node, or another one, follows events. */
  follows(): boolean
  isFollowed(): boolean
  /** Resolves when every other live node has the settings up to this version in memory. A node that does not get there
   *  is ended after the takeover time. */
  settled(version: number): Promise<void>
  close(): Promise<void>
}

export interface ClusterEvents {
  /** The settings have changed. */
  changed(): Promise<void>
  /** After each beat, with the live nodes that handle mail, and those that hand over. */
  beat(liveNodes: readonly number[], draining: ReadonlySet<number>): Promise<void>
  /** This node ended others. */
  tookOver(nodes: number): void
  /** There may be more events up to `passed`. */
  passed(): void
  /** Another node ended this one, or the database went back: it must stop. */
  ended(reason: string): void
  /** As NodeOptions.onTime. */
  time(time: number, tookMs: number): void
}

/** Connections, node and its mail lane's places → Cluster. `takeoverMs`: a node that had no beat for so long is ended
 *  by the others. `nowMs` is a steady clock. `configurationVersion`: what this node has in memory. */
export function createCluster(options: {
  connect: () => Promise<Connection>
  queries: Queries
  node: Node
  places: Places
  takeoverMs: number
  nowMs: () => number
  configurationVersion: () => number
  /** Attempts under way. */
  underWay: () => number
  history: History
  events: ClusterEvents
}): Cluster {
  const { connect, queries, node, places, takeoverMs, nowMs, configurationVersion, underWay, history, events } = options
  let connection: Connection | null = null
  let othersPassed: number | null = null
  let followsUntil = Number.NEGATIVE_INFINITY
  let isFollowed = false
  let beatAt = nowMs()
  let learnedAt = Number.NEGATIVE_INFINITY
  /** Begin of the present row of beats without a gap. */
  let beatingSince = nowMs()
  let timer: ReturnType<typeof setTimeout> | undefined
  let isClosed = false
  let beating: Promise<void> = Promise.resolve()

  const follows = () => nowMs() < followsUntil
  const learn = async ({ version, live, draining, hasSilent }: Beat) => {
    learnedAt = nowMs()
    // Not over this connection: it may wait for a transaction of the silent node.
    // After an outage of the database, every node seems silent to the first that comes back.
    if (hasSilent && nowMs() - beatingSince >= takeoverMs) {
      const [row] = await queries.query<{ count: number }>(END_SILENT, [node.id, takeoverMs])
      if (row !== undefined && row.count > 0) events.tookOver(row.count)
    }
    if (version > configurationVersion()) await events.changed()
    await events.beat(idsIn(live), new Set(idsIn(draining)))
  }
  const beat = async (): Promise<Beat | null> => {
    const sentAt = nowMs()
    connection ??= await connect()
    const values = [node.id, places.passed(), configurationVersion(), takeoverMs, underWay(), follows()]
    const [answer] = await connection.query<Beat>(BEAT, values, takeoverMs).catch((error) => {
      if (error instanceof NoAnswer) connection = null
      throw error
    })
    const end = (reason: string) => {
      isClosed = true
      events.ended(reason)
      return null
    }
    if (answer === undefined) return end('another node ended this one')
    if (!history.learn(answer.groups, nowMs())) {
      await setInstanceState(connection, 'went_back')
      answer.state = 'went_back'
    }
    const fault = faultOf({ state: answer.state, isHere: true })
    if (fault !== null) return end(fault)
    events.time(answer.time, nowMs() - sentAt)
    if (nowMs() - beatAt > GAP_MS) beatingSince = nowMs()
    beatAt = sentAt
    othersPassed = answer.passed
    isFollowed = answer.isFollowed
    if (answer.highest !== null) places.saw(answer.highest)
    events.passed()
    return answer
  }
  /** Beats do not wait for what follows from them: it reads queues, and waits for transactions of silent nodes. */
  let learning: Promise<void> | null = null
  const learnAside = (answer: Beat | null) => {
    if (answer === null || learning !== null || nowMs() - learnedAt < BEAT_MS - FOLLOWED_MS) return
    learning = learn(answer)
      .catch(() => {})
      .then(() => {
        learning = null
      })
  }
  const beatOnce = () => {
    timer = undefined
    // The next beat tries again.
    beating = beat()
      .then(learnAside, () => {})
      .then(loop)
  }
  const loop = () => {
    if (!isClosed) timer = setTimeout(beatOnce, follows() || isFollowed ? FOLLOWED_MS : BEAT_MS)
  }

  return {
    start: async () => {
      const answer = await beat()
      if (answer !== null) await learn(answer)
      loop()
    },
    silentMs: () => nowMs() - beatAt,
    isSafe: () => nowMs() - beatAt < SAFE_PART * takeoverMs,
    passed: () => (othersPassed === null ? places.passed() : Math.min(places.passed(), othersPassed)),
    follow: () => {
      const isFirst = !follows()
      followsUntil = nowMs() + FOLLOWS_MS
      if (!isFirst || timer === undefined || isClosed) return
      clearTimeout(timer)
      beatOnce()
    },
    follows,
    isFollowed: () => isFollowed,
    settled: async (version) => {
      for (const until = nowMs() + 2 * takeoverMs; nowMs() < until; ) {
        const [row] = await queries.query<{ count: number }>(BEHIND, [node.id, version])
        if ((row?.count ?? 0) === 0) return
        await new Promise((resolve) => setTimeout(resolve, 10))
      }
      throw new StoreUnavailable('another node does not respond', { isUncertain: true })
    },
    close: async () => {
      isClosed = true
      clearTimeout(timer)
      await beating
      await learning
      connection?.close()
    },
  }
}

const idsIn = (list: string | null): number[] => list?.split(' ').map(Number) ?? []

import { SQL } from 'bun'
import { isRecord } from '../../os/records.ts'
import { type ConnectionOptions, driverOptions, withinAnswer } from './connection.ts'
import type { DomainAndDestination } from './destinations.ts'

/** Wake-ups between nodes, sent after a commit. They may be lost: every node also looks by itself from time to time. */
export interface WakeUps {
  /** Keys of a queue have something due; the time is ms UTC. `home`: the slot whose
   *  owner it is for, as far as this node knows. Calls are collected. */
  offer(queue: string, key: string, at: number, home: number): void
  /** Domains share the limits of these destinations. */
  destinations(noted: readonly DomainAndDestination[]): void
  /** Events of an organization were written, the last one at this place. Calls are collected. */
  happened(organizationId: string, place: number): void
  /** The settings reached this version. */
  changed(version: number): void
  /** Connects, also again after the connection broke or the server became a standby. */
  check(): Promise<void>
  close(): Promise<void>
}

export interface WakeUpListener {
  offered(queue: string, key: string, at: number, home: number): void
  destinations(noted: readonly DomainAndDestination[]): void
  happened(organizationId: string, place: number): void
  changed(version: number): void
  /** Wake-ups may have been missed. */
  missed(): void
}

const CHANNEL = 'postrider'
/** PostgreSQL refuses payloads of 8,000 bytes. */
const PAYLOAD_MAX = 7_900
const ASK_AGAIN = '*'
const IS_STANDBY = 'select pg_is_in_recovery() as standby'
/** Longest wait for that answer. */
const CHECK_MS = 3_000
const NOTIFY = 'select pg_notify($1, $2)'

/** Listens and notifies over connections of its own, with `options` as for other connections. Connects with `check`. */
export function createWakeUps(options: ConnectionOptions, listener: WakeUpListener): WakeUps {
  let line: SQL | null = null
  let waiting = new Map<string, Offer>()
  let destinations: DomainAndDestination[] = []
  let events = new Map<string, number>()
  let version: number | null = null
  let sending: Promise<void> | null = null
  /** What was to be sent is lost: the others are asked to look. */
  let isLost = false
  let isClosed = false

  /** Opens a line to the first host that accepts writes; null if there is none. */
  const open = async (): Promise<SQL | null> => {
    for (const host of options.address.hosts) {
      // Not reserved: a lost wake-up is harmless, and the driver subscribes again.
      const sql = new SQL({ ...driverOptions(options, host), max: 2 })
      try {
        if (!(await isPrimary(sql))) throw new Error(`${host.host} is a standby`)
        await sql.listen(
          CHANNEL,
          (payload: string) => receive(payload, listener),
          () => listener.missed(),
        )
        return sql
      } catch {
        end(sql)
      }
    }
    return null
  }
  const send = async () => {
    const isAny = () => waiting.size > 0 || destinations.length > 0 || events.size > 0 || version !== null
    while (line !== null && (isLost || isAny())) {
      const content = { offers: [...waiting.values()], destinations, events: [...events], version }
      const payload = isLost ? ASK_AGAIN : payloadOf(content)
      waiting = new Map()
      destinations = []
      events = new Map()
      version = null
      isLost = await line.unsafe(NOTIFY, [CHANNEL, payload]).then(
        () => false,
        () => true,
      )
      if (isLost) break // until the next check
    }
    sending = null
  }
  const begin = () => {
    sending ??= Promise.resolve().then(send)
  }
  return {
    offer: (queue, key, at, home) => {
      const id = `${queue} ${key}`
      const known = waiting.get(id)
      if (known === undefined || at < known[2]) waiting.set(id, [queue, key, at, home])
      begin()
    },
    destinations: (noted) => {
      destinations.push(...noted)
      begin()
    },
    happened: (organizationId, place) => {
      events.set(organizationId, Math.max(place, events.get(organizationId) ?? 0))
      begin()
    },
    changed: (to) => {
      version = Math.max(version ?? 0, to)
      begin()
    },
    check: async () => {
      if (line !== null && (await isPrimary(line).catch(() => false))) {
        if (isLost) begin()
        return
      }
      if (line !== null) end(line)
      line = null
      const opened = await open()
      if (isClosed && opened !== null) end(opened)
      else line = opened
      if (line !== null) begin()
    },
    close: async () => {
      isClosed = true
      await sending
      if (line !== null) end(line)
      line = null
    },
  }
}

async function isPrimary(sql: SQL): Promise<boolean> {
  const [row] = await withinAnswer(sql.unsafe<{ standby: boolean }[]>(IS_STANDBY).execute(), CHECK_MS)
  return row?.standby === false
}

function end(sql: SQL): void {
  sql.close({ timeout: 0 }).catch(() => {})
}

/** Passes a payload on; one that is not ours asks to look again. */
function receive(payload: string, listener: WakeUpListener): void {
  const content = parsed(payload)
  if (content === null) {
    listener.missed()
    return
  }
  listener.destinations(content.destinations)
  for (const [queue, key, at, home] of content.offers) listener.offered(queue, key, at, home)
  for (const [organizationId, place] of content.events) listener.happened(organizationId, place)
  if (content.version !== null) listener.changed(content.version)
}

/** Content → a text that is short enough. Followers of events look by themselves each second. */
function payloadOf(content: Payload): string {
  const texts = [JSON.stringify(content), JSON.stringify({ ...content, events: [] }), ASK_AGAIN]
  return texts.find((text) => Buffer.byteLength(text) <= PAYLOAD_MAX) ?? ASK_AGAIN
}

/** What WakeUps.offer is called with. */
export type Offer = [queue: string, key: string, at: number, home: number]

interface Payload {
  offers: Offer[]
  destinations: DomainAndDestination[]
  events: [organizationId: string, place: number][]
  version: number | null
}

const isListOfLists = (value: unknown) => Array.isArray(value) && value.every(Array.isArray)

function parsed(payload: string): Payload | null {
  try {
    const content: unknown = JSON.parse(payload)
    const { offers, destinations, events } = isRecord(content) ? content : {}
    const isOurs = [offers, destinations, events].every(isListOfLists)
    return isOurs ? (content as unknown as Payload) : null
  } catch {
    return null
  }
}

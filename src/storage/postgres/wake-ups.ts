import { SQL } from 'bun'
import { isRecord } from '../../os/records.ts'
import { isQueueName, type QueueName } from '../mail/queue-tables.ts'
import { type ConnectionOptions, driverOptions, withinAnswer } from './connection.ts'

export interface WakeUpListener {
  offered(offer: Offer): void
  happened(organizationId: string): void
  changed(version: number): void
  /** Wake-ups may have been missed. */
  missed(): void
}

const CHANNEL = 'postrider'
/** PostgreSQL refuses payloads of 8,000 bytes. */
const PAYLOAD_MAX = 7_900
/** Part of it for keys, and of each key the quotes, commas and time. */
const OFFERS_MAX = 6_000
const OFFER_BYTES = 24
/** With more keys, the others are asked to read. */
const OFFERED_MAX = 5_000
const ASK_AGAIN = '*'
const IS_STANDBY = 'select pg_is_in_recovery() as standby'
/** Longest wait for that answer. */
const CHECK_MS = 3_000
const NOTIFY = 'select pg_notify($1, $2)'

/** Wake-ups between nodes, sent after a commit. They may be lost: every node also looks by itself from time to time. */
export class WakeUps {
  readonly #options: ConnectionOptions
  readonly #listener: WakeUpListener
  /** To a server that accepts writes. */
  #line: SQL | null = null
  #waiting = new Map<string, Offer>()
  #events = new Set<string>()
  #version: number | null = null
  #sending: Promise<void> | null = null
  /** What was to be sent is lost: the others are asked to look. */
  #isLost = false
  #isClosed = false

  /** It connects with `check`, with `options` as for other connections. */
  constructor(options: ConnectionOptions, listener: WakeUpListener) {
    this.#options = options
    this.#listener = listener
  }

  /** A key of a queue has something due. Calls are collected. */
  offer(offer: Offer): void {
    const [queue, key, at] = offer
    const id = `${queue} ${key}`
    const known = this.#waiting.get(id)
    if (known === undefined || at < known[2]) this.#waiting.set(id, offer)
    this.#begin()
  }

  /** Events of an organization were written. Calls are collected. */
  happened(organizationId: string): void {
    this.#events.add(organizationId)
    this.#begin()
  }

  /** The settings reached this version. */
  changed(version: number): void {
    this.#version = Math.max(this.#version ?? 0, version)
    this.#begin()
  }

  /** Connects, also again after the connection broke or the server became a standby. */
  async check(): Promise<void> {
    if (this.#line !== null && (await isPrimary(this.#line).catch(() => false))) {
      if (this.#isLost) this.#begin()
      return
    }
    if (this.#line !== null) end(this.#line)
    this.#line = null
    const opened = await this.#open()
    if (this.#isClosed && opened !== null) end(opened)
    else this.#line = opened
    if (this.#line !== null) this.#begin()
  }

  async close(): Promise<void> {
    this.#isClosed = true
    await this.#sending
    if (this.#line !== null) end(this.#line)
    this.#line = null
  }

  /** Opens a line to the first host that accepts writes; null if there is none. */
  async #open(): Promise<SQL | null> {
    for (const host of this.#options.address.hosts) {
      // Not reserved: a lost wake-up is harmless, and the driver subscribes again.
      const sql = new SQL({ ...driverOptions(this.#options, host), max: 2 })
      try {
        if (!(await isPrimary(sql))) throw new Error(`${host.host} is a standby`)
        const listening = sql.listen(
          CHANNEL,
          (payload: string) => receive(payload, this.#listener),
          () => this.#listener.missed(),
        )
        await withinAnswer(listening, CHECK_MS) // the driver tries again without end
        return sql
      } catch {
        end(sql)
      }
    }
    return null
  }

  /** What is collected in one turn of the event loop is sent together. */
  #begin(): void {
    this.#sending ??= Promise.resolve().then(() => this.#send())
  }

  async #send(): Promise<void> {
    const isAny = () => this.#waiting.size > 0 || this.#events.size > 0 || this.#version !== null
    while (this.#line !== null && (this.#isLost || isAny())) {
      this.#isLost ||= this.#waiting.size > OFFERED_MAX
      const content = { offers: takeFirst(this.#waiting), events: [...this.#events], version: this.#version }
      const payload = this.#isLost ? ASK_AGAIN : payloadOf(content)
      if (this.#isLost) this.#waiting.clear()
      this.#events.clear()
      this.#version = null
      this.#isLost = await this.#line.unsafe(NOTIFY, [CHANNEL, payload]).then(
        () => false,
        () => true,
      )
      if (this.#isLost) break // until the next check
    }
    this.#sending = null
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
  for (const [queue, key, at] of content.offers) if (isQueueName(queue)) listener.offered([queue, key, at])
  for (const organizationId of content.events) listener.happened(organizationId)
  if (content.version !== null) listener.changed(content.version)
}

/** Content → a text that is short enough. Followers of events look by themselves each second. */
function payloadOf(content: Payload): string {
  const texts = [JSON.stringify(content), JSON.stringify({ ...content, events: [] }), ASK_AGAIN]
  return texts.find((text) => Buffer.byteLength(text) <= PAYLOAD_MAX) ?? ASK_AGAIN
}

/** A key of a queue has something due at a time, ms UTC. */
export type Offer = readonly [queue: QueueName, key: string, at: number]

/** Takes as many offers as one notification has room for beside the rest. */
function takeFirst(waiting: Map<string, Offer>): Offer[] {
  const taken: Offer[] = []
  let bytes = 0
  for (const [id, offer] of waiting) {
    bytes += Buffer.byteLength(id) + OFFER_BYTES
    if (taken.length > 0 && bytes > OFFERS_MAX) break
    waiting.delete(id)
    taken.push(offer)
  }
  return taken
}

interface Payload {
  offers: (readonly [queue: string, key: string, at: number])[]
  events: string[]
  version: number | null
}

function parsed(payload: string): Payload | null {
  try {
    const content: unknown = JSON.parse(payload)
    const { offers, events } = isRecord(content) ? content : {}
    const isOurs = Array.isArray(offers) && offers.every(Array.isArray) && Array.isArray(events)
    return isOurs ? (content as unknown as Payload) : null
  } catch {
    return null
  }
}

import type { Numbered } from '../mail/inside.ts'
import type { Connection } from './driver.ts'
import type { ForeignChanges } from './foreign.ts'

// A number never comes again, because something may outlive its row: places in the feed, parts of contents.
const ofAll = (table: Numbered) => `select max(coalesce((select seq from sqlite_sequence where name = '${table}'), 0),
  coalesce((select max(number) from ${table}), 0))`
const ofPresent = (table: Numbered) => `select coalesce(max(number), 0) from ${table}`

const LAST: Record<Numbered, string> = {
  messages: ofAll('messages'),
  events: ofAll('events'),
  large_contents: ofAll('large_contents'),
  inbound_raws: ofAll('inbound_raws'),
  inbound_messages: ofAll('inbound_messages'),
  deliveries: ofPresent('deliveries'),
  webhook_deliveries: ofPresent('webhook_deliveries'),
  inbound_deliveries: ofPresent('inbound_deliveries'),
  fan_out_targets: ofPresent('fan_out_targets'),
  claims: ofPresent('claims'),
  reports: ofPresent('reports'),
}

/** The next number of each table. While this process serves the store, only it writes rows with numbers, so that the last
 *  one is known until a transaction is rolled back, or another process wrote. Reading it again for every transaction costs
 *  nine microseconds of a mail that is accepted alone. */
export class Numbers {
  readonly #last: ReadonlyMap<Numbered, { get(): number | undefined }>
  readonly #known = new Map<Numbered, number>()

  constructor(db: Connection, foreign: ForeignChanges) {
    this.#last = new Map(
      Object.entries(LAST).map(([table, text]) => [table as Numbered, db.prepare<unknown[], number>(text).pluck()]), // its keys
    )
    foreign.onChange(() => this.drop())
  }

  next(table: Numbered): number {
    const number = (this.#known.get(table) ?? this.#last.get(table)?.get() ?? 0) + 1
    this.#known.set(table, number)
    return number
  }

  drop(): void {
    this.#known.clear()
  }
}

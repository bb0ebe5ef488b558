import { createHash } from 'node:crypto'
import type { Event } from '../../model/event.ts'
import type { Work } from '../sql.ts'
import { insertInto, writeEach } from './each.ts'

/** Kinds that are remembered. */
const REMEMBERED = 100_000

type Kinded = Pick<Event, 'organizationId' | 'type' | 'mode' | 'domainId'>
type EventKind = Kinded & { kind: number }

const ADD = insertInto<EventKind>(
  'event_kinds',
  {
    organization_id: ['text', ({ organizationId }) => organizationId],
    kind: ['bigint', ({ kind }) => kind],
    type: ['text', ({ type }) => type],
    mode: ['text', ({ mode }) => mode],
    domain_id: ['text', ({ domainId }) => domainId ?? ''],
  },
  'on conflict do nothing',
)

/** What a list of events can filter by besides the message and the time, as one number of an event, which an index
 *  contains: a list reads no events of other kinds. */
export class EventKinds {
  readonly #numbers = new Map<string, number>()
  readonly #written = new Set<number>()

  /** The kind of a new event. */
  of({ organizationId, type, mode, domainId }: Kinded): number {
    const name = `${organizationId} ${type} ${mode} ${domainId}`
    const known = this.#numbers.get(name)
    if (known !== undefined) return known
    if (this.#numbers.size >= REMEMBERED) this.#numbers.clear()
    const kind = numberOf(name)
    this.#numbers.set(name, kind)
    return kind
  }

  /** Writes the kinds of new events. `afterCommit`: as in MailInside. */
  *write(events: readonly Kinded[], afterCommit: (work: () => void) => void): Work<void> {
    let fresh: Map<number, EventKind> | null = null
    for (const event of events) {
      const kind = this.of(event)
      if (this.#written.has(kind)) continue
      fresh ??= new Map()
      fresh.set(kind, { ...event, kind })
    }
    if (fresh === null) return
    const kinds = [...fresh.values()].sort((one, other) => one.kind - other.kind)
    // In this order, so that two groups do not wait for each other.
    yield* writeEach(ADD, kinds)
    afterCommit(() => {
      if (this.#written.size >= REMEMBERED) this.#written.clear()
      for (const { kind } of kinds) this.#written.add(kind)
    })
  }

  /** What was written may have been rolled back, or removed. */
  drop(): void {
    this.#written.clear()
  }
}

/** 48 bits of SHA-256. Two kinds may have the same number, so a match must be verified. */
function numberOf(name: string): number {
  return createHash('sha256').update(name).digest().readUIntBE(0, 6)
}

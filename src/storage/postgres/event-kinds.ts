import { createHash } from 'node:crypto'
import type { Event } from '../../model/event.ts'
import { insertInto } from './insert.ts'
import type { Statements } from './transactions.ts'

/** Kinds that are remembered as written. */
const REMEMBERED = 100_000

const addKinds = insertInto<EventKind>(
  'event_kinds',
  {
    organization_id: ['text', ({ organizationId }) => organizationId],
    kind: ['bigint', ({ kind }) => kind],
    type: ['text', ({ type }) => type],
    mode: ['text', ({ mode }) => mode],
    domain_id: ['text', ({ domainId }) => domainId],
  },
  'on conflict do nothing',
)

type Kinded = Pick<Event, 'organizationId' | 'type' | 'mode' | 'domainId'>
type EventKind = Kinded & { kind: number }

/** What a list of events can filter by besides the message and the time, as one number of an event, which an index
 *  contains: a list reads no events of other kinds. It costs 80 bytes of WAL an event; an index of organization and
 *  type alone would cost 200. */
export interface EventKinds {
  /** A group begins. */
  begin(): {
    /** The kind of a new event. */
    kindOf(event: Kinded): number
    /** Sends the statement that writes new kinds. */
    write(statements: Statements): Promise<unknown>
    /** They are written. */
    committed(): void
  }
}

export function createEventKinds(): EventKinds {
  const written = new Map<string, number>()
  return {
    begin: () => {
      const fresh = new Map<string, EventKind>()
      return {
        kindOf: (event) => {
          const { organizationId, type, mode, domainId } = event
          const name = `${organizationId} ${type} ${mode} ${domainId}`
          const known = written.get(name) ?? fresh.get(name)?.kind
          if (known !== undefined) return known
          const kind = numberOf(name)
          fresh.set(name, { organizationId, type, mode, domainId, kind })
          return kind
        },
        // In this order, so that two groups do not wait for each other.
        write: (statements) =>
          addKinds(
            statements,
            [...fresh.values()].sort((one, other) => one.kind - other.kind),
          ),
        committed: () => {
          if (written.size > REMEMBERED) written.clear()
          for (const [name, { kind }] of fresh) written.set(name, kind)
        },
      }
    },
  }
}

/** 48 bits of SHA-256. Two kinds may have the same number, so a match must be verified. */
function numberOf(name: string): number {
  return createHash('sha256').update(name).digest().readUIntBE(0, 6)
}

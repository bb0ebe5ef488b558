import { type ErasedCounts, type Erasure, NOTHING_ERASED, type RemainingPlace } from '../model/erasure.ts'
import type { MailInside } from './mail/inside.ts'
import type { Work } from './sql.ts'

/** Records of one step. It ends earlier when its time is up. */
export const ERASED_AT_ONCE = {
  /** A message has at most fifty recipients. */
  messages: 10,
  events: 100,
  inbound: 10,
  /** Records of inbound messages that only list the address as a target that did not get them. */
  notForwarded: 100,
  /** A stored response of a batch has a hundred kilobytes. */
  responses: 20,
  unsubscribables: 200,
}
/** Routes that are searched for the address. */
export const ROUTES_MAX = 1000
/** Places that the record of an erasure lists. */
const REMAINING_MAX = 100

/** How long an erasure pauses that could not erase everything yet. */
export const ERASURE_PAUSE_MS = 30_000

/** Result of a step: where the next one continues, null at the end; and what this one removed. */
export interface ErasureStep {
  after: string | null
  removed?: Partial<Erasure['removed']>
  /** Something has to wait: all steps run again later. */
  isWaiting?: boolean
  /** The places that still name the address. */
  remaining?: Erasure['remaining']
}

/** A row of `erasures`; `removed` and `remaining` are JSON. */
export type ErasureRow = Omit<Erasure, 'removed' | 'remaining'> & { removed: string; remaining: string }

/** A running one: its address encrypted, and the step that follows. */
export type ErasureJobRow = ErasureRow & {
  address: Uint8Array
  step: number
  after: string
  isWaiting: boolean | number
}

/** An erasure in progress, for one of its steps. */
export interface ErasureJob {
  organizationId: string
  /** Folded. */
  address: string
  addressHash: string
  createdAt: number
  now: number
  /** Something could not be erased yet: all steps run again later. */
  isWaiting: boolean
  removed: ErasedCounts
  /** Asked when a step begins and after each record. */
  timeIsUp: () => boolean
}

/** One kind of record: erases some. `after` is where the last step ended, '' at the beginning; the result says where this
 *  one ended. */
export type ErasureWork = (inside: MailInside, job: ErasureJob, after: string) => Work<ErasureStep>

export const toErasure = (row: ErasureRow): Erasure => ({
  id: row.id,
  organizationId: row.organizationId,
  addressHash: row.addressHash,
  createdAt: row.createdAt,
  finishedAt: row.finishedAt,
  removed: JSON.parse(row.removed),
  remaining: JSON.parse(row.remaining),
})

/** Row, its decrypted address and the time → the job of its next step. */
export const toJob = (row: ErasureJobRow, address: string, now: number, timeIsUp: () => boolean): ErasureJob => ({
  organizationId: row.organizationId,
  address,
  addressHash: row.addressHash,
  createdAt: row.createdAt,
  now,
  isWaiting: Boolean(row.isWaiting),
  removed: JSON.parse(row.removed),
  timeIsUp,
})

/** Columns of a row that follow from a step. */
export interface ErasureProgress {
  step: number
  after: string
  isWaiting: boolean
  nextAt: number
  finishedAt: number | null
  /** JSON, both. */
  removed: string
  remaining: string
}

/** Step that performs the first one again and no other while that has to wait, because the others read all events. */
const LOOKS_AGAIN = -1

/** Step of a row → its place in the list of works. */
export const placeOfStep = (step: number) => (step === LOOKS_AGAIN ? 0 : step)

/** Says where a row continues, from the result of its step (null: there is no such step) and the number of steps. */
export function progressOf(
  row: ErasureJobRow,
  done: ErasureStep | null,
  { steps, now }: { steps: number; now: number },
): ErasureProgress {
  const { after = null, removed = {}, isWaiting = false, remaining } = done ?? {}
  const at = {
    step: row.step,
    after: after ?? '',
    isWaiting: Boolean(row.isWaiting) || isWaiting,
    nextAt: now,
    finishedAt: null,
    removed: withRemoved(row.removed, removed),
    remaining: remaining === undefined ? row.remaining : JSON.stringify(remaining.slice(0, REMAINING_MAX)),
  }
  if (after !== null) return at
  if (at.isWaiting && (row.step === LOOKS_AGAIN || row.step + 1 === steps)) {
    return { ...at, step: LOOKS_AGAIN, isWaiting: false, nextAt: now + ERASURE_PAUSE_MS }
  }
  const next = placeOfStep(row.step) + 1
  if (next < steps) return { ...at, step: next }
  return { ...at, finishedAt: now }
}

/** What an erasure removed so far (JSON), and what a step removed → both, as JSON. */
function withRemoved(removed: string, more: Partial<ErasedCounts>): string {
  const sum: ErasedCounts = { ...JSON.parse(removed) }
  for (const name of Object.keys(NOTHING_ERASED) as (keyof ErasedCounts)[]) sum[name] += more[name] ?? 0
  return JSON.stringify(sum)
}

/** ID of an erasure → what its encrypted address is bound to (Encryption). */
export const placeOfAddress = (id: string) => `erasures ${id}`

/** An inbound route, for the places that an erasure leaves. `config` is JSON. */
export interface RouteTexts {
  id: string
  name: string
  value: string | null
  config: string
}

/** Routes of an organization and what tells whether a text names the address → IDs of those that name it. */
export function routesNaming(routes: readonly RouteTexts[], names: (text: string) => boolean): string[] {
  return routes.filter(({ name, value, config }) => names(`${name}\n${value ?? ''}\n${config}`)).map(({ id }) => id)
}

/** IDs of the records that name the address → the places that remain. */
export function remainingPlaces(found: {
  users: readonly string[]
  invitations: readonly string[]
  routes: readonly string[]
  isTarget: boolean
}): RemainingPlace[] {
  const of = (type: RemainingPlace['type'], ids: readonly (string | null)[]) => ids.map((id) => ({ type, id }))
  return [
    ...of('user', found.users),
    ...of('invitation', found.invitations),
    ...of('forward_target', found.isTarget ? [null] : []),
    ...of('inbound_route', found.routes),
  ]
}

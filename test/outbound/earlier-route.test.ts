import { afterEach, expect, test } from 'bun:test'
import type { Attempt, Outcome } from '../../src/model/delivery.ts'
import { earlierRoute } from '../../src/sending/outbound/relays/earlier-route.ts'
import type { Store } from '../../src/storage/store.ts'
import { accept, attempt, claim, createRecords, found, recordOf, START, WORKER } from '../storage/records.ts'
import { openMemoryStore } from '../support/migrated-store.ts'

/** Which route a delivery keeps after attempts that a server may have accepted; the store is real. */

const CAUSE = { class: 'network', rule: 'timeout:content' }
const REFUSED: Outcome = { kind: 'deferred', code: '4.3.0', message: 'busy', aboutRecipient: false, cause: CAUSE }
const UNKNOWN: Outcome = { kind: 'unknown', code: '4.4.2', message: 'lost', cause: CAUSE }
const HOUR = 3_600_000

let store: Store
let now: number
afterEach(() => store.close())

async function open() {
  now = START
  store = await openMemoryStore()
  const records = createRecords()
  await found(store, records)
  await accept(store, records.accepted())
}

/** The next attempt as the engine makes it: through the relay or directly (null); `outcome` null: the process ends during
 *  it → the route that the delivery keeps before the attempt. */
async function next(relay: string | null, outcome: Outcome | null) {
  now += HOUR
  const [claimed] = await claim(store, { now })
  const earlier = await earlierRoute(claimed!.delivery, store)
  const { id, attempts: number } = claimed!.delivery
  if (relay !== null) await store.relays.begin(id, { attempt: number, relay, now })
  if (outcome === null) {
    await store.deliveries.endLeases(WORKER, new Set(), now)
    return earlier
  }
  const use: Pick<Attempt, 'relay'> =
    relay === null ? {} : { relay: { name: relay, rule: 1, because: 'direct_failing' } }
  const made = attempt({ number, outcome: outcome.kind, ...use })
  await store.deliveries.record(recordOf(claimed!, outcome, { attempt: made, nextAttemptAt: now }))
  return earlier
}

test('an attempt through a relay that left no record keeps that relay, whatever later attempts through it showed', async () => {
  await open()
  expect(await next(null, REFUSED)).toBeNull()
  expect(await next('one', null)).toBeNull()
  expect(await next('one', REFUSED)).toEqual({ relay: 'one' })
  expect(await next('one', REFUSED)).toEqual({ relay: 'one' })
  expect(await next('one', REFUSED)).toEqual({ relay: 'one' })
})

test('a direct attempt that left no record keeps the direct route, also after a relay refused the mail before', async () => {
  await open()
  expect(await next('one', REFUSED)).toBeNull()
  expect(await next(null, null)).toBeNull()
  expect(await next(null, REFUSED)).toEqual({ relay: null })
  expect(await next(null, REFUSED)).toEqual({ relay: null })
})

test('the first uncertain attempt decides, and known refusals decide nothing', async () => {
  await open()
  expect(await next(null, REFUSED)).toBeNull()
  expect(await next('one', UNKNOWN)).toBeNull()
  expect(await next(null, UNKNOWN)).toEqual({ relay: 'one' })
  expect(await next('one', REFUSED)).toEqual({ relay: 'one' })
})

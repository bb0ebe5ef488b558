import { openStore } from '../../../src/storage/sqlite/open.ts'
import { claimDue } from '../../../test/support/claim.ts'
import { DAY_MS } from './dataset.ts'
import type { Seeded } from './seed.ts'

const ROUNDS = 200

/** The server's own store on the seeded data: how long it takes to open, and a claim of one delivery, commit
 *  included, when a part of the queue is due, and all of it may start or half of the destinations have no capacity.
 *  The claimed delivery is returned. → milliseconds. */
export async function timeClaims(dataDir: string, { seededAt }: Seeded, areHalfFull: boolean) {
  const openedAt = performance.now()
  const store = await openStore({ dataDir, now: Date.now() })
  const openMs = performance.now() - openedAt
  // In three days, a fifth of the queue is due.
  const now = seededAt + 3 * DAY_MS
  const freeFor = (queue: string) => (areHalfFull && queue.length % 2 === 0 ? 0 : 20)
  const timesMs: number[] = []
  const claims = []
  for (let round = 0; round < ROUNDS; round++) {
    const startedAt = performance.now()
    const claimed = await claimDue(store.deliveries, { now, limit: 1, worker: 'bench', freeFor })
    timesMs.push(performance.now() - startedAt)
    claims.push(...claimed)
  }
  await store.deliveries.release(
    claims.map(({ delivery }) => ({ id: delivery.id, attempt: delivery.attempts, worker: 'bench' })),
    now,
  )
  await store.close()
  if (claims.length !== ROUNDS) throw new Error(`claimed ${claims.length} of ${ROUNDS}`)
  const [first, ...rest] = timesMs
  rest.sort((a, b) => a - b)
  return { openMs, firstMs: first!, medianMs: rest[ROUNDS >> 1]!, p95Ms: rest[Math.floor(ROUNDS * 0.95)]! }
}

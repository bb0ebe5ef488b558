import type { StoredRest } from '../../../model/address-rest.ts'
import type { WallClock } from '../../../os/clock.ts'
import { wallTimeOf } from '../../../os/clock-changes.ts'
import type { Log } from '../../../os/log.ts'
import type { Store } from '../../../storage/store.ts'

/** The rests of sending addresses beyond a restart. Times are those of the steady clock. */
export interface StoredRests {
  /** What was stored at the start, the oldest first. */
  known: readonly StoredRest[]
  /** A rest began, or became longer. Returns at once; changes are collected while one is being written. */
  begun(rest: StoredRest): void
  /** The destination accepts mail from the address again. */
  ended(rest: StoredRest): void
  /** Resolves when all changes are written. Never rejects. */
  settled(): Promise<void>
}

/** A rest that ended so long ago counts as a first one again. */
const FORGOTTEN_MS = 7 * 24 * 3_600_000

/** Reads what is stored, up to `limit` rests, and removes what ended long ago. A change that cannot be written is logged
 *  and dropped: after a restart, the address is tried once more. Rejects as the store does. */
export async function openStoredRests(
  { store, clock, log }: { store: Pick<Store, 'addressRests'>; clock: WallClock; log: Log },
  limit: number,
): Promise<StoredRests> {
  const { addressRests } = store
  const longAgo = clock.now() - FORGOTTEN_MS
  await addressRests.removeBefore(longAgo)
  const stored = await addressRests.endingAfter(longAgo, limit)
  const aheadMs = clock.now() - clock.steady.now()
  const onWallClock = (rest: StoredRest): StoredRest => ({
    ...rest,
    since: Math.round(wallTimeOf(clock, rest.since)),
    until: Math.round(wallTimeOf(clock, rest.until)),
  })
  let waiting = new Map<string, { rest: StoredRest; hasEnded: boolean }>()
  let writing: Promise<void> | null = null

  const write = async () => {
    while (waiting.size > 0) {
      const changes = [...waiting.values()]
      waiting = new Map()
      const begun = changes.flatMap(({ rest, hasEnded }) => (hasEnded ? [] : [onWallClock(rest)]))
      const ended = changes.flatMap(({ rest, hasEnded }) => (hasEnded ? [rest] : []))
      await addressRests.change(begun, ended).catch((error) => log.warn('rests of addresses not stored', { error }))
    }
    writing = null
  }
  const changed = (rest: StoredRest, hasEnded: boolean) => {
    waiting.set(`${rest.destination} ${rest.address}`, { rest, hasEnded })
    writing ??= Promise.resolve().then(write)
  }
  return {
    known: stored.reverse().map((rest) => ({ ...rest, since: rest.since - aheadMs, until: rest.until - aheadMs })),
    begun: (rest) => changed(rest, false),
    ended: (rest) => changed(rest, true),
    settled: async () => {
      await writing
    },
  }
}

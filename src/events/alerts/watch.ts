import { type Alert, alertTitle } from '../../model/alert.ts'
import type { Log } from '../../os/log.ts'
import type { Store } from '../../storage/store.ts'
import { type Change, judge } from './judge.ts'
import type { Source } from './sources.ts'

/** Opens and ends alerts. */
export interface AlertWatch {
  /** Asks every source; does nothing during another call. Never rejects. */
  look(now: number): Promise<void>
  /** Firing alerts as of the last call. */
  firing(): readonly Alert[]
}

/** Creates AlertWatch from its sources. A source that fails is logged and stops no other; what it would have found
 *  stays as it is. */
export function createAlertWatch(deps: {
  alerts: Store['alerts']
  sources: readonly Source[]
  mintId: () => string
  log: Log
}): AlertWatch {
  const { alerts, sources, mintId, log } = deps
  let isLooking = false
  let firing: readonly Alert[] = []

  const apply = async ({ was, next }: Change) => {
    if (next === null) return was === null ? undefined : alerts.drop(was.id)
    if (was !== null && !isWorthWriting(was, next)) return
    // Another node may have been first.
    if (!(await alerts.save(next, was?.state ?? null)) || next.state === was?.state) return
    const facts = { alert: next.id, kind: next.kind, about: alertTitle(next), found: next.message }
    if (next.state === 'firing') log.warn('alert raised', facts)
    if (next.state === 'resolved') log.info('alert resolved', facts)
  }
  const ask = async (source: Source, now: number) => {
    for (const look of await source(now, await alerts.open())) {
      for (const change of judge(await alerts.open(), look, mintId)) await apply(change)
    }
  }
  return {
    firing: () => firing,
    look: async (now) => {
      if (isLooking) return
      isLooking = true
      try {
        for (const source of sources) {
          await ask(source, now).catch((error) => log.error('source of alerts failed', { error }))
        }
        firing = (await alerts.open()).filter(({ state }) => state === 'firing')
      } catch (error) {
        log.error('alerts failed', { error })
      } finally {
        isLooking = false
      }
    },
  }
}

/** True unless an open alert was merely seen again a moment later. */
function isWorthWriting(was: Alert, next: Alert): boolean {
  if (next.lastSeenAt - was.lastSeenAt >= SEEN_MS) return true
  const { lastSeenAt: _, ...before } = was
  const { lastSeenAt: __, ...after } = next
  return JSON.stringify(before) !== JSON.stringify(after)
}

const SEEN_MS = 10 * 60_000

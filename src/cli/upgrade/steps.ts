import { existsSync } from 'node:fs'
import { type Config, nodeName } from '../../config/load.ts'
import { systemClock } from '../../os/clock.ts'
import { messageOf } from '../../os/thrown.ts'
import { storeBack } from './go-back.ts'
import { type Journal, writeJournal } from './journal.ts'
import type { Place } from './place.ts'
import { readiness, untilReady } from './ready.ts'
import { runWell } from './run.ts'
import { type Service, serviceOf } from './service.ts'
import { isPostgres, opensStore } from './store.ts'
import { swapBack, swapIn } from './swap.ts'

/** How an upgrade ended. */
export interface Ended {
  result: 'done' | 'rolled_back' | 'kept'
  /** Why it did not succeed; '' if it did. */
  reason: string
  /** Database of the new version that was moved aside; null if there is none. */
  newer: string | null
  /** From the restart until it was ready; null if nothing was restarted. */
  readyMs: number | null
}

interface Context {
  place: Place
  config: Config
  say: (line: string) => void
}

/** Does what a journal says, from its state to the end. Each step can be repeated, so a killed upgrade continues here. Throws
 *  CommandFailure if a step cannot be done; the journal then stays as it is. */
export async function takeSteps(journal: Journal, context: Context): Promise<Ended> {
  const { place, config, say } = context
  let at = journal
  const goTo = (state: Journal['state'], reason = '') => {
    at = writeJournal(place, { ...at, state, reason })
  }
  if (at.state === 'swap') {
    const fault = await replace(at, context).then(
      () => null,
      (error: unknown) => messageOf(error),
    )
    if (fault === null) say(`replaced ${place.program}; the old program is ${place.previous}`)
    goTo(fault === null ? 'start' : 'back', fault ?? '')
  }
  if (at.state === 'start') {
    if (at.service === null) return { result: 'done', reason: '', newer: null, readyMs: null }
    const begunAt = systemClock.steady.now()
    const reason = await startNew(at, serviceOf(at.service), config)
    const readyMs = systemClock.steady.now() - begunAt
    if (reason === null) return { result: 'done', reason: '', newer: null, readyMs }
    say(`${at.to} is not ready: ${reason}`)
    goTo('back', reason)
  }
  return goBack(at, context)
}

async function replace(journal: Journal, { place, config, say }: Context): Promise<void> {
  if (isPostgres(config) && journal.service !== null) {
    const name = nodeName(config)
    say(`draining node ${name}`)
    const program = (await opensStore(config)) || !existsSync(place.staged) ? process.execPath : place.staged
    await runWell('node drain', [program, 'node', 'drain', name, '--config', journal.config])
  }
  await swapIn(place, journal)
}

async function startNew(journal: Journal, service: Service, config: Config): Promise<string | null> {
  if ((await readiness(config, journal.to)) === null) return null
  const limitMs = journal.ready_within_seconds * 1000
  const since = systemClock.steady.now()
  return (await service.restart(limitMs)) ?? (await untilReady(config, journal.to, { since, limitMs }))
}

/** The database goes back before the program: until then, a start finds a pair that fits. */
async function goBack(journal: Journal, { place, config, say }: Context): Promise<Ended> {
  const service = journal.service === null ? null : serviceOf(journal.service)
  const { reason, ready_within_seconds: seconds } = journal
  say(`going back to ${journal.from}`)
  const stopFault = (await service?.stop()) ?? null
  if (stopFault !== null) say(stopFault)
  const store = await storeBack(config, journal.schema)
  if ('fault' in store) {
    const startFault = (await service?.start(seconds * 1000)) ?? null
    if (startFault !== null) say(startFault)
    return {
      result: 'kept',
      reason: `${reason}\n${journal.to} stays, because ${store.fault}.`,
      newer: null,
      readyMs: null,
    }
  }
  await swapBack(place, journal)
  const ended: Ended = { result: 'rolled_back', reason, newer: store.newer, readyMs: null }
  if (service === null) return ended
  const begunAt = systemClock.steady.now()
  const limitMs = seconds * 1000
  const startFault = await service.start(limitMs)
  const notReady = startFault ?? (await untilReady(config, journal.from, { since: begunAt, limitMs }))
  if (notReady !== null) return { ...ended, reason: `${reason}\n${journal.from} is back, but not ready: ${notReady}` }
  return { ...ended, readyMs: systemClock.steady.now() - begunAt }
}

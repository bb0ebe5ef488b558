import { type Config, publicUrlAt, type Setting } from '../config/load.ts'
import { createMetrics, type Metrics } from '../operating/metrics/metrics.ts'
import { systemClock, type WallClock } from '../os/clock.ts'
import { type Descriptors, systemDescriptors } from '../os/descriptors.ts'
import { createFollowingClock } from '../os/following-clock.ts'
import { createMintId, type MintId } from '../os/ids.ts'
import type { Log } from '../os/log.ts'
import { createMailLog, type MailLog } from '../os/mail-log.ts'
import { createMemory, type Memory } from '../os/memory.ts'
import { memoryLimit } from '../os/memory-limit.ts'
import { createNotifier, type Notifier } from '../os/notifier.ts'
import { type Random, systemRandom } from '../os/random.ts'
import { type ResourceLimits, resourceLimits } from './limits.ts'

/** Steps that undo what was opened so far, in the order of opening. A failed start runs them last to first. */
export type Rollback = (() => unknown)[]

export async function runRollback(rollback: Rollback): Promise<void> {
  for (const step of rollback.reverse()) await step()
}

export interface StartOptions {
  log: Log
  /** The configuration keys with their sources, shown to the operator; empty by default. */
  settings?: () => readonly Setting[]
  /** The packed manual (web/manual/bundle.ts), read at the first request. */
  manual: () => Promise<Uint8Array>
  clock?: WallClock
  random?: Random
  /** Another node ended this one: the process must end at once. */
  onReplaced?: () => void
  /** Overrides how long a job may occupy its thread. */
  computeMs?: number
}

/** What every part of the server uses: the machine, and where parts report. */
export interface Base {
  log: Log
  manual: StartOptions['manual']
  settings: () => readonly Setting[]
  clock: WallClock
  random: Random
  mintId: MintId
  memory: Memory
  metrics: Metrics
  mailLog: MailLog
  descriptors: Descriptors
  limits: ResourceLimits
  notifier: Notifier
  /** Public URL at the time of the call. Links in mail start with it. */
  publicUrl: () => string
  /** Sets the public URL by the addresses of the listeners, unless the config says it. */
  setListening: (at: Parameters<typeof publicUrlAt>[1]) => void
  /** The database's time, as NodeOptions.onTime. */
  onTime: (time: number, tookMs: number) => void
  onReplaced: () => void
  /** Overrides how long a job may occupy its thread. */
  computeMs: number | undefined
  /** Receives the steps that close what is opened, also if opening fails. */
  rollback: Rollback
}

export function createBase(config: Config, options: StartOptions, rollback: Rollback): Base {
  const { log, settings = () => [], random = systemRandom } = options
  const following = createFollowingClock(systemClock)
  // Nodes take the time from their database.
  const { clock = config.database.url === '' ? systemClock : following } = options
  const memory = createMemory({
    limitBytes: config.limits.memoryBytes || memoryLimit(),
    largestMailBytes: config.limits.messageBytes,
    clock: clock.steady,
  })
  const metrics = createMetrics({
    allowedNetworks: config.metrics.allowedNetworks,
    dataDir: config.dataDir,
    startedAt: clock.now(),
    now: clock.now,
    memory,
  })
  const descriptors = systemDescriptors()
  let publicUrl = config.http.publicUrl
  return {
    log,
    manual: options.manual,
    settings,
    clock,
    random,
    mintId: createMintId(clock, random),
    memory,
    metrics,
    mailLog: metrics.mail(createMailLog(log)),
    descriptors,
    limits: resourceLimits(config, descriptors.limit),
    notifier: createNotifier(clock.sleep),
    publicUrl: () => publicUrl,
    setListening: (at) => {
      publicUrl = publicUrlAt(config, at)
    },
    onTime: following.follow,
    onReplaced: options.onReplaced ?? (() => {}),
    computeMs: options.computeMs,
    rollback,
  }
}

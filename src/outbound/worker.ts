import { systemClock } from '../platform/clock.ts'
import { createCollector } from '../platform/collector.ts'
import { systemRandom } from '../platform/random.ts'
import { createResolver } from '../platform/resolver.ts'
import { createAttempter } from './attempt.ts'
import { createGate } from './gate.ts'
import type { AttemptJob, AttemptResult, FromWorker, ToWorker, WorkerSettings } from './job.ts'
import { createPreparer } from './prepare.ts'
import { createSignRsa } from './system-rsa.ts'
import { createTaken } from './taken.ts'
import { timeoutsWithin } from './timeouts.ts'
import { createTransport } from './transport.ts'

/** Sends one message to the main thread; `transfer` hands buffers over without copying. */
type Post = (message: FromWorker, transfer?: ArrayBuffer[]) => void

/** A delivery thread: jobs in, results out in batches. Many deliveries at once, but per site no more than have a
 *  connection, and a few that wait for one composed and signed. What a server has taken is noted at once (taken.ts); where it
 *  cannot be, the mail keeps its place until the store knows of it, so that few come twice after a kill. A bug in a job
 *  defers that job; an error outside any job ends the thread, and main starts another (workers.ts). Answers every message;
 *  `attempt` before `start` throws. */
function createWorkerDesk(post: Post): (message: ToWorker) => void {
  let room: ReturnType<typeof openRoom> | null = null
  return (message) => {
    if (message.kind === 'start') {
      room = openRoom(message.settings, post)
      return post({ kind: 'ready' })
    }
    if (room === null) throw new Error('a worker must be started before it is given work')
    switch (message.kind) {
      case 'attempt':
        return room.attempt(message.jobs)
      case 'written':
        return room.written(message.deliveryIds)
      case 'compose':
        return room.compose(message)
      case 'stop':
        return void room.stop().then(() => post({ kind: 'stopped' }))
    }
  }
}

/** Mails of one site that are composed and signed before a connection is free for them. */
const AHEAD = 4
/** With so few under way a result is not held back to share a message with others. */
const FEW = 4
const BATCH_MS = 5
/** What mails from this size on leave behind is worth collecting, once so many bytes of them were worked on. */
const LARGE_BYTES = 2 ** 20
const LOOSE_BYTES = 16 * 2 ** 20

function openRoom(settings: WorkerSettings, post: Post) {
  const resolver = createResolver({
    servers: settings.dnsServers,
    trustedServers: settings.trustedDnsServers,
    clock: systemClock,
    random: systemRandom,
  })
  const { hostname, sourceAddress, idleSessions: maxIdle } = settings
  const timeouts = timeoutsWithin(settings.longestWaitMs)
  const transport = createTransport({ hostname, sourceAddress, timeouts, maxIdle })
  const preparer = createPreparer(createSignRsa(() => performance.now()))
  const lanes = createGate()
  const letGo = createCollector(LOOSE_BYTES)
  /** Deliveries whose place at their site is held. */
  const held = new Map<string, string>()
  const taken = createTaken(settings.taken.folder, settings.taken.worker)
  const attempt = createAttempter({
    settings,
    clock: systemClock,
    random: systemRandom,
    resolver,
    preparer,
    transport,
    timeouts,
    onBug: ({ deliveryId, messageId }, error) => post({ kind: 'bug', deliveryId, messageId, error: textOf(error) }),
  })

  let underWay = 0
  let results: AttemptResult[] = []
  let flushPlanned = false
  let whenEmpty: (() => void) | null = null

  const flush = () => {
    flushPlanned = false
    if (results.length > 0) post({ kind: 'results', results })
    results = []
    if (underWay === 0) whenEmpty?.()
  }
  const planFlush = () => {
    if (flushPlanned) return
    flushPlanned = true
    if (underWay <= FEW) setImmediate(flush)
    else setTimeout(flush, BATCH_MS)
  }
  /** The death of the process would not send it again. */
  const isSafe = ({ sandbox }: AttemptJob, { deliveryId, outcome, attempt }: AttemptResult) =>
    outcome.kind !== 'delivered' || sandbox || taken.note({ deliveryId, outcome, attempt })
  const run = async (job: AttemptJob) => {
    const { site: lane, connections } = job.way
    const place = lanes.enter(lane, connections + AHEAD)
    if (place !== undefined) await place
    const sizeBytes = job.content.byteLength
    const result = await attempt(job)
    if (sizeBytes >= LARGE_BYTES) letGo(sizeBytes)
    if (isSafe(job, result)) lanes.leave(lane)
    else held.set(job.deliveryId, lane)
    results.push(result)
    underWay--
    planFlush()
  }

  return {
    attempt(jobs: readonly AttemptJob[]) {
      underWay += jobs.length
      for (const job of jobs) void run(job)
    },
    written(deliveryIds: readonly string[]) {
      taken.forget(deliveryIds)
      for (const id of deliveryIds) {
        const lane = held.get(id)
        if (lane !== undefined && held.delete(id)) lanes.leave(lane)
      }
    },
    compose({ requestId, ...job }: Extract<ToWorker, { kind: 'compose' }>) {
      let raw: Uint8Array<ArrayBuffer>
      try {
        raw = joined(preparer.prepareNow(job))
      } catch (error) {
        return post({ kind: 'composed', requestId, raw: null, error: textOf(error) })
      }
      const sizeBytes = raw.byteLength
      post({ kind: 'composed', requestId, raw, error: null }, [raw.buffer])
      if (sizeBytes >= LARGE_BYTES) letGo(sizeBytes)
    },
    async stop() {
      if (underWay > 0 || results.length > 0) {
        await new Promise<void>((resolve) => {
          whenEmpty = resolve
        })
      }
      await transport.stop()
      resolver.close()
      taken.close()
    },
  }
}

/** In a buffer of its own, which can be handed to another thread. */
function joined(parts: readonly Uint8Array[]): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(parts.reduce((sum, part) => sum + part.byteLength, 0))
  let at = 0
  for (const part of parts) {
    bytes.set(part, at)
    at += part.byteLength
  }
  return bytes
}

const textOf = (error: unknown) => (error instanceof Error ? (error.stack ?? error.message) : String(error))

declare const self: Worker

if (!Bun.isMainThread) {
  const answer = createWorkerDesk((message, transfer) => self.postMessage(message, transfer ?? []))
  self.onmessage = (event: MessageEvent<ToWorker>) => answer(event.data)
}

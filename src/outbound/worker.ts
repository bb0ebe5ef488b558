import { systemClock } from '../platform/clock.ts'
import { createCollector } from '../platform/collector.ts'
import { systemRandom } from '../platform/random.ts'
import { createResolver } from '../platform/resolver.ts'
import { createAttempter } from './attempt.ts'
import { createGate } from './gate.ts'
import type { AttemptJob, AttemptResult, FromWorker, ToWorker, WorkerSettings } from './job.ts'
import { createPreparer } from './prepare.ts'
import { createSignRsa } from './system-rsa.ts'
import { TIMEOUTS } from './timeouts.ts'
import { createTransport } from './transport.ts'

/** Sends one message to the main thread; `transfer` hands buffers over without copying. */
type Post = (message: FromWorker, transfer?: ArrayBuffer[]) => void

/** A delivery thread: jobs in, results out in batches. Many deliveries at once, but per site no more than have a
 *  connection, and a few that wait for one composed and signed. A bug in a job defers that job; an error outside any job
 *  ends the thread, and main starts another (workers.ts). Answers every message; `attempt` before `start` throws. */
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

/** What a site has of us and the store does not know yet: no more mails than it may have connections. So no more come a
 *  second time when the process dies, however far the store is behind. */
function createUnwritten() {
  const gate = createGate()
  const sites = new Map<string, string>()
  return {
    enter({ deliveryId, way }: AttemptJob) {
      sites.set(deliveryId, way.site)
      return gate.enter(way.site, way.connections)
    },
    leave(deliveryIds: readonly string[]) {
      for (const id of deliveryIds) {
        const site = sites.get(id)
        sites.delete(id)
        if (site !== undefined) gate.leave(site)
      }
    },
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
  const transport = createTransport({ hostname, sourceAddress, timeouts: TIMEOUTS, maxIdle })
  const preparer = createPreparer(createSignRsa(() => performance.now()))
  const lanes = createGate()
  const unwritten = createUnwritten()
  const letGo = createCollector(LOOSE_BYTES)
  const attempt = createAttempter({
    settings,
    clock: systemClock,
    random: systemRandom,
    resolver,
    preparer,
    transport,
    timeouts: TIMEOUTS,
    mayOffer: unwritten.enter,
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
  const run = async (job: AttemptJob) => {
    const { site: lane, connections } = job.way
    const place = lanes.enter(lane, connections + AHEAD)
    if (place !== undefined) await place
    const sizeBytes = job.content.byteLength
    const result = await attempt(job)
    if (sizeBytes >= LARGE_BYTES) letGo(sizeBytes)
    lanes.leave(lane)
    results.push(result)
    underWay--
    planFlush()
  }

  return {
    attempt(jobs: readonly AttemptJob[]) {
      underWay += jobs.length
      for (const job of jobs) void run(job)
    },
    written: unwritten.leave,
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

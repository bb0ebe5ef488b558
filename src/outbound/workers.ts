import { NOTHING_OWN, type OwnParts } from '../mail/own-parts.ts'
import { backoffMs } from '../platform/backoff.ts'
import type { Clock } from '../platform/clock.ts'
import type { Log } from '../platform/log.ts'
import { systemRandom } from '../platform/random.ts'
import type { AttemptJob, AttemptResult, FromWorker, JobWay, SigningKey, ToWorker, WorkerSettings } from './job.ts'

/** The delivery threads as the main thread sees them. */
export interface Workers {
  /** Resolves when all threads have answered; rejects when one dies again and again before that. */
  ready: Promise<void>
  /** Gives each job to the thread with the least under way, so that the mails of one site spread over all processors,
   *  and with it the thread's share of the site's connections. A content of 64 KiB or more that has a buffer of its own
   *  is handed over, not copied: do not touch it afterwards, unless several jobs of the same call share it. */
  submit(jobs: readonly AttemptJob[]): void
  /** What came of it is in the store: its thread need not remember it any longer. */
  written(deliveryId: string): void
  /** Content → the signed mail, as the recipient with these parts of his own gets it. Rejects when it cannot be
   *  composed. */
  compose(content: Uint8Array, signingKeys: SigningKey[], signedAt: number, own?: OwnParts): Promise<Uint8Array>
  /** Jobs given and not yet answered. */
  underWay(): number
  /** Lets the threads finish for at most `timeoutMs`, then ends them; jobs without an answer are told as lost. */
  stop(timeoutMs: number): Promise<void>
}

/** `count` threads from `spawn` → Workers. A thread that dies is replaced, at once the first time and later and later
 *  when it goes on dying; `onLost` gets the deliveries it had, whose fate nobody knows. Results come as they were
 *  batched. Neither callback may throw. */
export function createWorkers(options: {
  spawn: () => Worker
  count: number
  settings: WorkerSettings
  clock: Clock
  log: Log
  onResults: (results: AttemptResult[]) => void
  onLost: (deliveryIds: string[]) => void
}): Workers {
  const { spawn, count, settings, clock, log, onResults, onLost } = options
  const threads: Thread[] = []
  const composing = new Map<number, Composing>()
  let held: AttemptJob[] = []
  let written: string[] = []
  let lastRequestId = 0
  let deaths = 0
  let stopping = false
  let readyCount = 0
  const ready = Promise.withResolvers<void>()
  ready.promise.catch(() => {})
  const ended = new AbortController()

  const start = () => {
    const worker = spawn()
    const thread: Thread = { worker, jobs: new Set(), unwritten: new Set(), stopped: Promise.withResolvers() }
    threads.push(thread)
    worker.addEventListener('message', (event: MessageEvent<FromWorker>) => hear(thread, event.data))
    worker.addEventListener('error', (event: ErrorEvent) => {
      log.error('delivery thread failed', { error: event.message })
      event.preventDefault()
      worker.terminate()
      died(thread)
    })
    worker.addEventListener('close', () => died(thread))
    send(thread, { kind: 'start', settings })
    const jobs = held
    held = []
    if (jobs.length > 0) submit(jobs)
  }

  const hear = (thread: Thread, message: FromWorker) => {
    switch (message.kind) {
      case 'ready':
        if (++readyCount >= count) ready.resolve()
        return
      case 'results':
        deaths = 0
        for (const { deliveryId } of message.results) {
          thread.jobs.delete(deliveryId)
          thread.unwritten.add(deliveryId)
        }
        return onResults(message.results)
      case 'composed':
        return settle(composing, message)
      case 'bug':
        return log.error('an attempt failed inside', {
          delivery_id: message.deliveryId,
          message_id: message.messageId,
          error: message.error,
        })
      case 'stopped':
        return thread.stopped.resolve()
    }
  }

  const died = (thread: Thread) => {
    const place = threads.indexOf(thread)
    if (place < 0) return
    threads.splice(place, 1)
    thread.stopped.resolve()
    for (const [requestId, request] of composing) {
      if (request.thread === thread) settle(composing, { requestId, raw: null, error: 'the delivery thread died' })
    }
    if (thread.jobs.size > 0) onLost([...thread.jobs])
    if (stopping) return
    deaths++
    if (deaths >= GIVE_UP_START && readyCount < count) ready.reject(new Error('the delivery threads do not start'))
    const waitMs = deaths === 1 ? 0 : backoffMs(RESTART_SECONDS, deaths - 1, 0.1, systemRandom)
    log.error('delivery thread died', { lost: thread.jobs.size, restart_in_ms: waitMs })
    void clock.sleep(waitMs, ended.signal).then(() => {
      if (!stopping) start()
    })
  }

  const submit = (jobs: readonly AttemptJob[]) => {
    if (threads.length === 0) {
      held = held.concat(jobs)
      return
    }
    const shares = new Map<Thread, AttemptJob[]>()
    for (const job of jobs) {
      const thread = leastLoaded(threadsFor(job.way, threads))
      thread.jobs.add(job.deliveryId)
      const share = shares.get(thread)
      if (share === undefined) shares.set(thread, [job])
      else share.push(job)
    }
    const handOver = handOverOnce(jobs)
    for (const [thread, share] of shares) {
      const sent = share.map((job) => ({
        ...job,
        content: withOwnBuffer(job.content),
        way: { ...job.way, connections: Math.max(1, Math.floor(job.way.connections / threads.length)) },
      }))
      const buffers = sent.map(({ content }) => content.buffer as ArrayBuffer).filter(handOver)
      send(thread, { kind: 'attempt', jobs: sent }, buffers)
    }
  }

  const tellWritten = () => {
    const ids = written
    written = []
    for (const thread of threads) {
      const deliveryIds = ids.filter((id) => thread.unwritten.delete(id))
      if (deliveryIds.length > 0) send(thread, { kind: 'written', deliveryIds })
    }
  }

  for (let i = 0; i < count; i++) start()

  return {
    ready: ready.promise,
    submit,
    // One change of the store writes many: they are told together.
    written(deliveryId) {
      if (written.length === 0) setImmediate(tellWritten)
      written.push(deliveryId)
    },
    compose(content, signingKeys, signedAt, own = NOTHING_OWN) {
      const thread = threads.length === 0 ? null : leastLoaded(threads)
      if (thread === null) return Promise.reject(new Error('no delivery thread is running'))
      const requestId = ++lastRequestId
      const request = { thread, ...Promise.withResolvers<Uint8Array>() }
      composing.set(requestId, request)
      send(thread, {
        kind: 'compose',
        requestId,
        content: withOwnBuffer(content),
        signingKeys,
        signedAt,
        own,
      })
      return request.promise
    },
    underWay: () => held.length + threads.reduce((sum, thread) => sum + thread.jobs.size, 0),
    async stop(timeoutMs) {
      stopping = true
      tellWritten()
      const all = [...threads]
      for (const thread of all) send(thread, { kind: 'stop' })
      const finished = Promise.all(all.map((thread) => thread.stopped.promise))
      await Promise.race([finished, clock.sleep(timeoutMs, ended.signal)])
      ended.abort()
      for (const thread of all) {
        thread.worker.terminate()
        died(thread)
      }
      if (held.length > 0) onLost(held.map(({ deliveryId }) => deliveryId))
      held = []
    },
  }
}

interface Thread {
  worker: Worker
  /** Delivery ids without an answer. */
  jobs: Set<string>
  /** Answered, and not in the store yet. */
  unwritten: Set<string>
  stopped: PromiseWithResolvers<void>
}

interface Composing {
  thread: Thread
  resolve: (raw: Uint8Array) => void
  reject: (error: Error) => void
}

const RESTART_SECONDS = [1, 5, 15, 30]
const GIVE_UP_START = 4
/** Below this a copy is as cheap as handing over. */
const HAND_OVER_BYTES = 65_536

function send(thread: Thread, message: ToWorker, transfer: ArrayBuffer[] = []): void {
  thread.worker.postMessage(message, transfer)
}

function leastLoaded(threads: readonly Thread[]): Thread {
  return threads.reduce((best, thread) => (thread.jobs.size < best.jobs.size ? thread : best))
}

/** A site with fewer connections than there are threads stays with as many threads, always the same: each thread
 *  counts its own. */
function threadsFor({ site, connections }: JobWay, threads: readonly Thread[]): readonly Thread[] {
  if (connections >= threads.length) return threads
  const first = Bun.hash.crc32(site) % threads.length
  return Array.from({ length: Math.max(1, connections) }, (_, at) => threads[(first + at) % threads.length]!)
}

/** A view into a larger buffer would take the whole of it along to the other thread. */
function withOwnBuffer(content: Uint8Array): Uint8Array {
  return content.byteLength === content.buffer.byteLength ? content : new Uint8Array(content)
}

/** Which buffers may leave this thread: the big ones that only one of the jobs holds. */
function handOverOnce(jobs: readonly AttemptJob[]): (buffer: ArrayBuffer) => boolean {
  const holders = new Map<ArrayBufferLike, number>()
  for (const { content } of jobs) holders.set(content.buffer, (holders.get(content.buffer) ?? 0) + 1)
  return (buffer) => buffer.byteLength >= HAND_OVER_BYTES && (holders.get(buffer) ?? 1) === 1
}

function settle(
  composing: Map<number, Composing>,
  answer: { requestId: number; raw: Uint8Array | null; error: string | null },
) {
  const request = composing.get(answer.requestId)
  composing.delete(answer.requestId)
  if (answer.raw !== null) request?.resolve(answer.raw)
  else request?.reject(new Error(answer.error ?? 'the mail could not be composed'))
}

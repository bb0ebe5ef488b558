import { createResolver } from '../../net/dns/resolver.ts'
import { createKeyedSemaphore } from '../../net/limiters/keyed-semaphore.ts'
import { systemClock } from '../../os/clock.ts'
import { createGcTrigger } from '../../os/gc-trigger.ts'
import { systemRandom } from '../../os/random.ts'
import { type Post, serveThread } from '../../os/thread-entry.ts'
import { lowerThreadPriority } from '../../os/thread-priority.ts'
import { stackOf } from '../../os/thrown.ts'
import { createWorkMarks } from '../../os/work-board.ts'
import { createAttempter } from './attempt.ts'
import type { AttemptJob, AttemptResult, FromWorker, SentJob, ThreadSettings, ToWorker } from './job.ts'
import { createDeliveredJournal } from './journal/delivered-journal.ts'
import { createPreparer } from './prepare.ts'
import { timeoutsWithin } from './smtp/timeouts.ts'
import { createTransport } from './smtp/transport.ts'
import { createSignRsa } from './system-rsa.ts'

/** A delivery thread: jobs in, results out in batches. Runs many deliveries at once, but per destination only as many
 *  as have connections, plus a few that wait composed and signed. An accepted mail is noted in the journal at once
 *  (journal/delivered-journal.ts). If that fails, the mail keeps its slot until the store has it, so that few are sent
 *  twice after a kill. Each delivery marks its work in shared memory in case this thread ends during it. A bug in a job
 *  defers that job; any other ends the thread (os/job-isolation.ts), and the main thread starts another (workers.ts).
 *  `attempt` before `start` throws. */
function createMessageHandler(post: Post<FromWorker>): (message: unknown) => void {
  let work: ReturnType<typeof openWork> | null = null
  return (received) => {
    const message = received as ToWorker // from our own main thread
    if (message.kind === 'start') {
      work = openWork(message.settings, message.board, post)
      return post({ kind: 'ready' })
    }
    if (work === null) throw new Error('the thread received work before it was started')
    switch (message.kind) {
      case 'attempt':
        return work.attempt(message.jobs)
      case 'written':
        return work.written(message.deliveryIds)
      case 'relays':
        return work.useRelays(message.relays)
      case 'close_idle':
        return work.closeIdle(message.destination)
      case 'stop':
        return void work.stop()
    }
  }
}

/** Mails of one destination composed and signed before a connection is free. */
const AHEAD = 4
/** With at most this many jobs running, results are sent at once instead of batched. */
const FEW = 4
const BATCH_MS = 5
/** Mail from this size on counts towards the next garbage collection, which follows after LOOSE_BYTES. */
const LARGE_BYTES = 2 ** 20
const LOOSE_BYTES = 16 * 2 ** 20

function openWork(settings: ThreadSettings, board: SharedArrayBuffer | null, post: Post<FromWorker>) {
  if (settings.nice > 0) lowerThreadPriority(settings.nice)
  const resolver = createResolver({
    servers: settings.dnsServers,
    trustedServers: settings.trustedDnsServers,
    clock: systemClock,
    random: systemRandom,
  })
  const { hostname, sourceAddress, idleSessions: maxIdle } = settings
  const timeouts = timeoutsWithin(settings.longestWaitMs)
  const transport = createTransport({ hostname, sourceAddress, timeouts, maxIdle })
  const costs = new Map<string, { ms: number; mails: number }>()
  const preparer = createPreparer(
    createSignRsa(() => performance.now()),
    (domain, ms) => {
      const cost = costs.get(domain) ?? { ms: 0, mails: 0 }
      costs.set(domain, { ms: cost.ms + ms, mails: cost.mails + 1 })
    },
  )
  const slots = createKeyedSemaphore()
  const noteGarbage = createGcTrigger(LOOSE_BYTES)
  /** Deliveries that keep a slot of their destination. */
  const held = new Map<string, string>()
  const journal = createDeliveredJournal(settings.journalFile)
  const marks = createWorkMarks(board, () => {})
  const sent = new Uint8Array(settings.sent)
  const attempt = createAttempter({
    settings,
    clock: systemClock,
    random: systemRandom,
    resolver,
    preparer,
    transport,
    timeouts,
    onBug: ({ deliveryId, messageId }, error) => post({ kind: 'bug', deliveryId, messageId, error: stackOf(error) }),
  })

  let underWay = 0
  let results: AttemptResult[] = []
  let flushPlanned = false
  let whenEmpty: (() => void) | null = null

  const flush = () => {
    flushPlanned = false
    const costOf = [...costs].map(([domain, { ms, mails }]): [string, number, number] => [domain, ms, mails])
    if (results.length > 0 || costOf.length > 0) post({ kind: 'results', results, costs: costOf })
    results = []
    costs.clear()
    if (underWay === 0) whenEmpty?.()
  }
  const planFlush = () => {
    if (flushPlanned) return
    flushPlanned = true
    if (underWay <= FEW) setImmediate(flush)
    else setTimeout(flush, BATCH_MS)
  }
  /** Whether the death of the process would not send it again. */
  const isSafe = ({ sandbox }: AttemptJob, { deliveryId, outcome, attempt }: AttemptResult) =>
    outcome.kind !== 'delivered' || sandbox || journal.note({ deliveryId, outcome, attempt })
  const run = async (job: SentJob) => {
    marks.begin()
    const { destination, connections } = job.route
    const free = slots.enter(destination, connections + AHEAD)
    if (free !== undefined) await free
    const sizeBytes = job.content.byteLength
    const result = await attempt(job, {
      working: () => marks.working(job.slot + 1),
      committing: () => {
        sent[job.slot] = 1
      },
    })
    if (sizeBytes >= LARGE_BYTES) noteGarbage(sizeBytes)
    if (isSafe(job, result)) slots.leave(destination)
    else held.set(job.deliveryId, destination)
    results.push(result)
    underWay--
    marks.finish()
    planFlush()
  }

  return {
    attempt(jobs: readonly SentJob[]) {
      underWay += jobs.length
      for (const job of jobs) void run(job)
    },
    written(deliveryIds: readonly string[]) {
      journal.settle(deliveryIds)
      for (const id of deliveryIds) {
        const destination = held.get(id)
        if (destination !== undefined && held.delete(id)) slots.leave(destination)
      }
    },
    closeIdle(destination: string) {
      transport.closeIdle(destination)
    },
    useRelays(relays: ThreadSettings['relays']) {
      settings.relays = relays
    },
    async stop() {
      if (underWay > 0 || results.length > 0) {
        await new Promise<void>((resolve) => {
          whenEmpty = resolve
        })
      }
      await transport.stop()
      resolver.close()
      journal.close()
      post({ kind: 'stopped' })
    },
  }
}

serveThread(createMessageHandler)

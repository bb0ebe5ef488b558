import { systemClock } from '../../os/clock.ts'
import { runJob } from '../../os/job-isolation.ts'
import { systemRandom } from '../../os/random.ts'
import type { StartMessage } from '../../os/supervisor.ts'
import { type Post, serveThread } from '../../os/thread-entry.ts'
import { messageOf, stackOf } from '../../os/thrown.ts'
import { createWorkMarks, type MarkMessage } from '../../os/work-board.ts'
import { createResolver } from '../dns/resolver.ts'
import { createAddressGuard } from '../ip.ts'
import { createExchange, type Exchange } from './exchange.ts'
import { BATCHING } from './limits.ts'
import { probeHttp } from './probe.ts'
import type { FromHttpsThread, HttpsKind, HttpsSettings, SentJob, ToHttpsThread } from './thread.ts'

/** The thread that sends HTTPS requests: it receives jobs and returns results in batches. It has neither the store
 *  nor a secret; signatures are made before. An error outside a job ends it, and the main thread starts another
 *  (thread.ts). */
export function serveHttps(
  post: PostMessage,
  exchangeOf: (kind: HttpsKind) => Exchange = exchangeOfKind,
): (message: unknown) => void {
  let started: ReturnType<typeof open> | null = null
  return (message) => {
    const received = message as ToHttpsThread | StartMessage
    if (received.kind === 'start') {
      started = open(received, post, exchangeOf)
      return post({ kind: 'ready' })
    }
    if (started === null) throw new Error('the thread received work before it was started')
    if (received.kind === 'entered') return started.entered(received.id, received.isGranted)
    for (const job of received.jobs) void started.perform(job)
  }
}

type PostMessage = Post<FromHttpsThread | MarkMessage>

function open({ board, settings }: StartMessage, post: PostMessage, exchangeOf: (kind: HttpsKind) => Exchange) {
  const { kinds } = settings as HttpsSettings
  const marks = createWorkMarks(board, post)
  const exchanges = new Map<string, Exchange>()
  /** By job: called with the answer of the main thread to `enter`. */
  const entering = new Map<number, (isGranted: boolean) => void>()
  let results: Result[] = []

  let underWay = 0

  const flush = () => {
    const sent = results
    results = []
    try {
      post({ kind: 'results', results: sent }, sent.flatMap(fileBuffers))
    } catch {
      // One of them cannot be sent to the main thread. It fails alone.
      for (const each of sent) postAlone(each)
    }
  }
  const postAlone = (result: Result) => {
    try {
      post({ kind: 'results', results: [result] }, fileBuffers(result))
    } catch (error) {
      post({ kind: 'results', results: [failureOf(result.id, error)] })
    }
  }
  /** Created at the first request: the built-in roots take some ms and some MB. */
  const exchangeFor = (name: string): Exchange => {
    const known = exchanges.get(name)
    if (known !== undefined) return known
    const kind = kinds[name]
    if (kind === undefined) throw new Error(`unknown HTTPS client ${name}`)
    const made = exchangeOf(kind)
    exchanges.set(name, made)
    return made
  }
  const answer = (job: SentJob): Promise<unknown> => {
    const onWork = () => marks.working(job.id)
    onWork()
    if (job.kind === null) return probeHttp(job.probe)
    const enter = (sizeBytes: number) =>
      new Promise<boolean>((resolve) => {
        entering.set(job.id, resolve)
        post({ kind: 'enter', id: job.id, sizeBytes })
      })
    return exchangeFor(job.kind)(job.exchange, { onWork, enter })
  }

  const perform = async (job: SentJob) => {
    marks.begin()
    underWay++
    let result: Result
    try {
      result = { id: job.id, result: await runJob(() => answer(job)) }
    } catch (error) {
      result = failureOf(job.id, error)
    } finally {
      marks.finish()
      underWay--
      entering.delete(job.id)
    }
    if (results.length === 0) {
      if (underWay < BATCHING.few) setImmediate(flush)
      else setTimeout(flush, BATCHING.waitMs)
    }
    results.push(result)
  }

  return { perform, entered: (id: number, isGranted: boolean) => entering.get(id)?.(isGranted) }
}

const failureOf = (id: number, error: unknown) => ({ id, failed: messageOf(error), stack: stackOf(error) })

type Result = Extract<FromHttpsThread, { kind: 'results' }>['results'][number]

/** The buffer of a file, which is transferred. A probe has a text or null as its result. */
function fileBuffers(each: Result): ArrayBuffer[] {
  const result = 'result' in each ? each.result : null
  if (typeof result !== 'object' || result === null || !('file' in result)) return []
  return result.file instanceof Uint8Array && result.file.buffer instanceof ArrayBuffer ? [result.file.buffer] : []
}

function exchangeOfKind(kind: HttpsKind): Exchange {
  const { allowed, dns } = kind
  const resolver = createResolver({ ...dns, clock: systemClock, random: systemRandom, maxConcurrent: LOOKUPS })
  const mayConnect = allowed === 'all addresses' ? () => true : createAddressGuard([...allowed])
  return createExchange({ ...kind, resolver, mayConnect }).exchange
}

/** Concurrent lookups for one kind of request. There are more of them than requests to slow endpoints, so that endpoints
 *  whose name servers do not respond cannot delay others (events/webhooks/endpoint-concurrency.ts). */
const LOOKUPS = 256

serveThread(serveHttps)

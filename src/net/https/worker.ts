import { systemClock } from '../../os/clock.ts'
import { systemRandom } from '../../os/random.ts'
import type { StartMessage } from '../../os/supervisor.ts'
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
  post: (message: FromHttpsThread | MarkMessage) => void,
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
    for (const job of received.jobs) void started(job)
  }
}

function open(
  { board, settings }: StartMessage,
  post: (message: FromHttpsThread | MarkMessage) => void,
  exchangeOf: (kind: HttpsKind) => Exchange,
) {
  const { kinds } = settings as HttpsSettings
  const marks = createWorkMarks(board, post)
  const exchanges = new Map<string, Exchange>()
  let results: Extract<FromHttpsThread, { kind: 'results' }>['results'] = []

  let underWay = 0

  const flush = () => {
    post({ kind: 'results', results })
    results = []
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
  const perform = (job: SentJob): Promise<unknown> => {
    const onWork = () => marks.working(job.id)
    onWork()
    return job.kind === null ? probeHttp(job.probe) : exchangeFor(job.kind)(job.exchange, onWork)
  }

  return async (job: SentJob) => {
    marks.begin()
    underWay++
    let result: (typeof results)[number]
    try {
      result = { id: job.id, result: await perform(job) }
    } catch (error) {
      result = { id: job.id, failed: error instanceof Error ? error.message : String(error) }
    } finally {
      marks.finish()
      underWay--
    }
    if (results.length === 0) {
      if (underWay < BATCHING.few) setImmediate(flush)
      else setTimeout(flush, BATCHING.waitMs)
    }
    results.push(result)
  }
}

function exchangeOfKind(kind: HttpsKind): Exchange {
  const { allowed, dns } = kind
  const resolver = createResolver({ ...dns, clock: systemClock, random: systemRandom, maxConcurrent: LOOKUPS })
  const mayConnect = allowed === 'all addresses' ? () => true : createAddressGuard([...allowed])
  return createExchange({ ...kind, resolver, mayConnect }).exchange
}

/** Concurrent lookups of one kind of request. More than the number of requests to slow endpoints, so that
 *  unresponsive name servers of some do not delay others (webhooks/endpoint-concurrency.ts). */
const LOOKUPS = 256

declare const self: Worker

if (!Bun.isMainThread) {
  const answer = serveHttps((message) => self.postMessage(message))
  self.onmessage = (event: MessageEvent) => answer(event.data)
}

import type { MakeInboundBody } from '../../events/webhooks/inbound-payload.ts'
import { Refusal } from '../../model/refusal.ts'
import type { SharedResolver } from '../../net/dns/resolver.ts'
import type { Clock } from '../../os/clock.ts'
import type { Log } from '../../os/log.ts'
import type { PoolEvent, PoolState, Runner } from '../../os/thread-pool.ts'
import { createThreadPool, JobFailed, PoisonousJob, PoolStopped } from '../../os/thread-pool.ts'
import type { ReportContent } from '../feedback/content.ts'
import type { FiledMail } from '../smtp-server/session.ts'
import { fallbackResult } from './fallback-result.ts'
import {
  type FileToRead,
  type InboundResult,
  mailBytesOf,
  type RawMail,
  type ReaderAnswer,
  type ReaderJob,
  type ReaderSettings,
  type ReadingJob,
  type Seal,
} from './inbound-result.ts'
import { createPoisonMessages } from './poison-messages.ts'
import { withServices } from './reader-services.ts'
import * as replies from './replies.ts'
import type { ReportRead } from './report-read.ts'

/** Readers of inbound mail, as seen by the main thread. Only `fallbackResult` inspects a mail here.
 *
 *  A mail that crashed or timed out in two readers is refused with 451 and recorded. When its sender retries, it is
 *  stored unparsed: raw bytes, headers, undecided verdicts, and `parseError` with the reason. */
export interface Readers {
  /** Do not modify `raw` or close its file before the answer. Rejects with SmtpReply 451 for a crashing mail the first
   *  time and while the server stops; otherwise only when the fallback cannot read the file. */
  read(job: JobOfMail): Promise<InboundResult>
  /** Mail to a return path of ours → its report content; `unreadable` where other mail would be stored unparsed.
   *  Rejects like `read`. */
  report(mail: ReportToRead): Promise<{ content: ReportContent; digest: Uint8Array }>
  /** Mail to a report address → the report in it and its reporter; null where other mail would be stored unparsed.
   *  Rejects like `read`. */
  policyReport(mail: Pick<JobOfMail, 'raw' | 'envelope'>): Promise<ReportRead | null>
  /** Raw mail → its attachment at this position, from 1, in the order of ParsedMail.attachments; null if there is none.
   *  Refused with `invalid_state` if the mail crashes the readers, and with `unavailable` while they stop. */
  attachment(raw: Uint8Array, place: number): Promise<Uint8Array | null>
  makeBody: MakeInboundBody
  state(): PoolState
  /** Ends the readers; jobs in progress reject with 451. */
  stop(): Promise<void>
}

/** Large mail stays in its file until its bytes are read. */
type OpenMail = Uint8Array<ArrayBuffer> | FiledMail
type JobOfMail = Omit<ReadingJob, 'jobId' | 'raw' | 'seals'> & { raw: OpenMail; seals: Seal[] }
interface ReportToRead {
  raw: OpenMail
  /** Empty for the null return path. */
  returnPath: string
}

export const READING_LIMITS = {
  /** Longest uninterrupted computation. The largest mail needs a tenth of a second on an idle CPU. */
  computeMs: 5_000,
  /** Total time for one mail. DNS and parser have 15 s each (read.ts) and normally end by themselves; a mail of 25 MB
   *  takes half a second. */
  totalMs: 45_000,
  /** Jobs per reader; most wait for DNS. */
  perRunner: 500,
  /** Smaller mail never waits. Larger mail is limited to 32 times this in readers at once: each needs several times its
   *  size. */
  largeBytes: 1_000_000,
  /** An idle reader holds about 50 MB and ends after this time. */
  idleMs: 60_000,
}

/** `start` creates a reader process or thread that runs only receiving/inbound/reader.ts. The first mail starts the first
 *  one. */
export function createReaders(options: {
  start: () => Runner
  count: number
  settings: ReaderSettings
  /** Separate from other lookups, so that readers only queue behind each other. */
  resolver: SharedResolver
  clock: Clock
  log: Log
  onEvent?: (event: PoolEvent) => void
  limits?: Partial<typeof READING_LIMITS>
}): Readers {
  const { settings, resolver, clock, log } = options
  /** Sealing keys by job; they stay on the main thread. */
  const seals = new Map<number, readonly Seal[]>()
  const poisonous = createPoisonMessages()
  let lastJobId = 0

  const pool = createThreadPool<ReaderJob, ReaderAnswer>({
    ...READING_LIMITS,
    ...options.limits,
    name: 'inbound',
    start: () =>
      withServices(options.start(), {
        resolver,
        sealsOf: (jobId) => seals.get(jobId) ?? [],
        clock,
        onBreach: (why) => log.error('inbound parser violated its sandbox and was stopped', { pool: 'inbound', why }),
      }),
    count: options.count,
    settings,
    sizeOf: mailBytesOf,
    describe: (job) => ({ kind: job.kind, job: job.jobId, size_bytes: mailBytesOf(job) }),
    clock,
    log,
    ...(options.onEvent === undefined ? {} : { onEvent: options.onEvent }),
  })

  /** Returns the answer, or the reason why the mail must be stored unparsed. */
  const tried = async (job: ReaderJob, raw: OpenMail): Promise<ReaderAnswer | string> => {
    if (poisonous.mayHave(raw.byteLength) && poisonous.has(await digestOf(raw), clock.now())) {
      log.warn('message accepted without parsing: it crashed two parsers', { kind: job.kind, job: job.jobId })
      return 'parsing took too long or crashed the parser'
    }
    try {
      return await pool.run(job)
    } catch (error) {
      if (error instanceof PoisonousJob) {
        poisonous.add(await digestOf(raw), raw.byteLength, clock.now())
        log.error('message deferred: it crashed two parsers', {
          kind: job.kind,
          cause: error.endedBy,
          size_bytes: raw.byteLength,
        })
        throw replies.cannotRead()
      }
      if (error instanceof PoolStopped) throw replies.stopping()
      if (!(error instanceof JobFailed)) throw error
      log.error('message parsing failed with an internal error', {
        kind: job.kind,
        job: job.jobId,
        error: error.message,
      })
      return 'parsing failed'
    }
  }

  return {
    read: async (mail) => {
      const jobId = ++lastJobId
      const { raw, ...job } = mail
      const names = job.seals.map(({ domain, selector }) => ({ domain, selector }))
      seals.set(jobId, job.seals)
      try {
        const answer = await tried({ ...job, kind: 'mail', jobId, raw: readable(raw), seals: names }, raw)
        if (typeof answer !== 'string' && answer.kind === 'mail') {
          for (const error of answer.bugs)
            log.error('message parsing failed with an internal error', { job: jobId, error })
          return answer.result
        }
        const bytes = await bytesOf(raw)
        const why = typeof answer === 'string' ? answer : 'parsing failed'
        return await fallbackResult({ ...job, jobId, raw: bytes, seals: names }, settings.hostname, why)
      } finally {
        seals.delete(jobId)
      }
    },
    report: async ({ raw, returnPath }) => {
      const answer = await tried({ kind: 'report', jobId: ++lastJobId, raw: readable(raw), returnPath }, raw)
      if (typeof answer !== 'string' && answer.kind === 'report')
        return { content: answer.content, digest: answer.digest }
      return { content: { kind: 'unreadable' }, digest: await digestOf(raw) }
    },
    policyReport: async ({ raw, envelope }) => {
      const jobId = ++lastJobId
      const answer = await tried({ kind: 'policy_report', jobId, raw: readable(raw), envelope }, raw)
      if (typeof answer === 'string' || answer.kind !== 'policy_report') return null
      for (const error of answer.bugs) log.error('message parsing failed with an internal error', { job: jobId, error })
      return answer.read
    },
    attachment: async (raw, place) => {
      try {
        const answer = await pool.run({ kind: 'attachment', jobId: ++lastJobId, raw, place })
        return answer.kind === 'attachment' ? answer.content : null
      } catch (error) {
        if (error instanceof PoolStopped)
          throw new Refusal('unavailable', 'This server is stopping. Try again later.', { retryAfterSeconds: 5 })
        log.warn('attachment unreadable', { error: String(error) })
        throw new Refusal('invalid_state', 'This message cannot be parsed. You can still download the raw message.')
      }
    },
    makeBody: async (post) => {
      try {
        const answer = await pool.run({ kind: 'post', jobId: ++lastJobId, ...post })
        return answer.kind === 'post' ? answer.body : null
      } catch (error) {
        if (error instanceof PoisonousJob || error instanceof PoolStopped) return null
        throw error
      }
    },
    state: pool.state,
    stop: pool.stop,
  }
}

const readable = (raw: OpenMail): RawMail =>
  raw instanceof Uint8Array ? raw : ({ fd: raw.fd, byteLength: raw.byteLength } satisfies FileToRead)

const bytesOf = async (raw: OpenMail) => (raw instanceof Uint8Array ? raw : await raw.read())

/** Hashes off this thread. */
async function digestOf(raw: OpenMail): Promise<Uint8Array> {
  return new Uint8Array(await crypto.subtle.digest('SHA-256', await bytesOf(raw)))
}

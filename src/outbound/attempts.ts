import type { MtaSts } from '../mail/mta-sts.ts'
import type { Outcome } from '../model/delivery.ts'
import type { TlsSession } from '../model/tls-session.ts'
import type { Clock } from '../os/clock.ts'
import type { AttemptJob, AttemptResult } from './job.ts'
import { notAttempted } from './not-attempted.ts'
import { internalFault, poisoned, WORKER_LOST_RULE } from './outcome.ts'
import type { LostJob, Workers } from './workers.ts'

/** Connects the delivery loop with the worker threads: submits jobs and returns their results. */
export interface Attempts {
  /** Always resolves: with the result; with null when the job was not attempted; when its thread ended, with an unknown
   *  outcome if the mail may have been sent, else with a deferral; with a deferral when the domain's MTA-STS policy
   *  cannot be determined. */
  attempt(job: AttemptJob): Promise<AttemptResult | null>
  onResults(results: AttemptResult[]): void
  onLost(jobs: LostJob[]): void
}

interface UnderWay {
  job: AttemptJob
  startedAt: number
  resolve: (result: AttemptResult | null) => void
}

/** `submit` receives all jobs of one turn at once: one message to a thread costs as much as composing a small mail.
 *  `policyOf` finds the MTA-STS policy of a recipient domain; not asked for mail through a relay. A policy that must be fetched first
 *  delays the job. */
export function createAttempts(options: {
  submit: Workers['submit']
  clock: Clock
  policyOf?: (domain: string) => MtaSts | null | Promise<MtaSts | null>
  /** Receives each TLS session of an attempt, with the recipient domain. */
  onTls?: (domain: string, session: TlsSession) => void
}): Attempts {
  const { submit, clock, policyOf, onTls } = options
  const underWay = new Map<string, UnderWay>()
  let gathered: AttemptJob[] = []

  const flush = () => {
    const jobs = gathered
    gathered = []
    submit(jobs)
  }
  const give = (job: AttemptJob): Promise<AttemptResult | null> =>
    new Promise((resolve) => {
      underWay.set(job.deliveryId, { job, startedAt: clock.now(), resolve })
      if (gathered.length === 0) queueMicrotask(flush)
      gathered.push(job)
    })
  const settle = (result: AttemptResult) => {
    const waiting = underWay.get(result.deliveryId)
    underWay.delete(result.deliveryId)
    if (waiting === undefined) return
    for (const session of result.tlsSessions) onTls?.(domainOf(waiting.job), session)
    waiting.resolve(result)
  }

  return {
    attempt: (job) => {
      const mtaSts =
        job.sandbox || job.route.relay !== undefined || hasNoMx(job) ? null : (policyOf?.(domainOf(job)) ?? null)
      if (mtaSts === null) return give(job)
      if (!(mtaSts instanceof Promise)) return give({ ...job, mtaSts })
      const startedAt = clock.now()
      return mtaSts.then(
        (found) => give({ ...job, mtaSts: found }),
        // The domain's requirements are unknown, so nothing may be sent.
        (error) => lostResult(job, internalFault(error), { startedAt, endedAt: clock.now() }),
      )
    },
    onResults: (results) => {
      for (const result of results) settle(result)
    },
    onLost: (jobs) => {
      for (const { deliveryId, result } of jobs) {
        const waiting = underWay.get(deliveryId)
        if (waiting === undefined) continue
        if (result !== 'not_tried')
          settle(lostResult(waiting.job, LOST[result](), { ...waiting, endedAt: clock.now() }))
        else if (underWay.delete(deliveryId)) waiting.resolve(null)
      }
    },
  }
}

/** Outcome of an attempt by what is known of its ended thread. */
const LOST = {
  unknown: () => ({ kind: 'unknown', ...WORKER_LOST }) as const,
  not_sent: () => ({ kind: 'deferred', aboutRecipient: false, ...WORKER_LOST }) as const,
  too_slow: () => poisoned('too_slow'),
  ended_thread: () => poisoned('ended_thread'),
}

const WORKER_LOST = {
  code: '4.3.0',
  message: 'the delivery thread stopped during the attempt',
  cause: { class: 'internal', rule: WORKER_LOST_RULE },
} as const

/** Result of a job that no thread runs any more. */
function lostResult(
  { deliveryId, attempt, route: { relay } }: AttemptJob,
  outcome: Exclude<Outcome, { kind: 'delivered' }>,
  times: { startedAt: number; endedAt: number },
): AttemptResult {
  const record = { ...notAttempted(outcome, { number: attempt, ...times }), ...(relay !== undefined && { relay }) }
  return { deliveryId, outcome, attempt: record, tlsSessions: [] }
}

const domainOf = ({ recipient }: AttemptJob) => recipient.slice(recipient.lastIndexOf('@') + 1)

/** Without an MX host there is no host whose policy could apply. */
const hasNoMx = ({ route: { mx } }: AttemptJob) => mx?.kind === 'temporary' || mx?.kind === 'nxdomain'

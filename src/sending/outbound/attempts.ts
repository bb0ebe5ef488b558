import type { MtaSts } from '../../mail/mta-sts.ts'
import type { Outcome } from '../../model/delivery.ts'
import type { TlsSession } from '../../model/tls-session.ts'
import type { Clock } from '../../os/clock.ts'
import type { AttemptJob, AttemptResult } from './job.ts'
import { internalFault, poisoned, WORKER_LOST_RULE } from './outcome.ts'
import { notAttempted } from './unattempted.ts'
import type { DeliveryThreads, LostJob, ThreadResults } from './workers.ts'

interface UnderWay {
  job: AttemptJob
  startedAt: number
  resolve: (result: AttemptResult | null) => void
}

/** Finds the MTA-STS policy of a recipient domain. One that must be fetched first delays the job. */
type Policies = { find(domain: string): MtaSts | null | Promise<MtaSts | null> }

/** Receives each TLS session of an attempt, with the recipient domain. */
type TlsCounters = { count(domain: string, session: TlsSession): void }

/** Attempts in the delivery threads: one call for each attempt, from its job to its result. */
export class Attempts implements ThreadResults {
  readonly #clock: Clock
  readonly #policies: Policies | undefined
  readonly #tlsCounters: TlsCounters | undefined
  readonly #underWay = new Map<string, UnderWay>()
  #threads: Pick<DeliveryThreads, 'submit' | 'written' | 'closeIdle'> | null = null
  #gathered: AttemptJob[] = []

  constructor(parts: { clock: Clock; policies?: Policies; tlsCounters?: TlsCounters | undefined }) {
    this.#clock = parts.clock
    this.#policies = parts.policies
    this.#tlsCounters = parts.tlsCounters
  }

  /** The threads that make the attempts. They report to this object, so they are created after it. */
  useThreads(threads: Pick<DeliveryThreads, 'submit' | 'written' | 'closeIdle'>): void {
    this.#threads = threads
  }

  /** Always resolves: with the result; with null when the job was not attempted; when its thread ended, with an unknown
   *  outcome if the mail may have been sent, else with a deferral; with a deferral when the domain's MTA-STS policy
   *  cannot be determined. */
  attempt(job: AttemptJob): Promise<AttemptResult | null> {
    const mtaSts = hasPolicy(job) ? (this.#policies?.find(domainOf(job)) ?? null) : null
    if (mtaSts === null) return this.#submit(job)
    if (!(mtaSts instanceof Promise)) return this.#submit({ ...job, mtaSts })
    const startedAt = this.#clock.now()
    return mtaSts.then(
      (found) => this.#submit({ ...job, mtaSts: found }),
      // The domain's requirements are unknown, so nothing may be sent.
      (error) => lostResult(job, internalFault(error), { startedAt, endedAt: this.#clock.now() }),
    )
  }

  /** The store has the delivery's result. */
  written(deliveryId: string): void {
    this.#threads?.written(deliveryId)
  }

  /** Sends QUIT on idle connections to a destination. */
  closeIdle(destination: string): void {
    this.#threads?.closeIdle(destination)
  }

  onResults(results: readonly AttemptResult[]): void {
    for (const result of results) this.#settle(result)
  }

  onLost(jobs: readonly LostJob[]): void {
    for (const { deliveryId, result } of jobs) {
      const lost = this.#underWay.get(deliveryId)
      if (lost === undefined) continue
      if (result !== 'not_tried')
        this.#settle(lostResult(lost.job, LOST[result](), { ...lost, endedAt: this.#clock.now() }))
      else if (this.#underWay.delete(deliveryId)) lost.resolve(null)
    }
  }

  /** All jobs of one turn go to the threads at once: one message to a thread costs as much as composing a small mail. */
  #submit(job: AttemptJob): Promise<AttemptResult | null> {
    return new Promise((resolve) => {
      this.#underWay.set(job.deliveryId, { job, startedAt: this.#clock.now(), resolve })
      if (this.#gathered.length === 0) queueMicrotask(() => this.#flush())
      this.#gathered.push(job)
    })
  }

  #flush(): void {
    const jobs = this.#gathered
    this.#gathered = []
    this.#threads?.submit(jobs)
  }

  #settle(result: AttemptResult): void {
    const attempt = this.#underWay.get(result.deliveryId)
    this.#underWay.delete(result.deliveryId)
    if (attempt === undefined) return
    for (const session of result.tlsSessions) this.#tlsCounters?.count(domainOf(attempt.job), session)
    attempt.resolve(result)
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

/** A simulated attempt, a relay, and a domain without an MX host have no host whose policy could apply. */
function hasPolicy({ sandbox, route: { relay, mx } }: AttemptJob): boolean {
  return !sandbox && relay === undefined && mx?.kind !== 'temporary' && mx?.kind !== 'nxdomain'
}

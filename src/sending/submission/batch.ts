import { monthOf } from '../../model/limits.ts'
import type { Plan } from '../../model/organization.ts'
import { Refusal } from '../../model/refusal.ts'
import { type AcceptedMessage, type Remember, type Store, StoreUnavailable } from '../../storage/store.ts'
import { pack, slicesOf, unpack } from './batch-slices.ts'
import type { HeavyWork } from './heavy-work.ts'
import type { Parts } from './idempotency.ts'
import { type PreparationDeps, prepare, requireSendable, type Sender, toAccepted, usedTemplate } from './prepare.ts'
import { isComplete, type OpenAttachments } from './remote-attachments.ts'
import type { GivenRequest, MakeRecord, SubmissionRequest, SubmissionResult } from './request.ts'
import type { WorkBudget } from './template-work.ts'
import { isSendingLimit, liveCount, nothingUsed, type Used, withinLimits } from './volume.ts'

/** What writing a batch uses. */
export interface BatchDeps extends PreparationDeps {
  store: Pick<Store, 'suppressions' | 'messages' | 'snapshot' | 'usage'>
  heavyWork: HeavyWork
}

export interface BatchOrigin extends Sender {
  plan: Plan
  now: number
  /** Downloads the attachments of all requests. */
  attachments: OpenAttachments
}

/** Many messages of one request, each with its own result. Submission.submitBatch says what it promises. */
export class Batch {
  /** What the store has accepted so far. */
  readonly written: AcceptedMessage[] = []
  readonly #origin: BatchOrigin
  readonly #deps: BatchDeps
  /** One for all templates, in the characters of template-work.ts: one or two seconds at worst. 500 mails with a page
   *  of text and a table of a hundred rows each need less. */
  readonly #workBudget: WorkBudget = { left: 200_000_000 }

  constructor(origin: BatchOrigin, deps: BatchDeps) {
    this.#origin = origin
    this.#deps = deps
  }

  /** Requests → their results in order. Writes slices, or one transaction without `parts`. Slices recorded in `parts`
   *  are not written again; the last one is written with the record of the whole batch, the others with their own, if
   *  there is a key. When the store refuses a later slice, the rest is refused as `unavailable`. Rejects with other
   *  errors. */
  async submit(
    requests: readonly (GivenRequest | Refusal)[],
    remember: MakeRecord<SubmissionResult[]> | undefined,
    parts: Parts | null | undefined,
  ): Promise<SubmissionResult[]> {
    const slices = parts === undefined ? [requests] : slicesOf(requests, this.#origin.author.key.mode)
    const results: SubmissionResult[] = []
    let isResuming = parts != null
    for (const [at, slice] of slices.entries()) {
      const isLast = at === slices.length - 1
      const known = parts != null && isResuming && !isLast ? await parts.known(at) : null
      isResuming &&= known !== null
      if (known !== null) {
        results.push(...unpack(known))
        continue
      }
      const ofPart = parts == null ? undefined : (made: SubmissionResult[]): Remember => parts.record(at, pack(made))
      const ofAll = remember && ((made: SubmissionResult[]) => remember([...results, ...made]))
      try {
        results.push(...(await this.#submitSlice(slice, isLast ? ofAll : ofPart)))
      } catch (error) {
        if (at === 0 || !(error instanceof StoreUnavailable)) throw error
        const rest = slices.slice(at).flat()
        return [...results, ...rest.map((request) => (request instanceof Refusal ? request : unavailable()))]
      }
    }
    return results
  }

  async #submitSlice(
    slice: readonly (GivenRequest | Refusal)[],
    remember: MakeRecord<SubmissionResult[]> | undefined,
  ): Promise<SubmissionResult[]> {
    const { author, attachments } = this.#origin
    const sendable = await Promise.all(slice.map((request) => this.#sendable(request)))
    const complete = await attachments.complete(sendable)
    return this.#deps.heavyWork.run(author.key.organizationId, async () =>
      this.#write(await this.#prepared(complete), remember),
    )
  }

  /** The request, or its Refusal: its attachments need not be downloaded then. */
  async #sendable(request: GivenRequest | Refusal): Promise<GivenRequest | Refusal> {
    if (request instanceof Refusal || isComplete(request)) return request
    return requireSendable(this.#origin, request, this.#deps).then(() => request, refusalOrThrow)
  }

  async #prepared(requests: readonly (SubmissionRequest | Refusal)[]): Promise<(AcceptedMessage | Refusal)[]> {
    const { now } = this.#origin
    const prepared: (AcceptedMessage | Refusal)[] = []
    for (const request of requests) {
      if (isTurnOver(prepared.length, request)) await new Promise(setImmediate)
      if (request instanceof Refusal) prepared.push(request)
      else prepared.push(await prepare(this.#origin, request, now, this.#deps, this.#workBudget).catch(refusalOrThrow))
    }
    return prepared
  }

  /** Writes those messages that the plan's limits allow, in one transaction. */
  async #write(
    prepared: (AcceptedMessage | Refusal)[],
    remember: MakeRecord<SubmissionResult[]> | undefined,
  ): Promise<SubmissionResult[]> {
    const { author, plan, now } = this.#origin
    const { store } = this.#deps
    const { organizationId } = author.key
    const month = monthOf(now)
    const used = await usedOf(organizationId, month, now, store)
    const reserved = nothingUsed()
    for (let round = 1; ; round++) {
      const fitting = withinLimits(prepared, plan, { used, reserved }, now)
      const fit = fitting.flatMap((each) => (each instanceof Refusal ? [] : [each]))
      const results = fitting.map((each) => (each instanceof Refusal ? each : toAccepted(each)))
      const count = fit.reduce((sum, each) => sum + liveCount(each), 0)
      const volume = { organizationId, month, count, limit: plan.messagesPerMonth }
      const record = remember?.(results)
      const result = await store.messages.accept(fit, volume, record)
      if (result.kind === 'accepted') {
        this.written.push(...fit)
        return results
      }
      if (fit.length === 0) return results // nothing is written, so no record is needed
      // Other requests used the limit first, or the record takes the place of messages: each round tries fewer.
      const name = result.kind === 'limit' ? result.name : 'messages_per_month'
      if (!isSendingLimit(name)) throw new Error(`sending met the limit ${name}`)
      const answerBytes = name === 'stored_bytes' ? (record?.body.byteLength ?? 0) : 0
      const isSame = result.used === used[name] && answerBytes <= reserved[name]
      used[name] = result.used
      reserved[name] = Math.max(reserved[name] + Number(isSame), answerBytes)
      if (round >= MAX_ROUNDS) reserved[name] = Number.MAX_SAFE_INTEGER
    }
  }
}

/** Rounds of shrinking a batch at a limit before all of it is refused. */
const MAX_ROUNDS = 20

/** A batch yields after this many messages, some milliseconds of work. One template may take longer. */
const MESSAGES_A_TURN = 20

function isTurnOver(done: number, next: SubmissionRequest | Refusal): boolean {
  return done % MESSAGES_A_TURN === MESSAGES_A_TURN - 1 || (!(next instanceof Refusal) && usedTemplate(next) !== null)
}

async function usedOf(
  organizationId: string,
  month: string,
  now: number,
  store: Pick<Store, 'usage' | 'messages'>,
): Promise<Used> {
  const used = await store.usage.of(organizationId, now)
  return {
    messages_per_month: await store.messages.volume(organizationId, month),
    test_messages_per_month: used.testMessages,
    scheduled_messages: used.scheduledMessages,
    stored_bytes: used.storedBytes,
  }
}

function refusalOrThrow(thrown: unknown): Refusal {
  if (thrown instanceof Refusal) return thrown
  throw thrown
}

function unavailable(): Refusal {
  return new Refusal('unavailable', 'The server could not store this message. It was not accepted; send it again.')
}

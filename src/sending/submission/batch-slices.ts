import type { Mode } from '../../model/message.ts'
import { Refusal } from '../../model/refusal.ts'
import { type Remember, StoreUnavailable } from '../../storage/store.ts'
import type { Parts } from './idempotency.ts'
import type { GivenRequest } from './request.ts'
import type { Accepted, MakeRecord, SubmissionResult } from './result.ts'

type Request = GivenRequest | Refusal

/** Splits a batch into slices, each a transaction of about 30 ms: 500 messages to 50 recipients each would hold the
 *  thread for seconds. Depends only on requests and mode, so that a repeated request gives the same slices. An empty
 *  batch is one empty slice. */
export function slicesOf(requests: readonly Request[], mode: Mode): Request[][] {
  const slices: Request[][] = [[]]
  let work = 0
  for (const request of requests) {
    const cost = request instanceof Refusal ? 0 : workOf(request, mode)
    if (work > 0 && work + cost > SLICE_WORK) {
      slices.push([])
      work = 0
    }
    slices.at(-1)!.push(request)
    work += cost
  }
  return slices
}

/** Slices in order → the results of all messages. `submit` writes one slice with its record: the last with that of the
 *  whole batch, the others with their own in `parts`, if there is a key. Slices recorded in `parts` are not submitted
 *  again. When the store refuses a later slice, the rest is refused as `unavailable`; other errors from `submit`
 *  propagate. */
export async function submitSlices(
  slices: readonly (readonly Request[])[],
  remember: MakeRecord<SubmissionResult[]> | undefined,
  parts: Parts | null,
  submit: (
    slice: readonly Request[],
    record: MakeRecord<SubmissionResult[]> | undefined,
  ) => Promise<SubmissionResult[]>,
): Promise<SubmissionResult[]> {
  const results: SubmissionResult[] = []
  let isResuming = parts !== null
  for (const [at, slice] of slices.entries()) {
    const isLast = at === slices.length - 1
    const known = parts !== null && isResuming && !isLast ? await parts.known(at) : null
    isResuming &&= known !== null
    if (known !== null) {
      results.push(...unpack(known))
      continue
    }
    const ofPart = parts === null ? undefined : (made: SubmissionResult[]): Remember => parts.record(at, pack(made))
    const ofAll = remember && ((made: SubmissionResult[]) => remember([...results, ...made]))
    try {
      results.push(...(await submit(slice, isLast ? ofAll : ofPart)))
    } catch (error) {
      if (at === 0 || !(error instanceof StoreUnavailable)) throw error
      const rest = slices.slice(at).flat()
      return [...results, ...rest.map((request) => (request instanceof Refusal ? request : unavailable()))]
    }
  }
  return results
}

/** In recipients of live mail, about 30 µs each. */
const SLICE_WORK = 1000
const MESSAGE_WORK = 4
/** Test mail completes when accepted: each recipient also has an attempt and events. */
const TEST_WORK = 4

/** Cost of writing one message, in live recipients. */
export function workOf({ to, cc, bcc }: Pick<GivenRequest, 'to' | 'cc' | 'bcc'>, mode: Mode): number {
  const recipients = [to, cc, bcc].reduce((sum, each) => sum + (each?.mailboxes.length ?? 0), 0)
  return MESSAGE_WORK + recipients * (mode === 'test' ? TEST_WORK : 1)
}

function unavailable(): Refusal {
  return new Refusal('unavailable', 'The server could not store this message. It was not accepted; send it again.')
}

/** Results → JSON, which unpack reads back. */
function pack(results: readonly SubmissionResult[]): Uint8Array {
  const plain = results.map((result): Packed => {
    if (!(result instanceof Refusal)) return { accepted: result }
    const { reason, message, field, details, faults, retryAfterSeconds } = result
    return { refused: { reason, message, extra: { field, details, faults, retryAfterSeconds } } }
  })
  return Buffer.from(JSON.stringify(plain))
}

function unpack(body: Uint8Array): SubmissionResult[] {
  const packed: Packed[] = JSON.parse(new TextDecoder().decode(body)) // packed above
  return packed.map((each) => {
    if ('accepted' in each) return each.accepted
    const { reason, message, extra } = each.refused
    return new Refusal(reason, message, extra)
  })
}

type Packed =
  | { accepted: Accepted }
  | { refused: { reason: Refusal['reason']; message: string; extra: ConstructorParameters<typeof Refusal>[2] } }

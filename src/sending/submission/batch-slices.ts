import type { Mode } from '../../model/message.ts'
import { Refusal } from '../../model/refusal.ts'
import { workOf } from './heavy-work.ts'
import type { Accepted, GivenRequest, SubmissionResult } from './request.ts'

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

/** In recipients of live mail, about 30 µs each. */
const SLICE_WORK = 1000

/** Results of a slice → JSON, which unpack reads back. */
export function pack(results: readonly SubmissionResult[]): Uint8Array {
  const plain = results.map((result): Packed => {
    if (!(result instanceof Refusal)) return { accepted: result }
    const { reason, message, field, details, faults, retryAfterSeconds } = result
    return { refused: { reason, message, extra: { field, details, faults, retryAfterSeconds } } }
  })
  return Buffer.from(JSON.stringify(plain))
}

/** JSON of pack → the results. */
export function unpack(body: Uint8Array): SubmissionResult[] {
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

import { z } from 'zod'
import { isFinal, messageStatus } from '../../../model/message.ts'
import { invalid, Refusal } from '../../../model/refusal.ts'
import type { WallClock } from '../../../os/clock.ts'
import type { Notifier } from '../../../os/notifier.ts'
import type { Accepted, GivenRequest, SubmissionResult } from '../../../sending/submission/request.ts'
import type { Submission } from '../../../sending/submission/submission.ts'
import type { Store } from '../../../storage/store.ts'
import { SEND } from '../access.ts'
import { createDownloading, type WhileDownloading } from '../downloading.ts'
import { toBody } from '../errors.ts'
import { type ApiResponse, type Call, type MakeRemember, type Operation, operation } from '../operation.ts'
import { check } from '../schema.ts'
import { createWaiting, preferredWaitMs, type Waiting } from '../waiting.ts'
import { acceptedRecord } from './message-record.ts'
import { createSendBody, toSubmission } from './messages-body.ts'

export interface SendDeps {
  store: Pick<Store, 'idempotency' | 'messages'>
  clock: WallClock
  submission: Submission
  /** Resolves when a recipient of the message becomes final, or after the timeout. */
  wait: Notifier['wait']
  /** Limits requests with `Prefer: wait`. Default: one with the default limits. */
  waiting?: Waiting
  /** Limits requests that wait for downloads. Default: one with the default limits. */
  whileDownloading?: WhileDownloading
}

const MAX_BATCH = 500
/** Maximum faults listed for a message and for a batch. Beyond the limit of the batch, each message lists its first
 *  fault. The response of a batch is stored for a day, so it must not be much larger than usual. */
const MAX_MESSAGE_FAULTS = 100
const MAX_BATCH_FAULTS = 500
/** Interval of looks at a message that a request waits for. */
const LOOK_MS = 250
/** Messages to validate per turn of the event loop. Takes some milliseconds at 50 kB each. */
const CHECKED_A_TURN = 10
const EXAMPLE = {
  from: 'Shop <shop@example.com>',
  to: 'ann@customer.example',
  subject: 'Your order',
  html: '<p>Thanks!</p>',
  metadata: { order: '1001' },
  tags: ['orders'],
}

/** The operations that send: `/v1/messages/send` with its second path `/v1/send`, and `/v1/messages/batch`. */
export function sendOperations(deps: SendDeps): Operation[] {
  const { store, clock, submission, wait, waiting = createWaiting(), whileDownloading = createDownloading() } = deps
  const sendBody = createSendBody(clock.now)
  const batchBody = z.strictObject({
    messages: z
      .array(z.unknown().meta({ $ref: '#/components/schemas/SendMessage' }))
      .min(1)
      .max(MAX_BATCH),
  })

  const send = (path: string) =>
    operation({
      id: 'messages_send',
      method: 'POST',
      path,
      tag: 'Messages',
      access: SEND,
      tool: {
        name: 'send_message',
        description:
          'Sends one email. A live key sends a real email, which cannot be recalled. With a test key nothing is delivered, and the part of the recipient before the @ decides the outcome, such as bounce@customer.example. Give a subject with html, text or both, or template_id with variables. Set idempotency_key, so that a repeated call sends nothing twice.',
      },
      unaudited: 'sends',
      summary: 'Send a message',
      description:
        'Postrider responds once the message is stored durably and delivers it afterwards. Sending to a suppressed recipient is not an error: that recipient gets the status `suppressed` and no delivery attempt. If all recipients are suppressed, so is the message. An attachment can be a `url`, which Postrider downloads first, for at most 10 s.',
      responses: async () => (await import('../responses/messages.ts')).sendResponses,
      refusals: ['domain_not_verified', 'template_error', 'quota_exceeded', 'invalid_state'],
      bodyName: 'SendMessage',
      canWait: true,
      example: EXAMPLE,
      body: sendBody,
      base64At: ['attachments', '*', 'content'],
      idempotent: true,
      handle: async (call) => {
        const waitMs = preferredWaitMs(call.headers)
        const answer = (accepted: Accepted) => sendAnswer(accepted, waitMs !== null && isOver(accepted) ? waitMs : null)
        const request = toSubmission(call.body)
        const accepted = await whileDownloading(call, [request], () =>
          submission.submit(authorOf(call), request, (accepted) => call.remember(answer(accepted))),
        )
        if (waitMs === null || isOver(accepted)) return answer(accepted)
        const end = waiting.begin({ keyId: call.key.id, organizationId: call.organizationId }, call.bodyBytes ?? 0)
        if (end === null) return answer(accepted) // RFC 7240 §2: a preference may be ignored
        call.endTurn?.()
        try {
          const waited = sendAnswer(await untilOver(accepted, waitMs, call.signal), waitMs)
          await rememberInstead(waited, call)
          return waited
        } finally {
          end()
        }
      },
    })

  const batch = operation({
    id: 'messages_batch',
    method: 'POST',
    path: '/v1/messages/batch',
    tag: 'Messages',
    access: SEND,
    unaudited: 'sends',
    summary: 'Send up to 500 messages',
    description:
      'Each message has its own result; a rejected message does not affect the others. All accepted messages are stored before the response. A large batch is stored in several steps. If a step fails, its messages have the error `unavailable`. `Idempotency-Key` applies to the whole batch, so retrying it sends nothing twice.',
    responses: async () => (await import('../responses/messages.ts')).batchResponses,
    example: { messages: [EXAMPLE] },
    body: batchBody,
    base64At: ['messages', '*', 'attachments', '*', 'content'],
    idempotent: true,
    handle: async (call) => {
      const requests: (GivenRequest | Refusal)[] = []
      let faultsLeft = MAX_BATCH_FAULTS
      for (const message of call.body.messages) {
        if (requests.length % CHECKED_A_TURN === CHECKED_A_TURN - 1) await new Promise(setImmediate)
        const { value, faults } = check(sendBody, message, 'message')
        if (faults === null) requests.push(toSubmission(value))
        else requests.push(invalid(faults.slice(0, Math.max(1, Math.min(MAX_MESSAGE_FAULTS, faultsLeft)))))
        faultsLeft -= faults === null ? 0 : Math.min(MAX_MESSAGE_FAULTS, faults.length)
      }
      const answer = (results: SubmissionResult[]) => batchResponse(results, call.requestId)
      const remember = (results: SubmissionResult[]) => call.remember(answer(results))
      const submit = () => submission.submitBatch(authorOf(call), requests, remember, call.parts)
      return answer(await whileDownloading(call, requests, submit))
    },
  })

  /** Resolves with the message and its recipients when all are final, after `waitMs`, or when `signal` is aborted.
   *  Checks again after each notification and every LOOK_MS. Each time it subscribes before it reads the store, so that it
   *  misses none. */
  async function untilOver(accepted: Accepted, waitMs: number, signal: AbortSignal): Promise<Accepted> {
    const { message } = accepted
    const endsAt = clock.steady.now() + waitMs
    const disconnected = new Promise<void>((resolve) =>
      signal.addEventListener('abort', () => resolve(), { once: true }),
    )
    for (;;) {
      const leftMs = endsAt - clock.steady.now()
      // Another node may deliver it.
      const outcome = leftMs > 0 ? wait(`message ${message.id}`, Math.min(leftMs, LOOK_MS)) : null
      const recipients = await store.messages.deliveries(message.id)
      const status = messageStatus(recipients.map((recipient) => recipient.status))
      const present = { message: { ...message, status }, recipients }
      if (outcome === null || isOver(present) || signal.aborted) return present
      await Promise.race([outcome, disconnected])
    }
  }

  /** Replaces the stored idempotency response, the 202 of accepting the message, by the response after waiting. A
   *  replay then returns what the first request returns. If the process dies while waiting, the 202 remains. */
  async function rememberInstead(answer: ApiResponse, call: Call & { remember: MakeRemember }): Promise<void> {
    const record = call.remember(answer)
    if (record === undefined) return
    await store.idempotency.replace(record)
  }

  return [send('/v1/messages/send'), send('/v1/send'), batch]
}

function authorOf({ key }: Call) {
  return { key, source: 'api' as const }
}

function isOver({ recipients }: Pick<Accepted, 'recipients'>): boolean {
  return recipients.every(({ status }) => isFinal(status))
}

/** Accepted message → response: 202, or 200 with `Preference-Applied` if the request waited for at most `waitMs`. */
function sendAnswer(accepted: Accepted, waitMs: number | null): ApiResponse {
  const body = acceptedRecord(accepted)
  if (waitMs === null) return { status: 202, body }
  return { status: 200, body, headers: { 'preference-applied': `wait=${waitMs / 1000}` } }
}

function batchResponse(results: readonly SubmissionResult[], requestId: string): ApiResponse {
  const data = results.map((result) => (result instanceof Refusal ? toBody(result, requestId) : acceptedRecord(result)))
  return { status: 202, body: { data } }
}

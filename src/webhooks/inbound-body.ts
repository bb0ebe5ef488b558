import { type ParsedMail, unpackParsed, unpackRaw } from '../mail/inbound-content.ts'
import { iso } from '../model/event.ts'
import type { InboundMessage } from '../model/inbound-message.ts'
import { createMemoryBudget, type MemoryBudget } from '../net/limiters/memory-budget.ts'
import type { Clock } from '../os/clock.ts'
import { createGcTrigger } from '../os/gc-trigger.ts'
import type { Log } from '../os/log.ts'
import type { Memory } from '../os/memory.ts'
import { type ClaimedInboundDelivery, type Store, StoreUnavailable } from '../storage/store.ts'

/** The body to post for a claim. `leave` releases its memory after the request; call it once. `not_now`: too many
 *  large bodies are in progress, or the loop stops. `gone`: retention has removed the mail. `damaged`: the stored
 *  mail cannot be read. */
export type InboundBody =
  | { kind: 'body'; body: Uint8Array; leave: () => void }
  | { kind: 'not_now' }
  | { kind: 'gone' }
  | { kind: 'damaged' }

/** Creates bodies in bounded memory. */
export interface InboundBodies {
  /** `stopping` ends the wait for memory. Rejects if the store does. */
  of(claim: ClaimedInboundDelivery, stopping: AbortSignal): Promise<InboundBody>
}

/** Longest wait of a large body for its turn. */
export const LONGEST_WAIT_MS = 60_000

/** Store and reader of attachments → the bodies of claims, in the form of `inboundPayload`.
 *
 *  A body of more than 256 KiB waits for memory within `budgetBytes`, and such bodies are created one after the
 *  other: meanwhile the mail is in memory several times, packed, raw, decoded and as JSON. Smaller ones do not wait.
 *
 *  A mail whose attachments cannot be read is posted without their contents, unless the loop stops. */
export function createInboundBodies(options: {
  store: Pick<Store, 'inbound'>
  /** Raw mail → base64 of its attachments in the order of ParsedMail.attachments, or null. */
  attachments: (raw: Uint8Array) => Promise<string[] | null>
  clock: Clock
  log: Log
  memory: Memory
  budgetBytes: number
}): InboundBodies {
  const { store, clock, log, memory } = options
  const budget: MemoryBudget = createMemoryBudget({
    totalBytes: options.budgetBytes,
    clock,
    beyond: (...bytes) => memory.enter('post', ...bytes),
  })
  const letGo = createGcTrigger(LOOSE_BYTES)
  let lastLarge: Promise<unknown> = Promise.resolve()

  const parsedOf = async (claim: ClaimedInboundDelivery) => {
    const packed = await store.inbound.parsed(claim.message.id)
    return packed === null ? null : unpackParsed(packed)
  }

  /** Approximate size of the JSON. Attachments in base64 have the same size in it as in the mail. */
  const sizeOf = async (claim: ClaimedInboundDelivery) => {
    const { route, message } = claim
    if (route.includeAttachments || message.sizeBytes <= SMALL_BYTES) return message.sizeBytes
    const parsed = await parsedOf(claim)
    return parsed === null ? 0 : parsed.textBody.length + parsed.htmlBody.length
  }

  const make = async (claim: ClaimedInboundDelivery, stopping: AbortSignal): Promise<Made> => {
    const parsed = await parsedOf(claim)
    if (parsed === null) return { kind: 'gone' }
    const contents = claim.route.includeAttachments ? await contentsOf(claim, parsed) : null
    if (contents === UNREADABLE && stopping.aborted) return { kind: 'not_now' } // the threads stop as well
    return { kind: 'body', body: Buffer.from(inboundPayload(claim.message, parsed, contents)) }
  }

  const contentsOf = async ({ message, route }: ClaimedInboundDelivery, { attachments }: ParsedMail) => {
    if (attachments.length === 0) return []
    const packed = await store.inbound.raw(message.id)
    const contents = packed === null ? null : await options.attachments(unpackRaw(packed))
    if (contents?.length === attachments.length) return contents
    log.warn('attachments unreadable', { inbound_id: message.id, route_id: route.id })
    return UNREADABLE
  }

  const makeInTurn = (claim: ClaimedInboundDelivery, sizeBytes: number, stopping: AbortSignal): Promise<Made> => {
    const making = lastLarge.then(() => (stopping.aborted ? ({ kind: 'not_now' } as const) : make(claim, stopping)))
    lastLarge = making.then(() => tidy(sizeBytes), nothing) // before the next one; does not keep the body itself
    return making
  }

  const bodyOf = async (claim: ClaimedInboundDelivery, stopping: AbortSignal): Promise<InboundBody> => {
    const sizeBytes = await sizeOf(claim)
    if (sizeBytes <= SMALL_BYTES) return withMemory(await make(claim, stopping), nothing)
    const releaseBudget = await budget.reserve(claim.route.id, sizeBytes, LONGEST_WAIT_MS, stopping)
    if (releaseBudget === null) return { kind: 'not_now' }
    const leave = () => {
      releaseBudget()
      letGo(sizeBytes)
    }
    let made: Made | null = null
    try {
      made = await makeInTurn(claim, sizeBytes, stopping)
      return withMemory(made, leave)
    } finally {
      if (made?.kind !== 'body') leave()
    }
  }

  return {
    async of(claim, stopping) {
      try {
        return await bodyOf(claim, stopping)
      } catch (error) {
        if (error instanceof StoreUnavailable) throw error
        log.error('stored message unreadable', { inbound_id: claim.message.id, error })
        return { kind: 'damaged' }
      }
    },
  }
}

type Made = { kind: 'body'; body: Uint8Array } | { kind: 'not_now' } | { kind: 'gone' }

const withMemory = (made: Made, leave: () => void): InboundBody => (made.kind === 'body' ? { ...made, leave } : made)

/** Matches no mail with attachments, so that the payload omits them. */
const UNREADABLE: string[] = []

const LOOSE_BYTES = 16 * 2 ** 20

/** Two hundred of them take 50 MiB. */
const SMALL_BYTES = 256 * 1024

/** Creating a large body leaves garbage of several times its size, which the collector would see too late.
 *  Collecting takes 30 ms, creating such a body takes longer. */
function tidy(sizeBytes: number): void {
  if (sizeBytes > 4_000_000) Bun.gc(true)
}

const nothing = () => {}

/** Inbound mail → the JSON for its route's endpoint: flat, without an envelope, in the order of the documentation.
 *  The same mail gives the same bytes at every attempt, as long as the route's settings stay the same.
 *
 *  `contents`: null if the route does not request attachments; then `attachments_data` is absent. Otherwise base64
 *  of each attachment, in order. If their number differs, they could not be read: `attachments_data` is then an
 *  empty array, `attachments` still lists them, and the raw mail contains everything (`GET …/raw`).
 *
 *  `from` and `message_id` are empty if the mail has none, as are `text_body` and `html_body`. Never throws. */
export function inboundPayload(
  message: InboundMessage,
  parsed: ParsedMail,
  contents: readonly string[] | null,
): string {
  const { verdicts } = message
  return JSON.stringify({
    event: 'inbound',
    timestamp: iso(message.receivedAt),
    from: message.from,
    to: message.to,
    subject: message.subject,
    message_id: message.messageIdHeader,
    text_body: parsed.textBody,
    html_body: parsed.htmlBody,
    headers: parsed.headers,
    attachments: attachmentList(parsed),
    ...(contents === null ? {} : { attachments_data: attachmentContents(parsed, contents) }),
    spf_result: verdicts.spf,
    dkim_result: verdicts.dkim,
    dmarc_result: verdicts.dmarc,
    sender_ip: message.senderIp,
  })
}

/** Attachments of a mail without their content, as the webhook of a route gets them. `size` is in bytes, decoded. */
export function attachmentList({ attachments }: ParsedMail) {
  return attachments.map(({ filename, contentType, sizeBytes }) => ({
    filename,
    content_type: contentType,
    size: sizeBytes,
  }))
}

function attachmentContents({ attachments }: ParsedMail, contents: readonly string[]) {
  if (contents.length !== attachments.length) return []
  return attachments.map(({ filename, contentType }, at) => ({
    filename,
    content_type: contentType,
    content: contents[at],
  }))
}

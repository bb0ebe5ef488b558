import { clearBytesOf } from '../../mail/blob.ts'
import { unpackParsed } from '../../mail/inbound-content.ts'
import { createMemoryBudget, type MemoryBudget } from '../../net/limiters/memory-budget.ts'
import type { Clock } from '../../os/clock.ts'
import { createGcTrigger } from '../../os/gc-trigger.ts'
import type { Log } from '../../os/log.ts'
import type { Memory } from '../../os/memory.ts'
import { type ClaimedInboundDelivery, type Store, StoreUnavailable } from '../../storage/store.ts'
import { inboundBody, type MakeInboundBody, type ReplyFields } from './inbound-payload.ts'

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
const LONGEST_WAIT_MS = 60_000

/** Store and maker of bodies → the bodies of claims, in the form of `inboundBody`.
 *
 *  A body of more than 256 KiB waits for memory within `budgetBytes`, and such bodies are made one after the other:
 *  meanwhile the mail is in memory several times, packed, raw, decoded and as JSON. Smaller ones do not wait, and are
 *  made here unless attachments have to be read.
 *
 *  A mail whose attachments cannot be read is posted without their contents, unless the loop stops. */
export function createInboundBodies(options: {
  store: Pick<Store, 'inbound'>
  makeBody: MakeInboundBody
  clock: Clock
  log: Log
  memory: Memory
  budgetBytes: number
}): InboundBodies {
  const { store, makeBody, clock, log, memory } = options
  const budget: MemoryBudget = createMemoryBudget({
    totalBytes: options.budgetBytes,
    clock,
    beyond: (...bytes) => memory.enter('post', ...bytes),
  })
  const letGo = createGcTrigger(LOOSE_BYTES, 'beside')
  let lastLarge: Promise<unknown> = Promise.resolve()

  /** Approximate size of the JSON. Attachments in base64 have the same size in it as in the mail. */
  const sizeOf = async ({ route, message }: ClaimedInboundDelivery) => {
    if (route.includeAttachments || message.sizeBytes <= SMALL_BYTES) return message.sizeBytes
    const parsed = await store.inbound.parsed(message.id)
    return parsed === null ? 0 : (clearBytesOf(parsed) ?? message.sizeBytes)
  }

  const repliesOf = async ({ message, route }: ClaimedInboundDelivery): Promise<ReplyFields> => {
    if (!route.replies) return 'left_out'
    const { inReplyTo, organizationId } = message
    return { answered: inReplyTo === null ? null : await store.inbound.answered(inReplyTo, organizationId) }
  }

  const make = async (claim: ClaimedInboundDelivery, sizeBytes: number, stopping: AbortSignal): Promise<Made> => {
    const { message, route } = claim
    const replies = await repliesOf(claim)
    const packed = await store.inbound.parsed(message.id)
    if (packed === null) return { kind: 'gone' }
    if (sizeBytes <= SMALL_BYTES) {
      const parsed = unpackParsed(packed)
      const isRead = route.includeAttachments && parsed.attachments.length > 0
      if (!isRead)
        return { kind: 'body', body: inboundBody(message, parsed, route.includeAttachments ? [] : null, replies) }
    }
    return makeBeside(claim, { packed, replies }, stopping)
  }

  const makeBeside = async (
    { message, route }: ClaimedInboundDelivery,
    { packed: parsed, replies }: { packed: Uint8Array; replies: ReplyFields },
    stopping: AbortSignal,
  ): Promise<Made> => {
    const raw = route.includeAttachments ? await store.inbound.raw(message.id) : 'absent'
    if (raw === null) return { kind: 'gone' }
    let body = await makeBody({ message, parsed, raw, replies })
    if (stopping.aborted && body === null) return { kind: 'not_now' } // the readers stop as well
    if (body === null && route.includeAttachments) {
      log.warn('attachments unreadable', { inbound_id: message.id, route_id: route.id })
      body = await makeBody({ message, parsed, raw: 'unreadable', replies })
    }
    if (body === null) throw new Error('the body of the post could not be made')
    return { kind: 'body', body }
  }

  const makeInTurn = (claim: ClaimedInboundDelivery, sizeBytes: number, stopping: AbortSignal): Promise<Made> => {
    const making = lastLarge.then(() =>
      stopping.aborted ? ({ kind: 'not_now' } as const) : make(claim, sizeBytes, stopping),
    )
    lastLarge = making.then(nothing, nothing) // does not keep the body itself
    return making
  }

  const bodyOf = async (claim: ClaimedInboundDelivery, stopping: AbortSignal): Promise<InboundBody> => {
    const sizeBytes = await sizeOf(claim)
    if (sizeBytes <= SMALL_BYTES) return withMemory(await make(claim, sizeBytes, stopping), nothing)
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

const LOOSE_BYTES = 16 * 2 ** 20

/** Two hundred of them take 50 MiB. */
const SMALL_BYTES = 256 * 1024

const nothing = () => {}

import { type ParsedMail, unpackParsed, unpackRaw } from '../mail/inbound-content.ts'
import type { Clock } from '../platform/clock.ts'
import type { Log } from '../platform/log.ts'
import { type ClaimedInboundDelivery, type Store, StoreUnavailable } from '../storage/store.ts'
import { type BodyRoom, createBodyRoom } from './body-room.ts'
import { inboundPayload } from './inbound-payload.ts'

/** What is to be posted for a claim. `leave` gives its room back once the request is over, to be called once.
 *  `no_room`: too much is under way. `gone`: retention has dropped the mail. `damaged`: what is stored cannot be read. */
export type InboundBody =
  | { kind: 'body'; body: Uint8Array; leave: () => void }
  | { kind: 'no_room' }
  | { kind: 'gone' }
  | { kind: 'damaged' }

export interface InboundBodies {
  of(claim: ClaimedInboundDelivery, signal: AbortSignal): Promise<InboundBody>
}

/** How long a large body may wait for its turn. */
export const LONGEST_WAIT_MS = 60_000

/** Store and reader of attachments → bodies of claims, as inbound-payload.ts writes them.
 *
 *  A body of more than 256 KiB waits for its part of `roomBytes`, and such bodies are made one after the other: while
 *  one is made the mail is there several times over, packed, raw, decoded and as JSON. Smaller ones wait for nothing.
 *
 *  `attachments` answers null for a mail it cannot take apart; it is asked a second time, as the thread it ran on may
 *  have come to an end, then the mail goes out without their contents. Rejects when the store does. */
export function createInboundBodies(options: {
  store: Pick<Store, 'inbound'>
  /** Raw mail → base64 of its attachments in the order of ParsedMail.attachments, or null. */
  attachments: (raw: Uint8Array) => Promise<string[] | null>
  clock: Clock
  log: Log
  roomBytes: number
}): InboundBodies {
  const { store, clock, log } = options
  const room: BodyRoom = createBodyRoom({ totalBytes: options.roomBytes, clock })
  let lastLarge: Promise<unknown> = Promise.resolve()

  const parsedOf = async (claim: ClaimedInboundDelivery) => {
    const packed = await store.inbound.parsed(claim.message.id)
    return packed === null ? null : unpackParsed(packed)
  }

  /** About the size of the JSON. Base64 takes in it what it took in the mail. */
  const sizeOf = async ({ route, message }: ClaimedInboundDelivery, readParsed: () => Promise<ParsedMail | null>) => {
    if (route.includeAttachments || message.sizeBytes <= SMALL_BYTES) return message.sizeBytes
    const parsed = await readParsed()
    return parsed === null ? 0 : parsed.textBody.length + parsed.htmlBody.length
  }

  const make = async (claim: ClaimedInboundDelivery): Promise<Uint8Array | null> => {
    const parsed = await parsedOf(claim)
    if (parsed === null) return null
    const contents = claim.route.includeAttachments ? await contentsOf(claim, parsed) : null
    return Buffer.from(inboundPayload(claim.message, parsed, contents))
  }

  const contentsOf = async (claim: ClaimedInboundDelivery, { attachments }: ParsedMail): Promise<string[]> => {
    if (attachments.length === 0) return []
    const packed = await store.inbound.raw(claim.message.id)
    for (let round = 0; packed !== null && round < 2; round++) {
      const contents = await options.attachments(unpackRaw(packed)) // a copy each time: it may be handed to a thread
      if (contents?.length === attachments.length) return contents
    }
    log.warn('attachments cannot be read, the mail is delivered without them', {
      message: claim.message.id,
      route: claim.route.id,
    })
    return []
  }

  const bodyOf = async (claim: ClaimedInboundDelivery, signal: AbortSignal): Promise<InboundBody> => {
    const sizeBytes = await sizeOf(claim, () => parsedOf(claim))
    if (sizeBytes <= SMALL_BYTES) return asBody(await make(claim), () => {})
    const leave = await room.enter(claim.route.id, sizeBytes, LONGEST_WAIT_MS, signal)
    if (leave === null) return { kind: 'no_room' }
    try {
      const making = lastLarge.then(() => make(claim))
      lastLarge = making.catch(() => {})
      return asBody(await making, leave)
    } catch (error) {
      leave()
      throw error
    }
  }

  return {
    async of(claim, signal) {
      try {
        return await bodyOf(claim, signal)
      } catch (error) {
        if (error instanceof StoreUnavailable) throw error
        log.error('stored mail cannot be read', { message: claim.message.id, error })
        return { kind: 'damaged' }
      }
    },
  }
}

/** Two hundred of them are 50 MiB. */
const SMALL_BYTES = 256 * 1024

function asBody(body: Uint8Array | null, leave: () => void): InboundBody {
  if (body !== null) return { kind: 'body', body, leave }
  leave()
  return { kind: 'gone' }
}

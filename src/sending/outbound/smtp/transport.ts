import { type Connections, createConnections, type DestinationLimits } from './connections.ts'
import { nowMs } from './dialogue.ts'
import type { Offered } from './offered.ts'
import { type Peer, peerKey, peerName } from './peer.ts'
import type { Answer } from './reply.ts'
import { openSession, type Session, type SessionOptions } from './session.ts'
import { type Envelope, offerMail } from './transaction.ts'
import type { Transcript } from './transcript.ts'
import type { WireMail } from './wire-mail.ts'

export type { Offered } from './offered.ts'

/** One mail offered to one server. */
export interface Offer {
  peer: Peer
  destination: DestinationLimits
  envelope: Envelope
  mail: WireMail
  transcript: Transcript
  /** The part of `timeouts.attemptMs` left for this server; the caller measures the time. */
  budgetMs: number
  /** Called right before the end of the mail is sent. */
  onCommit?: () => void
}

/** Sends mail to servers over kept connections. */
export interface Transport {
  /** Never rejects for server or network failures; throws on a bug. */
  offer(offer: Offer): Promise<Offered>
  /** Sends QUIT on idle connections to the destination. */
  closeIdle(destination: string): void
  /** Sends QUIT on idle connections. */
  stop(): Promise<void>
}

/** Limits and session options → Transport. A kept connection that is gone is replaced once without counting as a fault. A
 *  server that offers CHUNKING and does not know BDAT is not asked for it again for a day.
 *  When STARTTLS fails and TLS is not required, the mail goes without TLS over a fresh connection, and for some minutes
 *  the server is not asked for TLS again (RFC 7435: unencrypted is better than not at all). */
export function createTransport(options: SessionOptions & { idleMs?: number; maxIdle?: number }): Transport {
  const connections = createConnections(options)
  const withoutTls = createPeerSet(CLEAR_MS)
  const withoutChunking = createPeerSet(DATA_ONLY_MS)
  const once = (request: Offer) => offerOnce(connections, options, withoutChunking, request)

  const offer = async (request: Offer): Promise<Offered> => {
    const inClear: Offer = { ...request, peer: { ...request.peer, tls: 'never' } }
    const mayGoInClear = request.peer.tls === 'starttls' && request.peer.demand === 'none'
    if (mayGoInClear && withoutTls.has(request.peer)) {
      return { ...(await once(inClear)), tlsTrouble: 'validation-failure' }
    }
    const offered = await once(request)
    const { answer } = offered
    if (!mayGoInClear || answer.kind !== 'fault' || answer.stage !== 'starttls') return offered
    withoutTls.add(request.peer)
    request.transcript.note('retrying without TLS')
    const budgetMs = request.budgetMs - (nowMs() - offered.startedMs)
    const again = await once({ ...inClear, budgetMs })
    return {
      ...again,
      isFirst: true,
      tlsTrouble: answer.fault.tls ?? 'validation-failure',
      startedMs: offered.startedMs,
    }
  }
  return { offer, closeIdle: connections.closeIdle, stop: () => connections.stop() }
}

const CLEAR_MS = 600_000
const DATA_ONLY_MS = 86_400_000
const MAX_REMEMBERED = 10_000

/** Peers that lack something, each for `ms` after it was added. */
interface PeerSet {
  add(peer: Peer): void
  has(peer: Peer): boolean
}

function createPeerSet(ms: number): PeerSet {
  const untilMs = new Map<string, number>()
  return {
    add: (peer) => {
      if (untilMs.size >= MAX_REMEMBERED) untilMs.clear()
      untilMs.set(peerKey(peer), nowMs() + ms)
    },
    has: (peer) => {
      const endMs = untilMs.size === 0 ? undefined : untilMs.get(peerKey(peer))
      if (endMs === undefined) return false
      if (endMs > nowMs()) return true
      untilMs.delete(peerKey(peer))
      return false
    },
  }
}

async function offerOnce(
  connections: Connections,
  options: SessionOptions,
  withoutChunking: PeerSet,
  offer: Offer,
): Promise<Offered> {
  const { peer, destination, transcript } = offer
  let session = await connections.acquire(peer, destination)
  try {
    const startedMs = nowMs()
    const deadlineMs = startedMs + offer.budgetMs
    if (session !== null) {
      transcript.note(
        `connected to ${peerName(peer)}, message ${session.offered + 1} of this connection${tlsNote(session)}`,
      )
      const { chunking } = session.extensions
      const answer = await transact(session, offer, options, deadlineMs)
      if (answer !== 'stale') return offered(answer, session, startedMs)
      const isDataOnly = chunking && !session.extensions.chunking
      if (isDataOnly) withoutChunking.add(peer)
      transcript.note(isDataOnly ? 'the server does not know BDAT' : 'the reused connection was closed')
      session = null
    }
    const opened = await openSession(peer, options, transcript, deadlineMs)
    if ('answer' in opened) return { ...opened, tls: null, isFirst: true, startedMs }
    session = opened
    if (withoutChunking.has(peer)) session.extensions.chunking = false
    const answer = await transact(session, offer, options, deadlineMs)
    if (answer === 'stale') throw new Error('a fresh connection cannot be stale')
    return offered(answer, session, startedMs)
  } catch (error) {
    session?.dialogue.close()
    throw error
  } finally {
    connections.release(destination, session)
  }
}

function transact(
  session: Session,
  offer: Offer,
  options: SessionOptions,
  deadlineMs: number,
): Promise<Answer | 'stale'> {
  session.dialogue.transcript = offer.transcript
  session.dialogue.deadlineMs = deadlineMs
  return offerMail(session, offer, options.timeouts)
}

function offered(answer: Answer, session: Session, startedMs: number): Offered {
  return {
    answer,
    sourceAddress: session.dialogue.localAddress,
    tls: session.tls,
    isFirst: session.offered === 1,
    startedMs,
  }
}

function tlsNote({ tls }: Session): string {
  if (tls === null) return ''
  return `, ${tls.version} ${tls.cipher}, certificate ${tls.problem === null ? 'verified' : 'not verified'}`
}

import { formatReply } from '../../../mail/reply.ts'
import { nowMs } from './dialogue.ts'
import type { Peer } from './peer.ts'
import type { Stage } from './reply.ts'
import { closeSession, openSession, type Session } from './session.ts'
import { TIMEOUTS } from './timeouts.ts'
import { createTranscript } from './transcript.ts'

/** A server's response to a connection test without a mail. */
export interface Greeted {
  /** Whether the connection was established, whatever followed. */
  isReached: boolean
  /** Why no session was ready for mail (after EHLO, TLS and login); null if one was. Contains no secret. */
  problem: string | null
  /** Where it failed; null if it did not. */
  stage: Stage | null
  /** `TLSv1.3, certificate verified`; null without TLS, or if it failed. */
  tls: string | null
  /** The server's replies, one per line. */
  words: string
  /** Time until the session was ready or failed. */
  durationMs: number
}

/** Peer → connects as for a mail (TLS and login as the peer requires), then sends QUIT. Offers no mail. Takes at most
 *  `timeoutMs` plus one second. Never rejects. */
export async function greet(
  peer: Peer,
  options: { hostname: string; sourceAddress: string | null; timeoutMs: number; ca?: string },
): Promise<Greeted> {
  const startedMs = nowMs()
  const transcript = createTranscript(nowMs)
  const opened = await openSession(peer, { ...options, timeouts: TIMEOUTS }, transcript, startedMs + options.timeoutMs)
  const durationMs = Math.round(nowMs() - startedMs)
  const words = transcript.text()
  if ('peer' in opened) {
    await closeSession(opened, transcript)
    return { isReached: true, problem: null, stage: null, tls: tlsWords(opened), words, durationMs }
  }
  const { answer } = opened
  const failed = { tls: null, words, durationMs }
  if (answer.kind === 'reply') {
    return { ...failed, isReached: true, problem: formatReply(answer.reply), stage: answer.stage }
  }
  if (answer.kind === 'unfit') return { ...failed, isReached: false, problem: answer.message, stage: null }
  const { stage, fault } = answer
  return { ...failed, isReached: stage !== 'connect', problem: fault.message, stage }
}

function tlsWords({ tls }: Session): string | null {
  if (tls === null) return null
  return `${tls.version}, ${tls.problem === null ? 'certificate verified' : `certificate not verified: ${tls.problem}`}`
}

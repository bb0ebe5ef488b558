import { formatReply } from '../../mail/reply.ts'
import { nowMs } from './dialogue.ts'
import type { Peer } from './peer.ts'
import { closeSession, openSession } from './session.ts'
import { TIMEOUTS } from './timeouts.ts'
import { createTranscript } from './transcript.ts'

/** A server's response to a connection test without a mail. */
export interface Greeted {
  /** Whether the connection was established, whatever followed. */
  isReached: boolean
  /** Why no session was ready for mail (after EHLO, TLS and login); null if one was. Contains no secret. */
  problem: string | null
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
    return { isReached: true, problem: null, words, durationMs }
  }
  const { answer } = opened
  if (answer.kind === 'reply') return { isReached: true, problem: formatReply(answer.reply), words, durationMs }
  const problem = answer.kind === 'fault' ? answer.fault.message : answer.message
  const isReached = answer.kind === 'fault' && answer.stage !== 'connect'
  return { isReached, problem, words, durationMs }
}

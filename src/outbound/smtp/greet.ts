import { formatReply } from '../../mail/reply.ts'
import { nowMs } from './dialogue.ts'
import type { Peer } from './peer.ts'
import { closeSession, openSession } from './session.ts'
import { TIMEOUTS } from './timeouts.ts'
import { createTranscript } from './transcript.ts'

/** How a server answered to a call without a mail. */
export interface Greeted {
  /** The connection stood, whatever became of it. */
  isReached: boolean
  /** Why there is no session ready for mail (EHLO, TLS and login behind it); null when there is. No secret is in it. */
  problem: string | null
  /** What it said, a line each. */
  words: string
  /** Until the session was ready, or failed. */
  durationMs: number
}

/** Peer → calls it as for a mail (TLS and login as the peer demands), and says QUIT. Nothing is offered. All of it takes
 *  at most `timeoutMs` and a second. Never rejects. */
export async function greet(
  peer: Peer,
  options: { hostname: string; sourceAddress: string | null; timeoutMs: number; ca?: string },
): Promise<Greeted> {
  const startedMs = nowMs()
  const transcript = createTranscript(nowMs)
  const session = await openSession(peer, { ...options, timeouts: TIMEOUTS }, transcript, startedMs + options.timeoutMs)
  const durationMs = Math.round(nowMs() - startedMs)
  const words = transcript.text()
  if ('peer' in session) {
    await closeSession(session, transcript)
    return { isReached: true, problem: null, words, durationMs }
  }
  if (session.kind === 'reply') {
    return { isReached: true, problem: formatReply(session.reply), words, durationMs }
  }
  const problem = session.kind === 'fault' ? session.fault.message : session.message
  const isReached = session.kind === 'fault' && session.stage !== 'connect'
  return { isReached, problem, words, durationMs }
}

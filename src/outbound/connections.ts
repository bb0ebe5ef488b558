import { nowMs } from './dialogue.ts'
import { createGate } from './gate.ts'
import { type Peer, peerKey } from './peer.ts'
import { closeSession, type Session } from './session.ts'
import { createTranscript } from './transcript.ts'

/** Keeps sessions open between mails and counts them. */
export interface Connections {
  /** Waits for a place at this peer, in the order of coming, then gives the session that was used last, or null when a
   *  new one must be opened. Every take needs one give. */
  take(peer: Peer): Promise<Session | null>
  /** Gives the place back, and the session if it may serve again; null when it is gone. */
  give(peer: Peer, session: Session | null): void
  /** Sessions that wait for mail. */
  idle(): number
  /** QUITs what is idle; what comes back from now on is not kept. */
  stop(): Promise<void>
}

/** Limits → Connections. The session used last is the next to go out again, so that under little load the others grow
 *  old and are closed after `idleMs`; after `maxMails` a session is closed as well, since many servers count. At most
 *  `maxIdle` are kept, the oldest goes first. Nothing rejects. */
export function createConnections(limits: {
  perPeer: number
  idleMs?: number
  maxMails?: number
  maxIdle?: number
}): Connections {
  const { perPeer, idleMs = 15_000, maxMails = 500, maxIdle = 500 } = limits
  const gate = createGate(perPeer)
  const kept = new Map<string, Session[]>() // insertion order: the peer used longest ago first
  let idleCount = 0
  let sweeper: ReturnType<typeof setTimeout> | null = null
  let stopped = false
  const quitting = new Set<Promise<void>>()

  const quit = (session: Session) => {
    const done = closeSession(session, createTranscript(nowMs)).finally(() => quitting.delete(done))
    quitting.add(done)
  }
  const removeOldest = (key: string, sessions: Session[]) => {
    idleCount--
    const session = sessions.shift()!
    if (sessions.length === 0) kept.delete(key)
    quit(session)
  }
  const sweep = () => {
    sweeper = null
    const oldest = nowMs() - idleMs
    for (const [key, sessions] of kept) {
      while (sessions.length > 0 && sessions[0]!.idleSinceMs <= oldest) removeOldest(key, sessions)
    }
    if (idleCount > 0) planSweep()
  }
  const planSweep = () => {
    sweeper ??= setTimeout(sweep, Math.max(10, idleMs / 4))
    sweeper.unref()
  }

  return {
    async take(peer) {
      const key = peerKey(peer)
      const place = gate.enter(key)
      if (place !== undefined) await place
      const sessions = kept.get(key)
      while (sessions !== undefined && sessions.length > 0) {
        const session = sessions.pop()!
        idleCount--
        if (sessions.length === 0) kept.delete(key)
        if (session.dialogue.isQuiet()) return session
        session.dialogue.close()
      }
      return null
    },
    give(peer, session) {
      const key = peerKey(peer)
      if (session?.dialogue.isQuiet()) {
        if (stopped || session.offered >= maxMails) quit(session)
        else {
          session.idleSinceMs = nowMs()
          const sessions = kept.get(key) ?? []
          kept.delete(key)
          kept.set(key, sessions)
          sessions.push(session)
          idleCount++
          if (idleCount > maxIdle) {
            const [oldestKey, oldest] = kept.entries().next().value!
            removeOldest(oldestKey, oldest)
          }
          planSweep()
        }
      } else session?.dialogue.close()
      gate.leave(key)
    },
    idle: () => idleCount,
    async stop() {
      stopped = true
      if (sweeper !== null) clearTimeout(sweeper)
      for (const [key, sessions] of kept) while (sessions.length > 0) removeOldest(key, sessions)
      await Promise.all(quitting)
    },
  }
}

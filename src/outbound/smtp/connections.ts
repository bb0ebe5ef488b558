import { createGate } from '../../net/limiters/keyed-semaphore.ts'
import { nowMs } from './dialogue.ts'
import { type Peer, peerKey } from './peer.ts'
import { closeSession, type Session } from './session.ts'
import { createTranscript } from './transcript.ts'

/** What one site may have of us at present: its servers together so many connections, over each so many mails. */
export interface DestinationLimits {
  name: string
  connections: number
  maxMails: number
}

/** Keeps sessions open between mails and counts them. */
export interface Connections {
  /** Waits for a place at this site, in the order of coming, then gives the session with this peer that was used last,
   *  or null when a new one must be opened. Every take needs one give. */
  take(peer: Peer, destination: DestinationLimits): Promise<Session | null>
  /** Gives the place back, and the session if it may serve again; null when it is gone. */
  give(destination: DestinationLimits, session: Session | null): void
  /** Sessions that wait for mail. */
  idle(): number
  /** QUITs what is idle; what comes back from now on is not kept. */
  stop(): Promise<void>
}

/** Sessions of one site. */
interface DestinationSessions {
  /** Handed out, or about to be opened. */
  out: number
  /** The one used longest ago first. */
  idle: Session[]
}

/** Limits → Connections. The session used last is the next to go out again, so that under little load the others grow
 *  old and are closed after `idleMs`; after its site's `maxMails` a session is closed as well. Idle ones count: where
 *  another server of the site is needed, or its limit has fallen, the oldest goes first. At most `maxIdle` are kept in
 *  all. Nothing rejects. */
export function createConnections(limits: { idleMs?: number; maxIdle?: number }): Connections {
  const { idleMs = 15_000, maxIdle = 500 } = limits
  const gate = createGate()
  const destinations = new Map<string, DestinationSessions>() // insertion order: the site used longest ago first
  let idleCount = 0
  let sweeper: ReturnType<typeof setTimeout> | null = null
  let stopped = false
  const quitting = new Set<Promise<void>>()

  const quit = (session: Session) => {
    const done = closeSession(session, createTranscript(nowMs)).finally(() => quitting.delete(done))
    quitting.add(done)
  }
  const removeOldest = (kept: DestinationSessions) => {
    idleCount--
    quit(kept.idle.shift()!)
  }
  const forgetEmpty = (name: string, kept: DestinationSessions) => {
    if (kept.out === 0 && kept.idle.length === 0) destinations.delete(name)
  }
  const sweep = () => {
    sweeper = null
    const oldest = nowMs() - idleMs
    for (const [name, kept] of destinations) {
      while (kept.idle.length > 0 && kept.idle[0]!.idleSinceMs <= oldest) removeOldest(kept)
      forgetEmpty(name, kept)
    }
    if (idleCount > 0) planSweep()
  }
  const planSweep = () => {
    sweeper ??= setTimeout(sweep, Math.max(10, idleMs / 4))
    sweeper.unref()
  }
  /** The last used session with the peer that is still alive, taken out of the idle ones. */
  const revive = (kept: DestinationSessions, key: string): Session | null => {
    for (let at = kept.idle.length - 1; at >= 0; at--) {
      const session = kept.idle[at]!
      if (peerKey(session.peer) !== key) continue
      kept.idle.splice(at, 1)
      idleCount--
      if (session.dialogue.isQuiet()) return session
      session.dialogue.close()
    }
    return null
  }

  return {
    async take(peer, destination) {
      const place = gate.enter(destination.name, destination.connections)
      if (place !== undefined) await place
      const kept = destinations.get(destination.name) ?? { out: 0, idle: [] }
      destinations.delete(destination.name)
      destinations.set(destination.name, kept)
      const session = revive(kept, peerKey(peer))
      kept.out++
      while (kept.idle.length > 0 && kept.out + kept.idle.length > destination.connections) removeOldest(kept)
      return session
    },
    give(destination, session) {
      const kept = destinations.get(destination.name)!
      kept.out--
      if (session?.dialogue.isQuiet()) {
        const isOver = kept.out + kept.idle.length >= destination.connections
        if (stopped || isOver || session.offered >= destination.maxMails) quit(session)
        else {
          session.idleSinceMs = nowMs()
          kept.idle.push(session)
          if (++idleCount > maxIdle) removeOldest([...destinations.values()].find(({ idle }) => idle.length > 0)!)
          planSweep()
        }
      } else session?.dialogue.close()
      forgetEmpty(destination.name, kept)
      gate.leave(destination.name)
    },
    idle: () => idleCount,
    async stop() {
      stopped = true
      if (sweeper !== null) clearTimeout(sweeper)
      for (const kept of destinations.values()) while (kept.idle.length > 0) removeOldest(kept)
      await Promise.all(quitting)
    },
  }
}

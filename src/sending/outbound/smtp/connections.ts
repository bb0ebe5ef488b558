import { createKeyedSemaphore } from '../../../net/limiters/keyed-semaphore.ts'
import { nowMs } from './dialogue.ts'
import { type Peer, peerKey } from './peer.ts'
import { closeSession, type Session } from './session.ts'
import { createTranscript } from './transcript.ts'

/** A destination's current limits: connections over all its servers, and mails per connection. */
export interface DestinationLimits {
  name: string
  connections: number
  maxMails: number
}

/** Counts sessions and keeps them open between mails. */
export interface Connections {
  /** Waits for a free connection to this destination, first come first served. Then returns the most recently used session with
   *  this peer, or null when a new one must be opened. Each `acquire` needs one `release`. */
  acquire(peer: Peer, destination: DestinationLimits): Promise<Session | null>
  /** Returns the session if it can be reused, null if it is gone. The connection is free from the next turn of the event
   *  loop on, so that the caller can note the reply before a mail that waits for it is sent. */
  release(destination: DestinationLimits, session: Session | null): void
  /** Sessions waiting for mail. */
  idle(): number
  /** Sends QUIT on idle sessions of the destination. */
  closeIdle(destination: string): void
  /** Sends QUIT on idle sessions; sessions returned later are not kept. */
  stop(): Promise<void>
}

/** Sessions of one destination. */
interface DestinationSessions {
  /** In use or being opened. */
  inUse: number
  /** Least recently used first. */
  idle: Session[]
}

/** Limits → Connections. Sessions are reused most recent first, so that under low load the others are closed after
 *  `idleMs`. A session is also closed after its destination's `maxMails`. Idle sessions count: when another server of
 *  the destination is needed or its limit drops, the oldest is closed first. At most `maxIdle` are kept in total.
 *  Nothing rejects. */
export function createConnections(limits: { idleMs?: number; maxIdle?: number }): Connections {
  const { idleMs = 15_000, maxIdle = 500 } = limits
  const semaphore = createKeyedSemaphore()
  const destinations = new Map<string, DestinationSessions>() // insertion order: least recently used destination first
  let idleCount = 0
  let sweeper: ReturnType<typeof setTimeout> | null = null
  let stopped = false
  const quitting = new Set<Promise<void>>()

  const quit = (session: Session) => {
    const done = closeSession(session, createTranscript(nowMs)).finally(() => quitting.delete(done))
    quitting.add(done)
  }
  const removeOldest = (sessions: DestinationSessions) => {
    const oldest = sessions.idle.shift()
    if (oldest === undefined) return
    idleCount--
    quit(oldest)
  }
  const removeFirst = () => {
    for (const sessions of destinations.values()) if (sessions.idle.length > 0) return removeOldest(sessions)
  }
  const deleteEmpty = (name: string, sessions: DestinationSessions) => {
    if (sessions.inUse === 0 && sessions.idle.length === 0) destinations.delete(name)
  }
  const sweep = () => {
    sweeper = null
    const oldest = nowMs() - idleMs
    for (const [name, sessions] of destinations) {
      while (sessions.idle[0] !== undefined && sessions.idle[0].idleSinceMs <= oldest) removeOldest(sessions)
      deleteEmpty(name, sessions)
    }
    if (idleCount > 0) planSweep()
  }
  const planSweep = () => {
    sweeper ??= setTimeout(sweep, Math.max(10, idleMs / 4))
    sweeper.unref()
  }
  /** Takes the most recently used session with the peer that is still alive. */
  const revive = (sessions: DestinationSessions, key: string): Session | null => {
    for (let at = sessions.idle.length - 1; at >= 0; at--) {
      const session = sessions.idle[at]!
      if (peerKey(session.peer) !== key) continue
      sessions.idle.splice(at, 1)
      idleCount--
      if (session.dialogue.isQuiet()) return session
      session.dialogue.close()
    }
    return null
  }

  return {
    async acquire(peer, destination) {
      const free = semaphore.enter(destination.name, destination.connections)
      if (free !== undefined) await free
      const sessions = destinations.get(destination.name) ?? { inUse: 0, idle: [] }
      destinations.delete(destination.name)
      destinations.set(destination.name, sessions)
      const session = revive(sessions, peerKey(peer))
      sessions.inUse++
      while (sessions.idle.length > 0 && sessions.inUse + sessions.idle.length > destination.connections)
        removeOldest(sessions)
      return session
    },
    release(destination, session) {
      const sessions = destinations.get(destination.name)
      if (sessions === undefined) throw new Error(`no session of ${destination.name} is in use`)
      sessions.inUse--
      if (session?.dialogue.isQuiet()) {
        const isOver = sessions.inUse + sessions.idle.length >= destination.connections
        if (stopped || isOver || session.offered >= destination.maxMails) quit(session)
        else {
          session.idleSinceMs = nowMs()
          sessions.idle.push(session)
          if (++idleCount > maxIdle) removeFirst()
          planSweep()
        }
      } else session?.dialogue.close()
      deleteEmpty(destination.name, sessions)
      // If it were free at once, the next mail would leave before the last one is in the journal. A process that is
      // killed then would send both again.
      setImmediate(() => semaphore.leave(destination.name))
    },
    closeIdle: (destination) => {
      const sessions = destinations.get(destination)
      if (sessions === undefined) return
      while (sessions.idle.length > 0) removeOldest(sessions)
      deleteEmpty(destination, sessions)
    },
    idle: () => idleCount,
    async stop() {
      stopped = true
      if (sweeper !== null) clearTimeout(sweeper)
      for (const sessions of destinations.values()) while (sessions.idle.length > 0) removeOldest(sessions)
      await Promise.all(quitting)
    },
  }
}

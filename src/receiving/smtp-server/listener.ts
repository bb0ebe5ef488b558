import type { AddressInfo, Socket } from 'node:net'
import type { Endpoint } from '../../config/notations.ts'
import type { Certificate } from '../../net/tls/certificate.ts'
import type { WallClock } from '../../os/clock.ts'
import type { Log } from '../../os/log.ts'
import type { MailLog } from '../../os/mail-log.ts'
import { ampleMemory, type Memory } from '../../os/memory.ts'
import { systemRandom } from '../../os/random.ts'
import { within } from '../../os/within.ts'
import { type ConnectionCount, createConnectionCount } from './connections.ts'
import type { ListenerContext } from './context.ts'
import { Conversation } from './conversation.ts'
import { createDeadlines } from './deadlines.ts'
import { createLoginThrottle } from './login.ts'
import { lineOf, REPLIES, replyTo } from './replies.ts'
import { SmtpReply } from './reply.ts'
import { ListenerServer } from './server.ts'
import type { SmtpHandler } from './session.ts'
import type { ListenerSettings } from './settings.ts'
import { createSpool } from './spool.ts'
import { createStress } from './stress.ts'

/** One SMTP listener, open or not yet open. */
export interface SmtpListener {
  /** Starts listening and returns the bound address with the real port in place of 0. Rejects when the address is in
   *  use or the spool folder cannot be created. Call it once. */
  listen(at: Endpoint): Promise<Endpoint>
  /** Used for handshakes from now on; established TLS sessions keep theirs. Throws when key and certificate do not
   *  match. */
  useCertificate(certificate: Certificate): void
  connections(): number
  /** Whether connections are running out (stress.ts). */
  isStressed(): boolean
  /** Stops accepting connections, sends 421 to idle clients and lets mail in progress finish, including its 250.
   *  Resolves when all connections are closed, and closes the rest after `graceMs`. */
  stop(graceMs: number): Promise<void>
}

/** Settings and handler → a listener that is not listening yet. `deps.name` is the listener's name in logs. No client
 *  can end the process or pass an incomplete mail to the handler. The handler's replies are sent unchanged. */
export function createSmtpListener<R>(
  settings: ListenerSettings,
  handler: SmtpHandler<R>,
  deps: { name: string; clock: WallClock; log: Log; mailLog?: Pick<MailLog, 'refused'>; memory?: Memory },
): SmtpListener {
  const { clock, memory = ampleMemory } = deps
  const log = deps.log.child({ door: deps.name })
  const count = createConnectionCount(settings.limits)
  const deadlines = createDeadlines(clock.steady)
  const mintName = () => Buffer.from(systemRandom.bytes(16)).toString('hex')
  const { memoryBytes } = settings.limits
  const spool = createSpool({ dir: settings.spoolDir, memoryBytes, mintName, clock: clock.steady, memory })
  /** Open conversations, each with the function that releases its place. */
  const conversations = new Map<Conversation<R>, () => void>()
  const rejected = new Set<Socket>()
  let stopping = false
  let onEmpty = () => {}
  let evictedAt = Number.NEGATIVE_INFINITY
  const stress = createStress(settings.limits.connections, (isOn) => {
    const connections = count.total()
    if (!isOn) return log.info('SMTP connections available again, idle timeouts restored', { connections })
    log.warn('SMTP connections nearly exhausted, idle timeouts reduced', { connections })
    for (const conversation of conversations.keys()) conversation.shortenDeadline()
  })

  const mayEvict = (): boolean => {
    const now = clock.steady.now()
    if (now - evictedAt < EVICTION_INTERVAL_MS) return false
    evictedAt = now
    return true
  }

  const enter = (address: string): (() => void) | SmtpReply => {
    let entry = count.tryOpen(address)
    if ('full' in entry && entry.full === 'all' && mayEvict() && evictIdle(conversations, address, count))
      entry = count.tryOpen(address)
    if ('full' in entry) return entry.full === 'network' ? REPLIES.tooManyOfNetwork : REPLIES.tooManyConnections
    const { close } = entry
    stress.update(count.total())
    return () => {
      close()
      stress.update(count.total())
    }
  }

  const context: ListenerContext<R> = {
    settings,
    handler,
    name: deps.name,
    clock,
    log,
    mailLog: deps.mailLog,
    spool,
    memory,
    loginThrottle: createLoginThrottle(clock.steady),
    deadlines,
    stress,
    stopping: () => stopping,
  }

  const server = new ListenerServer<R>({
    name: settings.hostname,
    secure: settings.tls === 'implicit',
    key: settings.certificate.keyPem,
    cert: settings.certificate.certificatePem,
    minVersion: 'TLSv1.2',
    disableReverseLookup: true,
    allowInsecureAuth: true, // Conversation enforces TLS itself
    authOptional: true,
    authMethods: ['PLAIN', 'LOGIN'],
    socketTimeout: HANDSHAKE_MS,
    logger: false,
  })
  server.on('error', (error) => log.debug('SMTP client disconnected', { error }))
  server.mayConnect = (socket) => {
    const entry = enter(socket.remoteAddress ?? '')
    return entry instanceof SmtpReply ? null : entry
  }
  server.begin = (socket, options) => {
    if (socket.destroyed) return undefined
    const closed = stopping ? REPLIES.shutdown : memory.isShort() ? REPLIES.overloaded : null
    const entry = closed ?? enter(socket.remoteAddress ?? '')
    if (entry instanceof SmtpReply) {
      if (rejected.size >= MAX_REJECTED) return void socket.destroy()
      rejected.add(socket)
      socket.once('close', () => rejected.delete(socket))
      return reject(socket, entry)
    }
    const conversation = new Conversation<R>(server, socket, options, context, (gone) => {
      entry()
      conversations.delete(gone)
      if (conversations.size === 0) onEmpty()
    })
    conversations.set(conversation, entry)
    return conversation
  }
  server.failed = (thrown) => replyTo(thrown, log)

  return {
    listen: async (at) => {
      await spool.prepare()
      return listenOn(server, at)
    },
    useCertificate: ({ keyPem, certificatePem }) => server.updateSecureContext({ key: keyPem, cert: certificatePem }),
    connections: () => count.total(),
    isStressed: stress.isOn,
    stop: async (graceMs) => {
      stopping = true
      server.server.close()
      for (const socket of server._pendingSockets.values()) socket.destroy()
      const empty = new Promise<void>((resolve) => (onEmpty = resolve))
      for (const conversation of conversations.keys()) conversation.endWhenIdle()
      if (conversations.size > 0) await within(clock, graceMs, empty)
      deadlines.stop()
      for (const conversation of conversations.keys()) conversation.cut()
    },
  }
}

/** Frees a place when all connections are taken: closes the longest idle connection of the network with the most
 *  connections, if that network holds clearly more than the one of `address`. Returns whether it closed one. */
function evictIdle<R>(
  conversations: ReadonlyMap<Conversation<R>, () => void>,
  address: string,
  count: ConnectionCount,
): boolean {
  let best: { conversation: Conversation<R>; held: number; since: number } | null = null
  for (const conversation of conversations.keys()) {
    const since = conversation.idleSince()
    if (since === null) continue
    const held = count.ofNetwork(conversation.client.remoteAddress)
    if (best === null || held > best.held || (held === best.held && since < best.since)) {
      best = { conversation, held, since }
    }
  }
  if (best === null || best.held <= count.ofNetwork(address) + 1) return false
  best.conversation.evict()
  conversations.get(best.conversation)?.() // now, before its socket has closed
  return true
}

/** Resolves with the bound address, its real port in place of 0. */
async function listenOn<R>({ server }: ListenerServer<R>, { host, port }: Endpoint): Promise<Endpoint> {
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(port, host, () => {
      server.off('error', reject)
      resolve()
    })
  })
  return { host, port: (server.address() as AddressInfo).port }
}

/** Minimum time between two evictions: each scans all connections. */
const EVICTION_INTERVAL_MS = 50

/** From the first byte to TLS, on a real timer; no mail is in progress. */
const HANDSHAKE_MS = 30_000

/** Time a rejected client has to read its reply. */
const REJECT_TIMEOUT_MS = 5_000

/** Rejected clients that get a reply at the same time. Further ones are closed without a reply, since each holds a file
 *  descriptor. */
const MAX_REJECTED = 16

function reject(socket: Socket, reply: SmtpReply): undefined {
  socket.on('error', () => {})
  socket.setTimeout(REJECT_TIMEOUT_MS, () => socket.destroy())
  socket.resume()
  socket.end(`${lineOf(reply)}\r\n`)
  return undefined
}

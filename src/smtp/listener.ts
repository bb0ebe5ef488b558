import type { AddressInfo, Socket } from 'node:net'
import type { Endpoint } from '../config/notations.ts'
import type { Certificate } from '../platform/certificate.ts'
import type { WallClock } from '../platform/clock.ts'
import type { Log } from '../platform/log.ts'
import type { MailLog } from '../platform/maillog.ts'
import { ampleMemory, type Memory } from '../platform/memory.ts'
import { systemRandom } from '../platform/random.ts'
import { createConnectionCount } from './connections.ts'
import { Conversation } from './conversation.ts'
import { createDeadlines } from './deadlines.ts'
import { DoorServer } from './door-server.ts'
import { createLoginBrake } from './login.ts'
import { lineOf, REPLIES, replyTo } from './replies.ts'
import type { SmtpReply } from './reply.ts'
import type { SmtpDoor } from './session.ts'
import type { ListenerSettings } from './settings.ts'
import { createSpool } from './spool.ts'
import type { Surroundings } from './surroundings.ts'

/** One door that is open, or will be. */
export interface SmtpListener {
  /** → where it listens; port 0 has become a real one. Rejects when the address is taken or the spool folder cannot be
   *  made. Once. */
  listen(at: Endpoint): Promise<Endpoint>
  /** For every handshake from now on; those under TLS stay as they are. Throws when key and certificate are no pair. */
  useCertificate(certificate: Certificate): void
  connections(): number
  /** No new connections; 421 for who is idle; a mail that has begun may end, its 250 included. Resolves when all are gone,
   *  after `graceMs` at the latest: then the rest is cut. */
  stop(graceMs: number): Promise<void>
}

/** Settings, and what mail means here → a listener that does not listen yet. `world.name` is for logs: which door. No
 *  client can end the process or reach the door with half a mail; what the door answers is spoken exactly. */
export function createSmtpListener<R>(
  settings: ListenerSettings,
  door: SmtpDoor<R>,
  world: { name: string; clock: WallClock; log: Log; mailLog?: Pick<MailLog, 'refused'>; memory?: Memory },
): SmtpListener {
  const { clock, memory = ampleMemory } = world
  const log = world.log.child({ door: world.name })
  const count = createConnectionCount(settings.limits)
  const deadlines = createDeadlines(clock.steady)
  const mintName = () => Buffer.from(systemRandom.bytes(16)).toString('hex')
  const { memoryBytes } = settings.limits
  const spool = createSpool({ dir: settings.spoolDir, memoryBytes, mintName, clock: clock.steady, memory })
  const conversations = new Set<Conversation<R>>()
  const turnedAway = new Set<Socket>()
  let stopping = false
  let onEmpty = () => {}

  const around: Surroundings<R> = {
    settings,
    door,
    name: world.name,
    clock,
    log,
    mailLog: world.mailLog,
    spool,
    memory,
    brake: createLoginBrake(clock.steady),
    deadlines,
    stopping: () => stopping,
  }

  const server = new DoorServer<R>({
    name: settings.hostname,
    secure: settings.tls === 'implicit',
    key: settings.certificate.keyPem,
    cert: settings.certificate.certificatePem,
    minVersion: 'TLSv1.2',
    disableReverseLookup: true,
    allowInsecureAuth: true, // Conversation asks for TLS itself, and knows when not to
    authOptional: true,
    authMethods: ['PLAIN', 'LOGIN'],
    socketTimeout: HANDSHAKE_MS,
    logger: false,
  })
  server.on('error', (error) => log.debug('an SMTP client broke off', { error }))
  server.mayEnter = (socket) => count.enter(socket.remoteAddress ?? '')
  server.begin = (socket, options) => {
    if (socket.destroyed) return undefined
    const closed = stopping ? REPLIES.shutdown : memory.isShort() ? REPLIES.overloaded : null
    const leave = closed === null ? count.enter(socket.remoteAddress ?? '') : null
    if (leave === null) {
      if (turnedAway.size >= MOST_TURNED_AWAY) return void socket.destroy()
      turnedAway.add(socket)
      socket.once('close', () => turnedAway.delete(socket))
      return turnAway(socket, closed ?? REPLIES.tooManyConnections)
    }
    const conversation = new Conversation<R>(server, socket, options, around, (gone) => {
      leave()
      conversations.delete(gone)
      if (conversations.size === 0) onEmpty()
    })
    conversations.add(conversation)
    return conversation
  }
  server.failed = (thrown) => replyTo(thrown, log)

  return {
    listen: async ({ host, port }) => {
      await spool.prepare()
      await new Promise<void>((resolve, reject) => {
        server.server.once('error', reject)
        server.server.listen(port, host, () => {
          server.server.off('error', reject)
          resolve()
        })
      })
      return { host, port: (server.server.address() as AddressInfo).port }
    },
    useCertificate: ({ keyPem, certificatePem }) => server.updateSecureContext({ key: keyPem, cert: certificatePem }),
    connections: () => count.total(),
    stop: async (graceMs) => {
      stopping = true
      server.server.close()
      for (const socket of server._pendingSockets.values()) socket.destroy()
      const waited = new AbortController()
      const empty = new Promise<void>((resolve) => (onEmpty = resolve))
      for (const conversation of conversations) conversation.endSoon()
      if (conversations.size > 0) await Promise.race([empty, clock.sleep(graceMs, waited.signal)])
      waited.abort()
      deadlines.stop()
      for (const conversation of conversations) conversation.cut()
    },
  }
}

/** From the first byte to TLS, on a real timer: no mail is under way. */
const HANDSHAKE_MS = 30_000

/** As long as a client that was turned away may take to hear it. */
const TURN_AWAY_MS = 5_000

/** Who are told so at once; more are cut without a word, for each of them holds a descriptor while it hears. */
const MOST_TURNED_AWAY = 16

function turnAway(socket: Socket, reply: SmtpReply): undefined {
  socket.on('error', () => {})
  socket.setTimeout(TURN_AWAY_MS, () => socket.destroy())
  socket.resume()
  socket.end(`${lineOf(reply)}\r\n`)
  return undefined
}

import { join } from 'node:path'
import { type Config, type Endpoint, formatEndpoint } from '../config/load.ts'
import { createNetworks } from '../net/ip.ts'
import type { Certificate } from '../net/tls/certificate.ts'
import type { WallClock } from '../os/clock.ts'
import type { Log } from '../os/log.ts'
import type { MailLog } from '../os/mail-log.ts'
import type { Memory } from '../os/memory.ts'
import { createSmtpListener } from '../smtp-server/listener.ts'
import type { SmtpHandler } from '../smtp-server/session.ts'
import { LIMITS, type ListenerSettings } from '../smtp-server/settings.ts'

/** The SMTP listeners that the config asks for. */
export interface Doors {
  /** What was bound; null = off. */
  listening: { smtpInbound: string | null; smtpSubmission: string | null; smtpSubmissionTls: string | null }
  /** How many stand, of each listener that is open. */
  connections(): { door: string; connections: number; isStressed: boolean }[]
  /** For every handshake from now on; connections that stand keep the old one. */
  useCertificate(certificate: Certificate): void
  /** Takes no new mail, lets what is under way come to its reply. */
  stop(graceMs: number): Promise<void>
}

// biome-ignore lint/suspicious/noExplicitAny: each door has its own meaning of a recipient, and keeps it to itself
type Door = SmtpHandler<any>

/** Config and who stands behind each door → the doors, open. Rejects with what binding throws, as a ListenFailure that
 *  names the config key; nothing is left open then. */
export async function openDoors(
  config: Config,
  behind: {
    /** Of each listener. */
    maxConnections: number
    /** Null where nothing listens. */
    certificate: Certificate | null
    inbound: Door
    submission: Door
    clock: WallClock
    log: Log
    mailLog: MailLog
    memory: Memory
  },
): Promise<Doors> {
  const { smtp, hostname, dataDir } = config
  const plan = [
    { key: 'smtp.inbound.listen', at: smtp.inbound.listen, tls: 'starttls' as const, door: behind.inbound },
    { key: 'smtp.submission.listen', at: smtp.submission.listen, tls: 'starttls' as const, door: behind.submission },
    {
      key: 'smtp.submission.listen_tls',
      at: smtp.submission.listenTls,
      tls: 'implicit' as const,
      door: behind.submission,
    },
  ]
  const { certificate } = behind
  const opened: ReturnType<typeof createSmtpListener>[] = []
  const names: string[] = []
  const stop = async (graceMs: number) => {
    await Promise.all(opened.map((listener) => listener.stop(graceMs)))
  }

  const bound: (string | null)[] = []
  try {
    for (const { key, at, tls, door } of plan) {
      if (at === null || certificate === null) {
        bound.push(null)
        continue
      }
      const name = door === behind.inbound ? 'inbound' : 'submission'
      const settings: ListenerSettings = {
        hostname,
        tls,
        certificate,
        loginNeedsTls: false, // on loopback; from elsewhere it always does
        spoolDir: join(dataDir, 'spool'),
        limits: {
          ...LIMITS,
          ...(name === 'submission' && { recipients: MAX_SUBMITTED_RECIPIENTS }),
          ...(name === 'inbound' && {
            connectionsPerNetwork: smtp.inbound.maxConnectionsPerNetwork,
            isUnlimited: createNetworks(smtp.inbound.unlimitedNetworks),
          }),
          messageBytes: config.limits.messageBytes,
          connections: behind.maxConnections,
          connectionsPerAddress: smtp.maxConnectionsPerAddress,
        },
      }
      const listener = createSmtpListener(settings, door, { name, ...behind })
      bound.push(formatEndpoint(await listener.listen(at).catch(named(key, at))))
      opened.push(listener)
      names.push(tls === 'implicit' ? `${name}_tls` : name)
    }
  } catch (error) {
    await stop(0)
    throw error
  }
  const [smtpInbound = null, smtpSubmission = null, smtpSubmissionTls = null] = bound
  return {
    listening: { smtpInbound, smtpSubmission, smtpSubmissionTls },
    connections: () =>
      opened.map((listener, at) => ({
        door: names[at]!,
        connections: listener.connections(),
        isStressed: listener.isStressed(),
      })),
    useCertificate: (next) => {
      for (const listener of opened) listener.useCertificate(next)
    },
    stop,
  }
}

/** A listener could not be bound: which key of the config asked for it, and why, in a line for the operator. */
export class ListenFailure extends Error {
  constructor(
    readonly key: string,
    at: Endpoint,
    cause: unknown,
  ) {
    super(`${key}: ${reasonOf(cause, formatEndpoint(at))}`, { cause })
  }
}

function reasonOf(cause: unknown, at: string): string {
  const code = cause instanceof Error && 'code' in cause ? String(cause.code) : ''
  switch (code) {
    case 'EADDRINUSE':
      return `${at} is in use by another program`
    case 'EADDRNOTAVAIL':
      return `${at} is no address of this machine`
    case 'EACCES':
      return `no permission to listen on ${at}; below 1024 it takes CAP_NET_BIND_SERVICE`
    default:
      return `cannot listen on ${at}: ${cause instanceof Error ? cause.message : String(cause)}`
  }
}

/** contract §3: 1 to 50 recipients a message; a client that has more brings them in a second transaction. */
const MAX_SUBMITTED_RECIPIENTS = 50

const named = (key: string, at: Endpoint) => (cause: unknown) => {
  throw new ListenFailure(key, at, cause)
}

import { join } from 'node:path'
import { processWords } from '../config/access-advice.ts'
import { fileFault } from '../config/file-fault.ts'
import { type Config, type Endpoint, formatEndpoint } from '../config/load.ts'
import { codeOf } from '../config/system-error.ts'
import { createNetworks } from '../net/ip.ts'
import type { Certificate } from '../net/tls/certificate.ts'
import type { WallClock } from '../os/clock.ts'
import type { Log } from '../os/log.ts'
import type { MailLog } from '../os/mail-log.ts'
import type { Memory } from '../os/memory.ts'
import { createSmtpListener } from '../receiving/smtp-server/listener.ts'
import type { SmtpHandler } from '../receiving/smtp-server/session.ts'
import { LIMITS, type ListenerSettings } from '../receiving/smtp-server/settings.ts'

/** The SMTP listeners that the config enables. */
export interface SmtpListeners {
  /** Bound addresses; null = disabled. */
  listening: { smtpInbound: string | null; smtpSubmission: string | null; smtpSubmissionTls: string | null }
  /** Open connections of each enabled listener. */
  connections(): { listener: string; connections: number; isStressed: boolean }[]
  /** Used for every handshake from now on; open connections keep their certificate. */
  useCertificate(certificate: Certificate): void
  /** Accepts no new mail and waits for running transactions. */
  stop(graceMs: number): Promise<void>
}

/** Each handler has its own type of recipient, which the listener only passes on. */
export interface SmtpListenersDeps<Inbound, Submission> {
  /** Connections allowed per listener. */
  maxConnections: number
  /** Null if no listener is enabled. */
  certificate: Certificate | null
  inbound: SmtpHandler<Inbound>
  submission: SmtpHandler<Submission>
  clock: WallClock
  log: Log
  mailLog: MailLog
  memory: Memory
}

/** Binds the enabled SMTP listeners. If one cannot be bound, closes the others and rejects with a ListenFailure that names
 *  the config key. */
export async function openSmtpListeners<Inbound, Submission>(
  config: Config,
  deps: SmtpListenersDeps<Inbound, Submission>,
): Promise<SmtpListeners> {
  const { certificate, clock, log, mailLog, memory } = deps
  const opened: { name: string; listener: ReturnType<typeof createSmtpListener> }[] = []
  const stop = async (graceMs: number) => {
    await Promise.all(opened.map(({ listener }) => listener.stop(graceMs)))
  }

  const bound: (string | null)[] = []
  try {
    for (const { key, at, kind, tls } of plannedListeners(config)) {
      if (at === null || certificate === null) {
        bound.push(null)
        continue
      }
      const settings = listenerSettings(config, { kind, tls, certificate, maxConnections: deps.maxConnections })
      const about = { name: kind, clock, log, mailLog, memory }
      const listener =
        kind === 'inbound'
          ? createSmtpListener(settings, deps.inbound, about)
          : createSmtpListener(settings, deps.submission, about)
      bound.push(formatEndpoint(await listener.listen(at).catch(named(key, at))))
      opened.push({ name: tls === 'implicit' ? `${kind}_tls` : kind, listener })
    }
  } catch (error) {
    await stop(0)
    throw error
  }
  const [smtpInbound = null, smtpSubmission = null, smtpSubmissionTls = null] = bound
  return {
    listening: { smtpInbound, smtpSubmission, smtpSubmissionTls },
    connections: () =>
      opened.map(({ name, listener }) => ({
        listener: name,
        connections: listener.connections(),
        isStressed: listener.isStressed(),
      })),
    useCertificate: (next) => {
      for (const { listener } of opened) listener.useCertificate(next)
    },
    stop,
  }
}

type Kind = 'inbound' | 'submission'

interface PlannedListener {
  key: string
  at: Endpoint | null
  kind: Kind
  tls: ListenerSettings['tls']
}

function plannedListeners({ smtp: { inbound, submission } }: Config): PlannedListener[] {
  return [
    { key: 'smtp.inbound.listen', at: inbound.listen, kind: 'inbound', tls: 'starttls' },
    { key: 'smtp.submission.listen', at: submission.listen, kind: 'submission', tls: 'starttls' },
    { key: 'smtp.submission.listen_tls', at: submission.listenTls, kind: 'submission', tls: 'implicit' },
  ]
}

function listenerSettings(
  { smtp, hostname, dataDir, limits }: Config,
  options: { kind: Kind; tls: ListenerSettings['tls']; certificate: Certificate; maxConnections: number },
): ListenerSettings {
  const { kind, tls, certificate, maxConnections } = options
  return {
    hostname,
    tls,
    certificate,
    loginNeedsTls: false, // on loopback only; other clients always need TLS
    spoolDir: join(dataDir, 'spool'),
    limits: {
      ...LIMITS,
      ...(kind === 'submission' && { recipients: MAX_SUBMITTED_RECIPIENTS }),
      ...(kind === 'inbound' && {
        connectionsPerNetwork: smtp.inbound.maxConnectionsPerNetwork,
        isUnlimited: createNetworks(smtp.inbound.unlimitedNetworks),
      }),
      messageBytes: limits.messageBytes,
      connections: maxConnections,
      connectionsPerAddress: smtp.maxConnectionsPerAddress,
    },
  }
}

/** A listener could not be bound. The message names the config key and the cause in one line. */
export class ListenFailure extends Error {
  constructor(
    readonly key: string,
    at: Endpoint,
    cause: unknown,
  ) {
    super(`${key}: ${reasonOf(cause, formatEndpoint(at))}`, { cause })
  }
}

/** Also of a file that a listener needs, such as its spool. */
function reasonOf(cause: unknown, at: string): string {
  if (cause instanceof Error && 'path' in cause && typeof cause.path === 'string') {
    return `${cause.path}: ${fileFault(cause, cause.path)}`
  }
  switch (codeOf(cause)) {
    case 'EADDRINUSE':
      return `${at} is in use by another program. Find it as root: ss -lntup sport = :${at.slice(at.lastIndexOf(':') + 1)}`
    case 'EADDRNOTAVAIL':
      return `${at} is not an address of this machine`
    case 'EACCES':
      return `no permission to listen on ${at}: ${processWords()}, and ports below 1024 require CAP_NET_BIND_SERVICE. ${PORT_ADVICE}`
    default:
      return `cannot listen on ${at}: ${cause instanceof Error ? cause.message : String(cause)}`
  }
}

const PORT_ADVICE =
  'Run it as a service (postrider unit) or as root. In a container, set --sysctl net.ipv4.ip_unprivileged_port_start=0'

/** A message has at most 50 recipients. A client with more sends the rest in a second transaction (RFC 5321 §4.5.3.1.10). */
const MAX_SUBMITTED_RECIPIENTS = 50

const named = (key: string, at: Endpoint) => (cause: unknown) => {
  throw new ListenFailure(key, at, cause)
}

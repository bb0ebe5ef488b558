import type { Config } from '../config/load.ts'

/** How many connections and jobs each part of the server may hold at once, by the config and the limit of open files. */
export interface ResourceLimits {
  /** Connections of each SMTP listener. */
  smtpConnections: number
  /** Deliveries in flight; each uses at most one connection. */
  deliveries: number
  /** Idle SMTP connections that each delivery thread keeps for reuse. */
  idleSessions: number
  /** Webhook posts in flight; inbound posts have the same limit. */
  posts: number
}

/** Database, log, spool, listeners, threads, DNS sockets. */
const OWN_FILES = 64

/** Derives limits that together stay under three quarters of the open files. The rest is for HTTP, whose listener watches
 *  the total (web/api/listener.ts). With some tens of thousands of files the config alone decides. */
export function resourceLimits(
  config: Pick<Config, 'smtp' | 'delivery' | 'webhooks'>,
  descriptorLimit: number,
): ResourceLimits {
  const { smtp, delivery, webhooks } = config
  const available = Math.max(descriptorLimit - OWN_FILES, OWN_FILES)
  const listeners = [smtp.inbound.listen, smtp.submission.listen, smtp.submission.listenTls].filter((at) => at !== null)
  const fraction = (part: number) => Math.max(1, Math.floor(available * part))
  return {
    smtpConnections: Math.min(smtp.maxConnections, fraction(1 / 4 / Math.max(1, listeners.length))),
    deliveries: Math.min(delivery.maxInFlight, fraction(1 / 8)),
    idleSessions: Math.min(MAX_IDLE_SESSIONS, fraction(1 / 8 / delivery.workers)),
    posts: Math.min(webhooks.maxInFlight, fraction(1 / 16)),
  }
}

const MAX_IDLE_SESSIONS = 500

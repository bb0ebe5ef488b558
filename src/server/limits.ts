import type { Config } from '../config/load.ts'

/** What each room may have at once, by the config and by the open files that the system grants. */
export interface Shares {
  /** Of each SMTP listener. */
  smtpConnections: number
  /** Deliveries under way: each has one connection at most. */
  deliveries: number
  /** Connections kept open between two mails, of each delivery thread. */
  idleSessions: number
  /** Posts under way: of events, and as many of inbound mail. */
  posts: number
}

/** Database, log, spool, listeners, threads, sockets of the DNS. */
const OWN_FILES = 64

/** Config and the limit of open files → shares that together stay under three quarters of it; the rest is for HTTP, whose
 *  door watches the whole (api/listener.ts). With some tens of thousands of files the config alone decides. */
export function sharesOf(config: Pick<Config, 'smtp' | 'delivery' | 'webhooks'>, descriptorLimit: number): Shares {
  const { smtp, delivery, webhooks } = config
  const rest = Math.max(descriptorLimit - OWN_FILES, OWN_FILES)
  const listeners = [smtp.inbound.listen, smtp.submission.listen, smtp.submission.listenTls].filter((at) => at !== null)
  const of = (part: number) => Math.max(1, Math.floor(rest * part))
  return {
    smtpConnections: Math.min(smtp.maxConnections, of(1 / 4 / Math.max(1, listeners.length))),
    deliveries: Math.min(delivery.maxInFlight, of(1 / 8)),
    idleSessions: Math.min(MOST_IDLE_SESSIONS, of(1 / 8 / delivery.workers)),
    posts: Math.min(webhooks.maxInFlight, of(1 / 16)),
  }
}

const MOST_IDLE_SESSIONS = 500

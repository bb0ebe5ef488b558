/** Alerts tell the operator of a problem of the installation. The looks of several sources (src/events/alerts) open and end
 *  them. */

export const ALERT_SEVERITIES = ['warning', 'critical'] as const
export type AlertSeverity = (typeof ALERT_SEVERITIES)[number]

/** `pending`: seen, but not for long enough to tell anybody. */
export type AlertState = 'pending' | 'firing' | 'resolved'

/** A problem as one look found it. */
export interface Problem {
  kind: AlertKind
  /** What has the problem: the name of a check, a domain, an address; '' if the kind says it all. */
  subject: string
  severity: AlertSeverity
  /** What was found. */
  message: string
  /** What to do about it; null: as the kind says. */
  advice: string | null
}

/** Times are ms UTC. */
export interface Alert extends Problem {
  id: string
  /** The node that sees the problem; '' = it belongs to the installation. */
  node: string
  state: AlertState
  firstSeenAt: number
  /** The last look that found it. */
  lastSeenAt: number
  /** The first look in a row that did not find it; null: the last one did. */
  missingSince: number | null
  raisedAt: number | null
  resolvedAt: number | null
}

/** The operator wants no notices about a problem for a time. It also holds for the next alert about the same problem. */
export interface Silence extends Pick<Problem, 'kind' | 'subject'> {
  /** As in Alert. */
  node: string
  /** Of the alert when it was silenced: a problem that becomes worse is not silenced. */
  severity: AlertSeverity
  /** ms UTC. */
  until: number
}

/** One post about an alert to one channel. */
export interface NoticeKey {
  alertId: string
  /** Name of the channel in the config. */
  channel: string
  event: NoticeEvent
  /** 0; reminders of an alert that still fires count on. */
  round: number
}

export type NoticeEvent = 'firing' | 'resolved'

export interface Notice extends NoticeKey {
  status: 'pending' | 'delivered' | 'failed'
  attempts: number
  /** When the last attempt ended; null before the first one, and while one is in progress. */
  endedAt: number | null
}

/** How posts to a channel went. */
export interface ChannelRecord {
  channel: string
  lastDeliveredAt: number | null
  /** First of the failed attempts since the last delivery; null if the last attempt was a success. */
  failingSince: number | null
  /** Failed attempts since then. */
  failures: number
  lastError: string | null
}

interface KindRule {
  /** Subject of the problem → name of the alert. */
  title: (subject: string) => string
  /** What the operator does, unless the look says something better. */
  advice: string
  /** How long looks in a row must find the problem before an alert begins; 0: the first one suffices. */
  raiseAfterMs: number
  /** How long looks in a row must not find it before the alert ends. */
  resolveAfterMs: number
}

const MINUTE_MS = 60_000
/** Two of the quick looks, which come every five minutes; less than that, because looks take time. */
const TWO_LOOKS_MS = 4 * MINUTE_MS
/** The source itself waits for two findings in a row (events/alerts/canary-source.ts), or looks back an hour (threadSource). */
const DECIDED_ELSEWHERE = { raiseAfterMs: 0, resolveAfterMs: 0 }
const CHECKED = { raiseAfterMs: TWO_LOOKS_MS, resolveAfterMs: TWO_LOOKS_MS }

/** Name of a canary mailbox, as titles say it: `self` is the one of this server. */
const whose = (mailbox: string) => (mailbox === 'self' ? 'this server' : mailbox)

/** Every kind of alert. Quality alerts and paused webhooks are decided elsewhere and wait for nothing. What a tenant can
 *  end and start again at will ends late, so that it cannot fill a channel. */
export const ALERT_KINDS = {
  health_check: {
    title: (check) => `Check failed: ${check.replaceAll('_', ' ')}`,
    advice: 'Run `postrider doctor` and follow its advice.',
    ...CHECKED,
  },
  certificate: {
    title: () => 'TLS certificate needs attention',
    advice: 'Renew the certificate, then run `systemctl reload postrider`.',
    ...CHECKED,
  },
  disk: {
    title: () => 'Disk space is low',
    advice: 'Free space, or reduce retention_days of the plans.',
    ...CHECKED,
  },
  queue_age: {
    title: () => 'Mail is overdue',
    advice: 'Open the oldest deferred messages; `postrider message explain` shows why each waits.',
    ...CHECKED,
  },
  blocklist: {
    title: () => 'A sending address is on a blocklist',
    advice: 'Find and stop the cause. Then request removal at the blocklist.',
    ...CHECKED,
  },
  node_lost: {
    title: () => 'Nodes need attention',
    advice: 'Start the node again, or take it off the list with `postrider node forget`.',
    ...CHECKED,
  },
  dkim_rotation: {
    title: () => 'New DKIM keys wait',
    advice: 'Run `postrider doctor`: it says what hinders them. The old keys sign meanwhile.',
    ...CHECKED,
  },
  alert_channel: {
    title: (channel) => `Alerts to ${channel} aren’t arriving`,
    advice: 'Check the URL or the mail server of the channel. Then run `postrider alert test`.',
    ...CHECKED,
  },
  quality: {
    title: (domain) => `Bounces or complaints of ${domain}`,
    advice: 'Ask the organization where its addresses come from. Pause it if it sends to old or purchased lists.',
    raiseAfterMs: 0,
    resolveAfterMs: 10 * MINUTE_MS,
  },
  webhook_paused: {
    title: () => 'Webhooks paused',
    advice: 'Tell the organization. Its events wait; it can resume the webhook when the endpoint works again.',
    raiseAfterMs: 0,
    resolveAfterMs: 60 * MINUTE_MS,
  },
  sign_in_cleared: {
    title: (user) => `Sign-in of ${user} ended`,
    advice:
      'The account got rights beyond the organization that invited it, and nobody had verified its address. Ask the person whether it was theirs, and that organization who made it.',
    raiseAfterMs: 0,
    resolveAfterMs: 0,
  },
  destination_block: {
    title: (address) => `${address} is blocked`,
    advice: 'Find the cause in the replies of the destination, and ask it for removal.',
    raiseAfterMs: TWO_LOOKS_MS,
    resolveAfterMs: 60 * MINUTE_MS,
  },
  thread_died: {
    title: (pool) => `Thread ended unexpectedly: ${pool}`,
    advice:
      'Look for "thread ended" in the log of this server. An exception there is a bug: report it with its stack. A signal or a memory limit comes from this machine.',
    ...DECIDED_ELSEWHERE,
  },
  dmarc_stranger: {
    title: (domain) => `Someone else sends as ${domain}`,
    advice:
      'If the addresses belong to a service of the organization, add it to SPF and DKIM. If not, a DMARC policy of quarantine or reject stops such mail.',
    raiseAfterMs: 0,
    resolveAfterMs: 24 * 60 * MINUTE_MS,
  },
  canary_missing: {
    title: (mailbox) => `The canary mail to ${whose(mailbox)} is missing`,
    advice:
      'Run `postrider doctor`; then look for the mail in the log of this server, and ask the provider of the mailbox.',
    ...DECIDED_ELSEWHERE,
  },
  canary_late: {
    title: (mailbox) => `The canary mail to ${whose(mailbox)} is late`,
    advice: 'Look at the queue of this server, and at the Received fields of the mail.',
    ...DECIDED_ELSEWHERE,
  },
  canary_spam: {
    title: (mailbox) => `${whose(mailbox)} put the canary mail in spam`,
    advice: 'Run `postrider doctor`, and compare DNS records, blocklists and complaints.',
    ...DECIDED_ELSEWHERE,
  },
  canary_unauthenticated: {
    title: (mailbox) => `The canary mail to ${whose(mailbox)} is not authenticated`,
    advice: 'Check the records of the domain of the sender with `postrider dns check`.',
    ...DECIDED_ELSEWHERE,
  },
  canary_unchecked: {
    title: (mailbox) => `The canary mailbox of ${whose(mailbox)} cannot be read`,
    advice: 'Correct the mailbox in [[canary.mailboxes]]. Then run `postrider canary run`.',
    ...DECIDED_ELSEWHERE,
  },
} as const satisfies Record<string, KindRule>

export type AlertKind = keyof typeof ALERT_KINDS

/** Alert or problem → what to do about it. */
export const adviceFor = ({ kind, advice }: Pick<Problem, 'kind' | 'advice'>): string =>
  advice ?? ALERT_KINDS[kind].advice

/** Name of an alert: `Check failed: clock`, `Disk space is low on node-2`. */
export function alertTitle({ kind, subject, node }: Pick<Alert, 'kind' | 'subject' | 'node'>): string {
  return `${ALERT_KINDS[kind].title(subject)}${node === '' ? '' : ` on ${node}`}`
}

/** True for an alert of at least that severity. */
export const isAtLeast = (severity: AlertSeverity, least: AlertSeverity): boolean =>
  ALERT_SEVERITIES.indexOf(severity) >= ALERT_SEVERITIES.indexOf(least)

/** Until when an alert is silenced, in ms UTC; null if it is not silenced at `now`. */
export function silencedUntil(alert: Alert, silences: readonly Silence[], now: number): number | null {
  const own = silences.find(
    ({ kind, subject, node }) => kind === alert.kind && subject === alert.subject && node === alert.node,
  )
  return own !== undefined && own.until > now && isAtLeast(own.severity, alert.severity) ? own.until : null
}

/** Longest silence. */
export const MOST_SILENT_HOURS = 7 * 24

/** Longest stored message and advice, in UTF-16 code units: replies of other servers are part of them. */
export const MOST_ALERT_TEXT = 1000
/** Open alerts of a kind; further problems of it are not raised. */
export const MOST_OPEN_OF_KIND = 100
/** How long ended alerts are kept. */
export const ALERTS_KEPT_MS = 90 * 24 * 60 * MINUTE_MS

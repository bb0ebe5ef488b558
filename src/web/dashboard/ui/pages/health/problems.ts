import type { Json } from '../../kit/api.ts'
import { number } from '../../kit/format.ts'
import { checkName } from './check-names.ts'

/** Path and query for `href`. */
type Page = readonly [path: string, query?: Record<string, string>]

/** One thing that is wrong, whoever found it: a health check, an alert or both. */
export interface Problem {
  key: string
  isCritical: boolean
  /** What has the problem: `Disk`, `newsletter.example`. */
  object: string
  /** A page about the object; null if there is none. */
  page: Page | null
  sentence: string
  advice: string
  /** ISO 8601 of when the alert was raised; null without an alert. */
  since: string | null
  /** The alert, which can be silenced; null without one. */
  alertId: string | null
  /** ISO 8601; null: not silenced. */
  silencedUntil: string | null
}

/** Checks that fail or warn and alerts that fire → the problems, critical ones first. An alert about what a check reports is
 *  the same problem: its row says since when. Alerts about one channel, mailbox or domain are rows of their own, and the
 *  check that counts them is left out. `domains`: IDs by name of
 *  those of the selected organization, which have pages. */
export function problemsOf(
  checks: readonly Json[],
  alerts: readonly Json[],
  domains: ReadonlyMap<string, string> = new Map(),
): Problem[] {
  const firing = alerts.filter(({ state }) => state === 'firing')
  const single = firing.filter(({ kind }) => CHECK_OF_MANY[kind] !== undefined)
  const counted = new Set(single.map(({ kind }) => CHECK_OF_MANY[kind]))
  const wrong = checks.filter(({ name, status }) => (status === 'fail' || status === 'warn') && !counted.has(name))
  const alertOf = (name: string) => firing.find((alert) => checkOf(alert) === name)
  const others = firing.filter((alert) => !wrong.some(({ name }) => name === checkOf(alert)))
  const problems = [...wrong.map((check) => ofCheck(check, alertOf(check.name), domains)), ...others.map(ofAlert)]
  return problems.toSorted((a, b) => Number(b.isCritical) - Number(a.isCritical))
}

/** `2 critical, 3 warnings`; '' without problems. */
export function countsOf(problems: readonly Problem[]): string {
  const critical = problems.filter(({ isCritical }) => isCritical).length
  const warnings = problems.length - critical
  return [
    critical > 0 && `${number(critical)} critical`,
    warnings > 0 && `${number(warnings)} ${warnings === 1 ? 'warning' : 'warnings'}`,
  ]
    .filter(Boolean)
    .join(', ')
}

/** The check that reports the same as an alert; undefined if none does. */
const checkOf = ({ kind, subject }: Json): string | undefined =>
  kind === 'health_check' ? subject : CHECK_OF_KIND[kind]

const CHECK_OF_KIND: Record<string, string> = {
  certificate: 'certificate',
  disk: 'disk',
  queue_age: 'queue',
  blocklist: 'blocklists',
  node_lost: 'nodes',
  dkim_rotation: 'dkim_rotation',
}

/** Kinds whose alerts name one of several objects, and the check that counts them. */
const CHECK_OF_MANY: Record<string, string> = {
  alert_channel: 'alert_channels',
  canary_missing: 'canary',
  canary_late: 'canary',
  canary_spam: 'canary',
  canary_unauthenticated: 'canary',
  canary_unchecked: 'canary',
}

function ofCheck(
  { name, status, subject, message, advice }: Json,
  alert: Json | undefined,
  domains: ReadonlyMap<string, string>,
): Problem {
  return {
    key: name,
    isCritical: status === 'fail',
    object: subject ?? checkName(name),
    page: domains.has(subject) ? [`/domains/${domains.get(subject)}`] : (PAGES[name] ?? null),
    sentence: message,
    advice: advice ?? '',
    ...ofItsAlert(alert),
  }
}

function ofAlert(alert: Json): Problem {
  const { id, kind, subject, severity, title, message, advice } = alert
  const isCheck = kind === 'health_check'
  return {
    key: id,
    isCritical: severity === 'critical',
    object: isCheck ? checkName(subject) : title,
    page: PAGES[isCheck ? subject : kind] ?? null,
    sentence: message,
    advice,
    ...ofItsAlert(alert),
  }
}

const ofItsAlert = (alert: Json | undefined) => ({
  since: alert?.raised_at ?? null,
  alertId: alert?.id ?? null,
  silencedUntil: alert?.silenced_until ?? null,
})

const WAITING = ['/messages', { status: 'deferred' }] as const
/** Pages about the objects of checks and of kinds of alerts. */
const PAGES: Record<string, Page> = {
  domains: ['/domains'],
  spf: ['/domains'],
  dmarc: ['/domains'],
  dkim_rotation: ['/domains'],
  quality: ['/domains'],
  dmarc_stranger: ['/domains'],
  sending_addresses: ['/sending-addresses'],
  blocklists: ['/sending-addresses'],
  destination_block: ['/sending-addresses'],
  queue: WAITING,
  queue_age: WAITING,
  deliveries: WAITING,
  held: WAITING,
  webhook_paused: ['/organizations'],
  users: ['/users', { scope: 'all' }],
  user_mail: ['/settings', { tab: 'configuration', q: 'users' }],
  oidc: ['/settings', { tab: 'configuration', q: 'oidc' }],
  sign_in_cleared: ['/users', { scope: 'all' }],
}

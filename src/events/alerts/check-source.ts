import type { Alert, AlertKind, Problem } from '../../model/alert.ts'
import { type CheckResult, isTimedOut } from '../../operating/health/check.ts'
import type { HealthWatch } from '../../operating/health/watch.ts'
import type { Look } from './judge.ts'
import type { Source } from './sources.ts'

/** Checks that are made every QUICK_MS: what they find gets worse within minutes, and they ask nobody else. */
export const QUICK_CHECKS = ['disk', 'certificate', 'queue', 'nodes', 'store']

/** Health checks that fail, and warnings of those that have a kind of their own. The server makes all checks every hour;
 *  while one of their alerts is about to begin or to end, they are repeated every RECHECK_MS. Results about the machine
 *  are those of `node`; the leader alone reports those about the installation. */
export function checkSource(deps: {
  health: HealthWatch
  runQuick: () => Promise<readonly CheckResult[]>
  leads: () => boolean
  /** '' if the installation has one node. */
  node: string
}): Source {
  const { health, runQuick, leads, node } = deps
  let seenAt = 0
  let quickAt = Number.NEGATIVE_INFINITY
  const looksOf = (results: readonly CheckResult[], at: number): Look[] => {
    const [shared, own] = [results.filter(isOfInstallation), results.filter((each) => !isOfInstallation(each))]
    if (node === '') return [lookOf(results, at, node)]
    return [lookOf(own, at, node), ...(leads() ? [lookOf(shared, at, '')] : [])]
  }
  return async (now, open) => {
    const latest = health.latest()
    const isUnsettled = (alert: Alert) =>
      SLOW_KINDS.includes(alert.kind) &&
      (alert.node === node || (alert.node === '' && leads())) &&
      (alert.state === 'pending' || alert.missingSince !== null)
    const isOld = latest !== null && now - latest.checkedAt >= RECHECK_MS
    const found = isOld && open.some(isUnsettled) ? await health.look() : latest
    const looks: Look[] = []
    if (found !== null && found.checkedAt !== seenAt) {
      seenAt = found.checkedAt
      looks.push(...looksOf(found.checks, found.checkedAt))
    }
    if (now - quickAt >= QUICK_MS) {
      quickAt = now
      looks.push(...looksOf(await runQuick(), now))
    }
    return looks
  }
}

function lookOf(results: readonly CheckResult[], at: number, node: string): Look {
  // Without DNS, many checks are skipped that failed before.
  const isBlind = results.some(({ name, status }) => name === 'name_servers' && status === 'fail')
  const made = results.filter((result) => !(result.status === 'skip' && (isBlind || isTimedOut(result))))
  const names = new Set(made.map(({ name }) => name))
  return {
    at,
    node,
    problems: made.flatMap(problemOf),
    covers: ({ kind, subject }) =>
      kind === 'health_check' ? names.has(subject) : [...names].some((name) => KINDS[name] === kind),
  }
}

function problemOf({ name, status, message, advice }: CheckResult): Problem[] {
  const kind = KINDS[name]
  if (name === OF_CHANNELS || (status !== 'fail' && (status !== 'warn' || kind === undefined))) return []
  const severity = status === 'fail' ? 'critical' : 'warning'
  return [{ kind: kind ?? 'health_check', subject: kind === undefined ? name : '', severity, message, advice }]
}

const KINDS: Readonly<Record<string, AlertKind>> = {
  certificate: 'certificate',
  disk: 'disk',
  queue: 'queue_age',
  blocklists: 'blocklist',
  nodes: 'node_lost',
  dkim_rotation: 'dkim_rotation',
}

/** Kinds of checks that are not among the quick ones. */
const SLOW_KINDS: readonly AlertKind[] = ['health_check', 'blocklist', 'dkim_rotation']

/** Its alerts name the channel. */
const OF_CHANNELS = 'alert_channels'

const isOfInstallation = ({ name }: CheckResult) => OF_INSTALLATION.has(name) || name.startsWith('database')

/** Checks whose result is the same on every node. */
const OF_INSTALLATION = new Set([
  'smarthost',
  'spf',
  'dmarc',
  'oidc',
  'store',
  'object_storage',
  'domains',
  'dkim_rotation',
  'user_mail',
  'users',
  'canary',
  'deliveries',
  'queue',
  'held',
  'nodes',
  'node_settings',
  'node_names',
  OF_CHANNELS,
])

const MINUTE_MS = 60_000
const QUICK_MS = 5 * MINUTE_MS
const RECHECK_MS = 5 * MINUTE_MS

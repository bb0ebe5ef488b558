import { ALERTS_KEPT_MS } from '../../model/alert.ts'
import { AUDIT_KEPT_MS } from '../../model/audit-entry.ts'
import { CANARIES_KEPT_MS } from '../../model/canary.ts'
import { IDEMPOTENCY_KEPT_MS } from '../../model/idempotency.ts'
import type { Plan } from '../../model/organization.ts'
import type { Clock } from '../../os/clock.ts'
import type { MintId } from '../../os/ids.ts'
import type { Log } from '../../os/log.ts'
import type { Notify } from '../../os/notifier.ts'
import type { Store } from '../../storage/store.ts'
import { assignDedicatedAddresses } from './dedicated-addresses.ts'
import { checkDueDomains, type DomainCare } from './domains.ts'
import type { Task } from './loop.ts'
import { watchQuality } from './quality.ts'
import { createRetention } from './retention.ts'
import { createStepRunner } from './step-runner.ts'

/** The table of periodic tasks: name, whether each node runs it or the leader, interval, and the work of one run. What
 *  the leader runs may run on another node too for a moment, so it is harmless twice. */
export function maintenanceTasks(deps: {
  store: Store
  clock: Clock
  mintId: MintId
  log: Log
  plans: (name: string) => Plan | undefined
  domainCare: Omit<DomainCare, 'store' | 'mintId' | 'log' | 'onKeys'>
  quality: Parameters<typeof watchQuality>[1]['settings']
  /** Starts refreshing MTA-STS policies before they expire. Not awaited, since other servers may be slow. */
  refreshPolicies: (now: number) => void
  /** Stores the counted TLS sessions. */
  flushTls: () => Promise<void>
  /** Stores the counted attempts through relays. */
  flushRelays: () => Promise<void>
  /** Stores the counted attempts from sending addresses. */
  flushAddresses: () => Promise<void>
  /** Starts sending reports of TLS sessions of past days. Not awaited, since other servers may be slow. */
  sendTlsReports: (now: number) => void
  /** Starts the health checks. Not awaited, since they contact other servers. */
  runHealthChecks: () => void
  /** Looks for problems to alert the operator of, and sends notices to the channels. Neither is awaited, since other
   *  servers may be slow. Null: there are no channels. */
  alerts: { look: (now: number) => Promise<void>; send: (now: number) => Promise<void> } | null
  /** Starts sending canary mails that are due and looking for those on their way; not awaited. Null: canaries are off. */
  canaries: { tick: (now: number) => Promise<void> } | null
  /** Stores when keys were last used. */
  flushUses: () => Promise<void>
  /** Starts ordering a certificate if one is needed; not awaited. */
  renewCertificateIfDue: () => void
  /** Configured addresses for single organizations, and what reads who has them again. */
  dedicated: { addresses: readonly string[]; refresh: () => Promise<void> }
  notify: Notify
  /** True while there is work that a caller waits for. */
  isBusy: () => boolean
}): Task[] {
  const { store, mintId, isBusy } = deps
  let orphansAfter: string | null = null
  const runErasure = createStepRunner(deps.clock)
  return [
    { name: 'key uses', of: 'node', everyMs: 10_000, run: () => deps.flushUses() },
    {
      name: 'domains',
      of: 'installation',
      everyMs: MINUTE_MS,
      run: async (now) => {
        // Other tasks wait meanwhile, so each run takes a few domains.
        const onKeys = () => deps.notify('domains')
        return (await checkDueDomains(now, { ...deps.domainCare, store, mintId, log: deps.log, onKeys }))
          ? 5_000
          : false
      },
    },
    {
      name: 'quality',
      of: 'installation',
      everyMs: QUALITY_MS,
      run: async (now) => {
        if (await watchQuality(now, { store, mintId, settings: deps.quality })) deps.notify('webhook deliveries')
      },
    },
    {
      name: 'outcomes',
      of: 'installation',
      everyMs: MINUTE_MS,
      run: async (now) => (await store.quality.pruneOutcomes(now, 200)) === 200,
    },
    {
      name: 'search index',
      of: 'installation',
      everyMs: 1_000,
      // One batch per second while there is other work, otherwise everything.
      run: async () => (await store.maintain('recent', () => true)) && !isBusy(),
    },
    {
      name: 'ended nodes',
      of: 'installation',
      everyMs: 10_000,
      run: async () => (await store.maintain('ended', () => true)) && !isBusy(),
    },
    {
      name: 'idempotency keys',
      of: 'installation',
      erases: true,
      everyMs: MINUTE_MS,
      // The stored response of a batch has a hundred kilobytes.
      run: async (now) => (await store.idempotency.prune(now - IDEMPOTENCY_KEPT_MS, 20)) === 20,
    },
    {
      name: 'mta-sts policies',
      of: 'installation',
      everyMs: MINUTE_MS,
      run: async (now) => void deps.refreshPolicies(now),
    },
    {
      name: 'health',
      of: 'node',
      everyMs: 60 * MINUTE_MS,
      firstMs: MINUTE_MS,
      run: async () => void deps.runHealthChecks(),
    },
    {
      name: 'certificate',
      of: 'node',
      everyMs: MINUTE_MS,
      firstMs: 1_000,
      run: async () => void deps.renewCertificateIfDue(),
    },
    {
      name: 'audit log',
      of: 'installation',
      erases: true,
      everyMs: 60 * MINUTE_MS,
      run: async (now) => (await store.auditLog.prune(now - AUDIT_KEPT_MS, 100)) === 100,
    },
    {
      name: 'operator sessions',
      of: 'installation',
      everyMs: 60 * MINUTE_MS,
      run: async (now) => (await store.sessions.prune(now, 100)) >= 100,
    },
    {
      name: 'stored bytes',
      of: 'installation',
      everyMs: 1_000,
      // One step per second while there is other work, otherwise one after the other.
      run: async () => (await store.usage.countSome()) && !isBusy(),
    },
    {
      name: 'recount of stored bytes',
      of: 'installation',
      everyMs: 7 * 24 * 60 * MINUTE_MS,
      run: async () => store.usage.beginCount(),
    },
    {
      name: 'usage of past days',
      of: 'installation',
      erases: true,
      everyMs: 60 * MINUTE_MS,
      run: async (now) => (await store.usage.prune(now, 100)) === 100,
    },
    {
      name: 'unconfirmed forward targets',
      of: 'installation',
      erases: true,
      everyMs: 60 * MINUTE_MS,
      run: async (now) => (await store.forwardTargets.prune(now - UNANSWERED_MS, 100)) === 100,
    },
    {
      name: 'orphans in object storage',
      of: 'installation',
      erases: true,
      everyMs: 24 * 60 * MINUTE_MS,
      firstMs: 60 * MINUTE_MS,
      run: async (now) => {
        // A change whose answer was lost may still be written.
        orphansAfter = await store.contents.removeOrphans({ after: orphansAfter ?? '', before: now - DAY_MS })
        return orphansAfter !== null
      },
    },
    { name: 'tls sessions', of: 'node', everyMs: MINUTE_MS, run: () => deps.flushTls() },
    { name: 'address counts', of: 'node', everyMs: MINUTE_MS, run: () => deps.flushAddresses() },
    { name: 'relay counts', of: 'node', everyMs: MINUTE_MS, run: () => deps.flushRelays() },
    {
      name: 'relay attempts',
      of: 'installation',
      everyMs: MINUTE_MS,
      run: async (now) => (await store.relays.pruneBegun(now - RELAY_ATTEMPTS_KEPT_MS, 200)) === 200,
    },
    {
      name: 'tls reports',
      of: 'installation',
      everyMs: MINUTE_MS,
      run: async (now) => void deps.sendTlsReports(now),
    },
    {
      name: 'erasures',
      of: 'installation',
      everyMs: 2_000,
      run: async (now) => {
        const isMore = await runErasure((timeIsUp) => store.erasures.step(now, timeIsUp))
        return isMore && isBusy() ? ERASURE_PAUSE_MS : isMore
      },
    },
    {
      name: 'content of streams',
      of: 'installation',
      erases: true,
      everyMs: MINUTE_MS,
      run: async (now) => ((await store.messages.redactDue(now, REDACTED)) > 0 ? REDACT_PAUSE_MS : false),
    },
    ...dedicatedTasks(deps),
    ...alertTasks(deps),
    ...canaryTasks(deps),
    createRetention(deps),
  ]
}

/** Looks on each node; the leader sends the notices. Nothing without channels. */
function alertTasks({ store, alerts }: Pick<Parameters<typeof maintenanceTasks>[0], 'store' | 'alerts'>): Task[] {
  if (alerts === null) return []
  return [
    { name: 'alerts', of: 'node', everyMs: MINUTE_MS, firstMs: 30_000, run: async (now) => void alerts.look(now) },
    { name: 'alert notices', of: 'installation', everyMs: 10_000, run: async (now) => void alerts.send(now) },
    {
      name: 'ended alerts',
      of: 'installation',
      erases: true,
      everyMs: 60 * MINUTE_MS,
      run: async (now) => (await store.alerts.prune(now - ALERTS_KEPT_MS, 100)) === 100,
    },
  ]
}

/** The leader sends and looks. Nothing without canaries. */
function canaryTasks({ store, canaries }: Pick<Parameters<typeof maintenanceTasks>[0], 'store' | 'canaries'>): Task[] {
  if (canaries === null) return []
  return [
    {
      name: 'canaries',
      of: 'installation',
      everyMs: 10_000,
      run: async (now) => void canaries.tick(now),
    },
    {
      name: 'old canaries',
      of: 'installation',
      erases: true,
      everyMs: 60 * MINUTE_MS,
      run: async (now) => (await store.canaries.prune(now - CANARIES_KEPT_MS, 500)) === 500,
    },
  ]
}

/** Assigns dedicated addresses, and tells this node about them; nothing without such addresses. */
function dedicatedTasks({
  store,
  plans,
  dedicated,
}: Pick<Parameters<typeof maintenanceTasks>[0], 'store' | 'plans' | 'dedicated'>): Task[] {
  const { addresses, refresh } = dedicated
  if (addresses.length === 0) return []
  const hasDedicated = (plan: string) => plans(plan)?.dedicatedAddress === true
  return [
    {
      name: 'dedicated addresses',
      of: 'installation',
      everyMs: 10_000,
      firstMs: 1_000,
      run: async (now) => {
        if (await assignDedicatedAddresses(now, { store, addresses, hasDedicated })) await refresh()
      },
    },
    { name: 'addresses of this node', of: 'node', everyMs: 10_000, run: () => refresh() },
  ]
}

/** Pause between two steps of an erasure while there is other work. */
const ERASURE_PAUSE_MS = 50
/** Messages whose content is removed in one transaction, and the pause between two. */
const REDACTED = 10
const REDACT_PAUSE_MS = 50
/** Interval of the quality checks. */
const QUALITY_MS = 15_000
/** No delivery is open longer: scheduled for 30 days, then retried for 31. */
const RELAY_ATTEMPTS_KEPT_MS = 62 * 86_400_000
const MINUTE_MS = 60_000
const DAY_MS = 24 * 60 * MINUTE_MS
/** A confirmation link is valid for 7 days; a later request sends a new one. */
const UNANSWERED_MS = 30 * 24 * 60 * MINUTE_MS

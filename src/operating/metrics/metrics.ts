import type { Alert } from '../../model/alert.ts'
import type { Canary } from '../../model/canary.ts'
import type { SuppressionReason } from '../../model/suppression.ts'
import type { PostResult } from '../../net/https/requests.ts'
import type { MailLog } from '../../os/mail-log.ts'
import { ampleMemory, type Memory } from '../../os/memory.ts'
import type { NodeObserver, Store } from '../../storage/store.ts'
import type { HealthWatch } from '../health/watch.ts'
import { gaugeAlerts } from './alerts.ts'
import { gaugeCanaries } from './canaries.ts'
import { gaugeCertificates, type ShownCertificate } from './certificates.ts'
import { type Engines, gaugeEngines } from './engines.ts'
import { gaugeHealth } from './health.ts'
import { countMachine, watchStalls } from './machine.ts'
import { countMail } from './mail.ts'
import { countGroups, gaugeNodes } from './nodes.ts'
import { type AskedBy, type MetricsPage, metricsPage } from './page.ts'
import { countPools, type PoolMetrics } from './pools.ts'
import { countPosts } from './posts.ts'
import { gaugeQueues } from './queues.ts'
import { createRegistry, type Family } from './registry.ts'
import { type AnsweredRequest, countRequests } from './requests.ts'
import { gaugeRotations } from './rotations.ts'

/** Metrics of the server. Counters wrap existing calls or see their results (mail facts, posts, responses, commits);
 *  gauges query the engines on each scrape. Values restart at zero, and only the queue gauges read the store's tables. */
export interface Metrics {
  /** Wraps a MailLog and counts its facts. */
  mail(log: MailLog): MailLog
  /** Returns what records the result of each request of this kind. */
  posts(kind: 'webhook' | 'inbound'): (result: PostResult) => void
  answered(request: AnsweredRequest): void
  pools: PoolMetrics
  /** Records the duration of a transaction. */
  committed(ms: number): void
  suppressed(reason: SuppressionReason): void
  /** Sees what this node writes to PostgreSQL. */
  nodes: NodeObserver
  /** Registers the gauges of the engines and measures the delay of the main thread. */
  watch(
    engines: Engines,
    store: Pick<Store, 'queues' | 'held' | 'nodes' | 'domains'>,
    health: HealthWatch,
    now: () => number,
  ): void
  /** Registers the expiry times (ms UTC) of TLS certificates, read on each scrape. */
  certificates(shown: () => readonly ShownCertificate[]): void
  /** Registers the firing alerts; null if alerts are off. */
  alerts(firing: (() => readonly Alert[]) | null): void
  /** Registers the last canary mail to each mailbox. */
  canaries(latest: () => readonly Canary[]): void
  /** Empty if no network is allowed. */
  pages(asked: AskedBy): MetricsPage[]
  /** All metric families, to check alerts and dashboards against them. */
  families(): readonly Family[]
  stop(): void
}

/** Creates the metrics; `allowedNetworks` are CIDRs. */
export function createMetrics(options: {
  allowedNetworks: readonly string[]
  dataDir: string
  startedAt: number
  /** ms UTC. */
  now: () => number
  memory?: Memory
}): Metrics {
  const { allowedNetworks } = options
  const registry = createRegistry()
  const posts = countPosts(registry)
  const answered = countRequests(registry)
  const pools = countPools(registry, options.now)
  const suppressions = registry.counter('postrider_suppressions_total', 'Suppressions added, by reason.', ['reason'])
  const machine = countMachine(registry, { memory: ampleMemory, ...options })
  const nodes = countGroups(registry)
  let stop = () => {}
  let refresh = async () => {}
  return {
    mail: (log) => countMail(registry, log),
    posts,
    answered,
    pools,
    committed: machine.committed,
    suppressed: (reason) => suppressions([reason]),
    nodes,
    watch: (engines, store, health, now) => {
      gaugeHealth(registry, health)
      gaugeEngines(registry, engines)
      const [queues, nodes] = [gaugeQueues(registry, store, now), gaugeNodes(registry, store, now)]
      const rotations = gaugeRotations(registry, store, now)
      refresh = async () => {
        await Promise.all([queues.refresh(), nodes.refresh(), rotations.refresh()])
      }
      if (allowedNetworks.length > 0) stop = watchStalls(machine.late)
    },
    certificates: (shown) => gaugeCertificates(registry, shown),
    alerts: (firing) => gaugeAlerts(registry, firing),
    canaries: (latest) => gaugeCanaries(registry, latest),
    pages: (asked) =>
      allowedNetworks.length === 0
        ? []
        : [metricsPage(registry, { ...asked, allowedNetworks, refresh: () => refresh() })],
    families: registry.families,
    stop: () => stop(),
  }
}

import type { HealthWatch } from '../health/watch.ts'
import type { SuppressionReason } from '../model/suppression.ts'
import type { Post } from '../net/https/requests.ts'
import type { MailLog } from '../os/mail-log.ts'
import { ampleMemory, type Memory } from '../os/memory.ts'
import { watchStalls } from '../os/stalls.ts'
import type { Store } from '../storage/store.ts'
import { gaugeCertificates, type ShownCertificate } from './certificates.ts'
import { type Engines, gaugeEngines } from './engines.ts'
import { gaugeHealth } from './health.ts'
import { countMachine } from './machine.ts'
import { countMail } from './mail.ts'
import { type AskedBy, type MetricsPage, metricsPage } from './page.ts'
import { countPools, type PoolMetrics } from './pools.ts'
import { countPosts } from './posts.ts'
import { gaugeQueues } from './queues.ts'
import { createRegistry, type Family } from './registry.ts'
import { type AnsweredRequest, countRequests } from './requests.ts'

/** What the house counts for its operator. It listens where things pass anyway (mail facts, posts, answers, commits) and
 *  asks the engines when it is read; nothing of it is kept over a restart, and nothing of it reads the
 *  store's tables but the count of what waits. */
export interface Metrics {
  /** → the same, counted. */
  mail(log: MailLog): MailLog
  posts(kind: 'webhook' | 'inbound', post: Post): Post
  answered(request: AnsweredRequest): void
  pools: PoolMetrics
  /** A transaction of the store took so long. */
  committed(ms: number): void
  suppressed(reason: SuppressionReason): void
  /** Asks these from now on, and looks at the main thread. */
  watch(engines: Engines, store: Pick<Store, 'queues' | 'held'>, health: HealthWatch, now: () => number): void
  /** Tells until when what is shown in TLS holds (ms UTC), asked when it is read. */
  certificates(shown: () => readonly ShownCertificate[]): void
  /** None when no network may ask. */
  pages(asked: AskedBy): MetricsPage[]
  /** All that can be read, for the alerts and boards that name it. */
  families(): readonly Family[]
  stop(): void
}

/** CIDRs that may ask, and where the store is → Metrics. */
export function createMetrics(options: {
  allowedNetworks: readonly string[]
  dataDir: string
  startedAt: number
  memory?: Memory
}): Metrics {
  const { allowedNetworks } = options
  const registry = createRegistry()
  const posts = countPosts(registry)
  const answered = countRequests(registry)
  const pools = countPools(registry)
  const suppressions = registry.counter(
    'postrider_suppressions_total',
    'Addresses that came onto a suppression list.',
    ['reason'],
  )
  const machine = countMachine(registry, { memory: ampleMemory, ...options })
  let stop = () => {}
  let refresh = async () => {}
  return {
    mail: (log) => countMail(registry, log),
    posts,
    answered,
    pools,
    committed: machine.committed,
    suppressed: (reason) => suppressions([reason]),
    watch: (engines, store, health, now) => {
      gaugeHealth(registry, health)
      gaugeEngines(registry, engines)
      refresh = gaugeQueues(registry, store, now).refresh
      if (allowedNetworks.length > 0) stop = watchStalls(machine.late)
    },
    certificates: (shown) => gaugeCertificates(registry, shown),
    pages: (asked) =>
      allowedNetworks.length === 0
        ? []
        : [metricsPage(registry, { ...asked, allowedNetworks, refresh: () => refresh() })],
    families: registry.families,
    stop: () => stop(),
  }
}

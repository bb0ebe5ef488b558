import { readFileSync } from 'node:fs'
import type { Config } from '../config/load.ts'
import type { ResolverOptions } from '../net/dns/resolver.ts'
import type { Exchange } from '../net/https/exchange.ts'
import type { Probe } from '../net/https/probe.ts'
import { createHttpsThread, type HttpsThread } from '../net/https/thread.ts'
import { type Clock, systemClock } from '../os/clock.ts'
import type { Log } from '../os/log.ts'
import { type PoolEvent, threadRunner } from '../os/thread-pool.ts'
import { startHttpsThread } from '../threads.ts'

/** The ways to talk to HTTPS peers, all in one thread of their own. */
export interface Https {
  /** To the endpoints of webhooks and inbound routes, over connections that are kept. */
  endpoints: Exchange
  /** To the hosts of MTA-STS policies, and to the endpoints of TLS reports: whatever webhooks may reach, never into the
   *  operator's own network. */
  policies: Exchange
  reports: Exchange
  /** To the certificate authority that the operator named. */
  authority: Exchange
  probe: Probe
  state: HttpsThread['state']
  stop(): void
}

/** Config and DNS servers → Https. Nothing is started before the first request. Throws when a CA file cannot be read or
 *  is no certificate. */
export function openHttps(
  config: Config,
  machine: {
    lookups: Pick<ResolverOptions, 'servers'>
    userAgent: string
    log: Log
    clock?: Clock
    onEvent?: (event: PoolEvent) => void
  },
): Https {
  const { userAgent, log, clock = systemClock } = machine
  const { webhooks, delivery, tls } = config
  const { servers } = machine.lookups
  const abroad = delivery.allowPrivateDestinations ? 'all addresses' : []
  const thread = createHttpsThread({
    start: threadRunner(startHttpsThread),
    kinds: {
      endpoints: {
        allowed: [...webhooks.allowedPrivateNetworks],
        ca: caOf(webhooks.caFile),
        keepsAlive: true,
        userAgent,
        dns: { servers },
      },
      policies: { allowed: abroad, keepsAlive: false, userAgent, dns: { servers } },
      reports: { allowed: abroad, keepsAlive: true, userAgent, dns: { servers } },
      authority: {
        allowed: 'all addresses', // the operator named it, and it sends us nowhere else
        ca: tls.mode === 'acme' ? caOf(tls.acmeCaFile) : undefined,
        keepsAlive: false,
        userAgent,
        dns: { servers, maxCacheEntries: 0 },
      },
    },
    clock,
    log,
    onEvent: machine.onEvent,
  })
  return {
    endpoints: thread.exchange('endpoints'),
    policies: thread.exchange('policies'),
    reports: thread.exchange('reports'),
    authority: thread.exchange('authority'),
    probe: thread.probe,
    state: thread.state,
    stop: thread.stop,
  }
}

const caOf = (file: string | null) => (file === null ? undefined : readFileSync(file, 'utf8'))

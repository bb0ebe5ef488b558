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

/** HTTPS clients, in a thread of their own. Files have a second one: a tenant decides when to download them and how
 *  much there is to read, and must not delay webhooks. */
export interface Https {
  /** For endpoints of webhooks and inbound routes; connections are reused. */
  endpoints: Exchange
  /** For MTA-STS policies and for endpoints of TLS reports. They never reach private networks, even those that webhooks may
   *  reach. */
  policies: Exchange
  reports: Exchange
  /** For attachments that tenants give as a URL. */
  files: Exchange
  /** For the operator's channels of alerts. */
  alerts: Exchange
  /** For the certificate authority that the operator configured. */
  authority: Exchange
  /** For the OpenID Connect provider that the operator configured. */
  signOn: Exchange
  probe: Probe
  state: HttpsThread['state']
  /** Of the thread that downloads files. */
  fileState: HttpsThread['state']
  stop(): void
}

/** Creates the Https clients; a thread starts with its first request. Throws if a CA file cannot be read or is not a
 *  certificate. */
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
  const { webhooks, delivery, attachments, tls, oidc } = config
  const { servers } = machine.lookups
  const abroad = delivery.allowPrivateDestinations ? 'all addresses' : []
  const common = { start: threadRunner(startHttpsThread), clock, log, onEvent: machine.onEvent }
  const fileThread = createHttpsThread({
    ...common,
    name: 'downloads',
    kinds: {
      files: {
        allowed: [...attachments.allowedPrivateNetworks],
        ca: caOf(attachments.caFile),
        keepsAlive: false,
        userAgent,
        dns: { servers },
      },
    },
  })
  const thread = createHttpsThread({
    ...common,
    name: 'https',
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
      alerts: {
        allowed: 'all addresses', // the operator configured them, and redirects are not followed
        ca: caOf(webhooks.caFile),
        keepsAlive: false,
        userAgent,
        dns: { servers },
      },
      authority: {
        allowed: 'all addresses', // like alerts
        ca: tls.mode === 'acme' ? caOf(tls.acmeCaFile) : undefined,
        keepsAlive: false,
        userAgent,
        dns: { servers, maxCacheEntries: 0 },
      },
      signOn: {
        allowed: 'all addresses', // like authority
        ca: caOf(oidc.caFile),
        keepsAlive: false,
        userAgent,
        dns: { servers },
      },
    },
  })
  return {
    endpoints: thread.exchange('endpoints'),
    policies: thread.exchange('policies'),
    reports: thread.exchange('reports'),
    files: fileThread.exchange('files'),
    alerts: thread.exchange('alerts'),
    authority: thread.exchange('authority'),
    signOn: thread.exchange('signOn'),
    probe: thread.probe,
    state: thread.state,
    fileState: fileThread.state,
    stop: () => {
      thread.stop()
      fileThread.stop()
    },
  }
}

const caOf = (file: string | null) => (file === null ? undefined : readFileSync(file, 'utf8'))

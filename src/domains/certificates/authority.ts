import { createPrivateKey, createPublicKey, generateKeyPairSync } from 'node:crypto'
import { networkInterfaces } from 'node:os'
import type { Config } from '../../config/load.ts'
import type { Domain } from '../../model/domain.ts'
import type { Resolver } from '../../net/dns/resolver.ts'
import type { Exchange } from '../../net/https/exchange.ts'
import type { Probe } from '../../net/https/probe.ts'
import { askBy } from '../../net/https/requests.ts'
import type { WallClock } from '../../os/clock.ts'
import type { Log } from '../../os/log.ts'
import type { Random } from '../../os/random.ts'
import type { Leases, SharedCertificates } from '../../storage/store.ts'
import { LONGEST_ORDER_MS, openClient } from './acme/client.ts'
import { createSigner } from './acme/jws.ts'
import { orderCertificate } from './acme/order.ts'
import { askRenewalWindow } from './acme/renewal-info.ts'
import { keyPassphrase } from './kept-keys.ts'
import { domainNames } from './names.ts'
import type { PlainPages } from './plain-pages.ts'
import { reachOf } from './reach.ts'
import { createRenewal, type Renewal } from './renewal.ts'
import { authoritySettings } from './settings.ts'
import { certificateFiles, sharedCertificate } from './stored-certificate.ts'

/** Dependencies of certificates from an authority. */
export interface AuthorityDeps {
  /** HTTPS to the authority, and HTTP to the hosts of the names. */
  https: { authority: Exchange; probe: Probe }
  pages: Pick<PlainPages, 'show'>
  /** A named secret, stored encrypted; `fresh` is stored if there is none yet. */
  secret: (name: string, fresh: Uint8Array) => Promise<Uint8Array>
  domains: () => AsyncIterable<Domain>
  /** Hostnames of all nodes. */
  hostnames: () => Promise<readonly string[]>
  leases: Pick<Leases, 'leads' | 'take'>
  /** Null: the certificate is kept in the data folder. */
  shared: SharedCertificates | null
  /** Without a cache. */
  resolver: Resolver
  clock: WallClock
  random: Random
  log: Log
  onChange: () => void
}

/** [tls] of the config → the Renewal of its certificate with its stored state; sends no request yet. Rejects when the
 *  data folder cannot be read. */
export async function openAuthority(config: Config, deps: AuthorityDeps): Promise<Renewal> {
  const { clock, random, resolver, pages } = deps
  const { tls, dataDir, sending } = config
  const { names, directoryUrl, port, fingerprint } = authoritySettings(config)
  const ask = askBy(deps.https.authority)
  const storage =
    deps.shared === null
      ? certificateFiles(dataDir, fingerprint, await keyPassphrase(deps.secret, random))
      : sharedCertificate(deps.shared, fingerprint)
  const probe = (at: { ip: string; port: number; host: string; path: string }) =>
    deps.https.probe({ ...at, maxBytes: 256, timeoutMs: PROBE_MS })
  return createRenewal({
    storage,
    kept: await storage.read(),
    mayOrder: async () => deps.leases.leads() && deps.leases.take('certificate', LEASE_MS),
    directoryUrl,
    names: async () => [...new Set([...names, ...(await deps.hostnames()).map((name) => name.toLowerCase())])],
    domainNames: async () => (tls.domainNames ? domainNames(deps.domains(), sending.requireVerifiedDomain) : []),
    reachOf: (name) => reachOf(name, { resolver, pages, random, ownAddresses, probe, port }),
    order: async (wanted, { signal, replaces }) =>
      orderCertificate(wanted, {
        directoryUrl,
        contact: tls.acmeContact || null,
        accountKey: await accountKey(deps.secret),
        show: pages.show,
        replaces,
        ask,
        clock: clock.steady,
        signal,
      }),
    windowOf: async ({ certificatePem }, signal) => {
      const signer = createSigner(await accountKey(deps.secret))
      return askRenewalWindow(
        await openClient(directoryUrl, signer, { ask, clock: clock.steady, signal }),
        certificatePem,
      )
    },
    onChange: deps.onChange,
    clock,
    random,
    log: deps.log,
  })
}

/** Longer than an order takes, with its probes before. */
const LEASE_MS = LONGEST_ORDER_MS + 60_000
/** Time for another server to send a short answer. */
const PROBE_MS = 5_000

/** One key for the accounts at all authorities, which identify accounts by it. */
async function accountKey(secret: AuthorityDeps['secret']) {
  const fresh = generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey.export({ type: 'pkcs8', format: 'der' })
  const der = Buffer.from(await secret('acme_account', fresh))
  const privateKey = createPrivateKey({ key: der, type: 'pkcs8', format: 'der' })
  return { privateKey, publicKey: createPublicKey(privateKey) }
}

function ownAddresses(): string[] {
  return Object.values(networkInterfaces()).flatMap((each) => (each ?? []).map(({ address }) => address))
}

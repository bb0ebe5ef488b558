import { type Config, nodeName, sendingAddressesOf } from '../../config/load.ts'
import { authoritySettings } from '../../domains/certificates/settings.ts'
import { readStoredTerms, sharedCertificate } from '../../domains/certificates/stored-certificate.ts'
import { zoneSettings } from '../../domains/zone-records.ts'
import type { SharedCertificates } from '../../storage/store.ts'
import type { AuthorityCertificate, Installation, SendingDomain, Server } from '../health/deps.ts'

/** Describes this installation for the health checks; `hosts`: the hostnames of all nodes. Rejects if the stored ACME
 *  certificate cannot be read. */
export async function installationOf(
  config: Config,
  server: Server | null,
  domains: readonly SendingDomain[],
  { certificates, hosts }: { certificates: SharedCertificates | null; hosts: readonly string[] },
): Promise<Installation> {
  const { hostname, dataDir, database, storage, limits, http, tls, smtp, delivery, metrics, dns } = config
  const listeners = [
    { key: 'http.listen', at: http.listen },
    { key: 'http.listen_tls', at: http.listenTls },
    { key: 'http.listen_redirect', at: http.listenRedirect },
    { key: 'smtp.inbound.listen', at: smtp.inbound.listen },
    { key: 'smtp.submission.listen', at: smtp.submission.listen },
    { key: 'smtp.submission.listen_tls', at: smtp.submission.listenTls },
    { key: 'metrics.listen', at: metrics.listen },
    ...dns.listen.map((at) => ({ key: 'dns.listen', at })),
  ].flatMap(({ key, at }) => (at === null ? [] : [{ key, ...at }]))
  return {
    hostname,
    dataDir,
    minFreeBytes: storage.minFreeBytes,
    memoryBytes: limits.memoryBytes,
    messageBytes: limits.messageBytes,
    listeners,
    isShared: database.url !== '',
    sourceAddress: delivery.sourceAddress,
    sendingAddresses: sendingAddressesOf(config).filter(({ node }) => node === null || node === nodeName(config)),
    addressesOfNodes: config.sending.addresses.flatMap(({ address, node }) =>
      node === null ? [] : [{ address, node }],
    ),
    smarthost: delivery.smarthost,
    relays: config.relays,
    domains,
    delegated: zoneSettings(config, hosts),
    server,
    certificateFiles: [...new Set([tls.certificateFile, smtp.certificateFile])].filter((file) => file !== null),
    authority: tls.mode === 'acme' ? await authorityOf(config, certificates) : null,
  }
}

async function authorityOf(config: Config, shared: SharedCertificates | null): Promise<AuthorityCertificate> {
  const { names, fingerprint } = authoritySettings(config)
  const { certificate, progress } =
    shared === null
      ? await readStoredTerms(config.dataDir, fingerprint)
      : await sharedCertificate(shared, fingerprint).read()
  return { names, held: certificate, trouble: progress.trouble }
}

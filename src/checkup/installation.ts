import { authoritySettings } from '../certificates/settings.ts'
import { certificateFiles, sharedCertificate } from '../certificates/stored-certificate.ts'
import { type Config, nodeName, sendingAddressesOf } from '../config/load.ts'
import type { AuthorityCertificate, Installation, SendingDomain, Server } from '../health/deps.ts'
import type { SharedCertificates } from '../storage/store.ts'

/** Describes this installation for the health checks. Rejects if the stored ACME certificate cannot be read. */
export async function installationOf(
  config: Config,
  server: Server | null,
  domains: readonly SendingDomain[],
  shared: SharedCertificates | null,
): Promise<Installation> {
  const { hostname, dataDir, database, storage, limits, http, tls, smtp, delivery, metrics } = config
  const listeners = [
    { key: 'http.listen', at: http.listen },
    { key: 'http.listen_tls', at: http.listenTls },
    { key: 'http.listen_redirect', at: http.listenRedirect },
    { key: 'smtp.inbound.listen', at: smtp.inbound.listen },
    { key: 'smtp.submission.listen', at: smtp.submission.listen },
    { key: 'smtp.submission.listen_tls', at: smtp.submission.listenTls },
    { key: 'metrics.listen', at: metrics.listen },
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
    smarthost: delivery.smarthost,
    relays: config.relays,
    domains,
    server,
    certificateFiles: [...new Set([tls.certificateFile, smtp.certificateFile])].filter((file) => file !== null),
    authority: tls.mode === 'acme' ? await authorityOf(config, shared) : null,
  }
}

async function authorityOf(config: Config, shared: SharedCertificates | null): Promise<AuthorityCertificate> {
  const { names, fingerprint } = authoritySettings(config)
  const storage =
    shared === null ? certificateFiles(config.dataDir, fingerprint) : sharedCertificate(shared, fingerprint)
  const { certificate, progress } = await storage.read()
  return { names, held: certificate, trouble: progress.trouble }
}

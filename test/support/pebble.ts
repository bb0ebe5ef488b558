import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { selfSignedCertificate } from '../../src/net/tls/certificate.ts'
import { freePort } from './free-port.ts'
import { until } from './patience.ts'

/** Pebble, the ACME server of Let's Encrypt for tests: it validates over HTTP as the real one does. */
export interface Pebble {
  directoryUrl: string
  /** PEM file, to trust its HTTPS server. */
  caFile: string
  /** Starts it; it asks the DNS server `dns` (host:port) for names → how to stop it. */
  start(dns: string): Promise<() => Promise<void>>
}

/** Prepares its files in `folder`. It validates on `httpPort`. */
export async function preparePebble(folder: string, httpPort: number): Promise<Pebble> {
  const { keyPem, certificatePem } = await selfSignedCertificate({ names: ['127.0.0.1'], now: Date.now() })
  const files = { certificate: join(folder, 'pebble.pem'), privateKey: join(folder, 'pebble.key') }
  writeFileSync(files.certificate, certificatePem)
  writeFileSync(files.privateKey, keyPem)
  const port = await freePort()
  const pebble = {
    listenAddress: `127.0.0.1:${port}`,
    managementListenAddress: `127.0.0.1:${await freePort()}`,
    ...files,
    httpPort,
    tlsPort: 1,
    ocspResponderURL: '',
    externalAccountBindingRequired: false,
  }
  const config = join(folder, 'pebble.json')
  writeFileSync(config, JSON.stringify({ pebble }))
  const directoryUrl = `https://127.0.0.1:${port}/dir`
  const answers = () =>
    fetch(directoryUrl, { tls: { ca: certificatePem } }).then(
      ({ ok }) => ok,
      () => false,
    )
  return {
    directoryUrl,
    caFile: files.certificate,
    start: async (dns) => {
      const child = Bun.spawn(['pebble', '-config', config, '-dnsserver', dns], {
        env: { ...process.env, PEBBLE_VA_NOSLEEP: '1' },
        stdout: 'ignore',
        stderr: 'ignore',
      })
      await until('Pebble', answers)
      return async () => {
        child.kill()
        await child.exited
      }
    },
  }
}

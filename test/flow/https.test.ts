import { afterEach, expect, test } from 'bun:test'
import { X509Certificate } from 'node:crypto'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Certificate, selfSignedCertificate } from '../../src/net/tls/certificate.ts'
import { type RawMx, startRawMx } from '../support/remote-mx.ts'
import { startTestServer, type TestServer } from '../support/server.ts'
import { shownCertificate } from '../support/shown-certificate.ts'

/** HTTPS and SMTP with the operator's own certificate. */

const folder = mkdtempSync(join(tmpdir(), 'postrider-https-'))
const [certificate_file, key_file] = [join(folder, 'chain.pem'), join(folder, 'key.pem')]
const made = (name: string) => selfSignedCertificate({ names: [name], now: Date.now() })
let remote: RawMx
let server: TestServer

afterEach(async () => {
  await server.close()
  await remote.stop()
  rmSync(folder, { recursive: true })
})

function put({ certificatePem, keyPem }: Certificate): X509Certificate {
  writeFileSync(certificate_file, certificatePem)
  writeFileSync(key_file, keyPem)
  return new X509Certificate(certificatePem)
}

test('HTTPS and SMTP present the files of [tls], a reload reads them again, and a gauge has their expiry', async () => {
  const first = put(await made('first.test'))
  remote = await startRawMx({ script: () => null })
  server = await startTestServer({
    remote,
    config: {
      http: { listen: '127.0.0.1:0', listen_tls: '127.0.0.1:0' },
      tls: { certificate_file, key_file },
      smtp: { inbound: { listen: '127.0.0.1:0' } },
    },
  })
  const { http, https, smtpInbound } = server.running().listening
  expect(server.running().publicUrl).toBe(`https://mail.sender.example:${https!.split(':')[1]}`)
  const shown = async () => [
    (await shownCertificate(https!)).serialNumber,
    (await shownCertificate(smtpInbound!, { starttls: true })).serialNumber,
  ]
  expect(await shown()).toEqual([first.serialNumber, first.serialNumber])

  const second = put(await made('second.test'))
  await server.running().reloadFiles()
  expect(await shown()).toEqual([second.serialNumber, second.serialNumber])

  writeFileSync(key_file, 'no key')
  await expect(server.running().reloadFiles()).rejects.toThrow('is not a PEM private key')
  expect(await shown()).toEqual([second.serialNumber, second.serialNumber])

  const metrics = await (await fetch(`http://${http}/metrics`)).text()
  const endsAt = Date.parse(second.validTo) / 1000
  for (const listener of ['https', 'smtp']) {
    expect(metrics).toContain(`postrider_tls_certificate_expiry_timestamp_seconds{listener="${listener}"} ${endsAt}\n`)
  }
})

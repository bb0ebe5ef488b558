import { expect, test } from 'bun:test'
import { mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { readPair, selfSignedPair } from '../../src/certificates/files.ts'
import { selfSignedCertificate } from '../../src/net/tls/certificate.ts'

const NOW = Date.UTC(2026, 10, 21)

test('creates a self-signed pair once and keeps it until its name or lifetime ends', async () => {
  const dataDir = mkdtempSync(join(tmpdir(), 'smtp-certificate-'))
  const load = (hostname: string, now = NOW) => selfSignedPair({ dataDir, hostname, now })
  const first = await load('mx.test.example')
  expect(await load('MX.test.example')).toEqual(first)
  expect(statSync(join(dataDir, 'smtp-key.pem')).mode & 0o777).toBe(0o600)
  const renamed = await load('mx2.test.example')
  expect(renamed).not.toEqual(first)
  const later = await load('mx2.test.example', NOW + 11 * 365 * 86_400_000)
  expect(later).not.toEqual(renamed)
  writeFileSync(join(dataDir, 'smtp-key.pem'), first.keyPem) // as if the process died between the two writes
  const mended = await load('mx2.test.example', NOW + 11 * 365 * 86_400_000)
  expect([first.keyPem, later.keyPem]).not.toContain(mended.keyPem)
  rmSync(dataDir, { recursive: true })
})

test('uses the operator’s files unchanged and refuses an invalid pair', async () => {
  const dataDir = mkdtempSync(join(tmpdir(), 'smtp-certificate-'))
  const [one, two] = await Promise.all(['a', 'b'].map((name) => selfSignedCertificate({ names: [name], now: NOW })))
  const [certificateFile, keyFile] = [join(dataDir, 'c.pem'), join(dataDir, 'k.pem')]
  writeFileSync(certificateFile, one!.certificatePem)
  writeFileSync(keyFile, one!.keyPem)
  const load = () => readPair({ certificateFile, keyFile })
  expect(await load()).toEqual(one!)
  writeFileSync(keyFile, two!.keyPem)
  await expect(load()).rejects.toThrow('is not the key of')
  writeFileSync(keyFile, one!.keyPem)
  writeFileSync(certificateFile, `${one!.certificatePem}-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n`)
  await expect(load()).rejects.toThrow(`${certificateFile} contains a broken certificate`)
  rmSync(keyFile)
  await expect(load()).rejects.toThrow('ENOENT')
  rmSync(dataDir, { recursive: true })
})

import { expect, test } from 'bun:test'
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { readPair, selfSignedPair } from '../../src/domains/certificates/files.ts'
import {
  certificateFiles,
  readStoredCertificate,
  readStoredTerms,
} from '../../src/domains/certificates/stored-certificate.ts'
import { selfSignedCertificate } from '../../src/net/tls/certificate.ts'

const PASSPHRASE = 'of the store'
const NOW = Date.UTC(2026, 10, 21)

test('creates a self-signed pair once and keeps it until its name or lifetime ends', async () => {
  const dataDir = mkdtempSync(join(tmpdir(), 'smtp-certificate-'))
  const load = (hostname: string, now = NOW) => selfSignedPair({ dataDir, hostname, now, passphrase: PASSPHRASE })
  const first = await load('mx.test.example')
  expect(await load('MX.test.example')).toEqual(first)
  expect(statSync(join(dataDir, 'smtp-key.pem')).mode & 0o777).toBe(0o600)
  const renamed = await load('mx2.test.example')
  expect(renamed).not.toEqual(first)
  const later = await load('mx2.test.example', NOW + 11 * 365 * 86_400_000)
  expect(later).not.toEqual(renamed)
  expect(readFileSync(join(dataDir, 'smtp-key.pem'), 'utf8')).toStartWith('-----BEGIN ENCRYPTED PRIVATE KEY-----')
  writeFileSync(join(dataDir, 'smtp-key.pem'), first.keyPem) // as if the process died between the two writes
  const mended = await load('mx2.test.example', NOW + 11 * 365 * 86_400_000)
  expect([first.keyPem, later.keyPem]).not.toContain(mended.keyPem)
  rmSync(dataDir, { recursive: true })
})

// threat: keys-in-a-copy
test('the keys in the data directory are encrypted with a secret of the store', async () => {
  const dataDir = mkdtempSync(join(tmpdir(), 'kept-keys-'))
  const load = (passphrase: string) => selfSignedPair({ dataDir, hostname: 'a', now: NOW, passphrase })
  const own = await load(PASSPHRASE)
  const issued = await selfSignedCertificate({ names: ['b'], now: NOW })
  await certificateFiles(dataDir, '', PASSPHRASE).keepCertificate(issued)
  const files = ['smtp-key.pem', 'smtp-certificate.pem', 'acme-certificate.pem'].map((name) => join(dataDir, name))
  const texts = files.map((file) => readFileSync(file, 'utf8')).join('')
  expect(texts.match(/-----BEGIN ENCRYPTED PRIVATE KEY-----/g)).toHaveLength(2)
  expect(texts).not.toContain('-----BEGIN PRIVATE KEY-----')
  for (const { keyPem } of [own, issued]) expect(texts).not.toContain(keyPem.split('\n')[1]!)
  for (const file of files) expect(statSync(file).mode & 0o777).toBe(0o600)
  expect(await load(PASSPHRASE)).toEqual(own)
  expect((await readStoredCertificate(dataDir, '', PASSPHRASE)).certificate).toMatchObject(issued)

  // With the database of another backup, both count as missing; their names and ends can be read anyway.
  expect((await readStoredCertificate(dataDir, '', 'another')).certificate).toBeNull()
  expect((await readStoredTerms(dataDir, '')).certificate?.names).toEqual(['b'])
  expect(await load('another')).not.toEqual(own)
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

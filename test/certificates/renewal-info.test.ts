import { afterAll, expect, test } from 'bun:test'
import { generateKeyPairSync } from 'node:crypto'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openClient } from '../../src/domains/certificates/acme/client.ts'
import { createSigner } from '../../src/domains/certificates/acme/jws.ts'
import { askRenewalWindow, certificateId } from '../../src/domains/certificates/acme/renewal-info.ts'
import { createAsk } from '../../src/net/https/requests.ts'
import { selfSignedCertificate } from '../../src/net/tls/certificate.ts'
import { certificateRequest } from '../../src/net/tls/certificate-request.ts'
import { systemClock } from '../../src/os/clock.ts'
import { startAcmeAuthority } from '../support/acme-authority.ts'
import { silentResolver } from '../support/silent-resolver.ts'
import { createTestCa } from '../support/test-ca.ts'

/** Renewal information of an authority and certificate identifiers. RFC 9773 */

const folder = mkdtempSync(join(tmpdir(), 'postrider-renewal-info-'))
afterAll(() => rmSync(folder, { recursive: true }))
const keys = generateKeyPairSync('ec', { namedCurve: 'P-256' })
const now = Date.now()

function issued(): string {
  const ca = createTestCa()
  const pem = ca.sign(certificateRequest(['a.test'], keys), { startsAt: now, endsAt: now + 1e9 })
  ca.remove()
  return pem
}

test('a certificate is identified by the values that openssl reads in it', () => {
  const pem = issued()
  const file = join(folder, 'certificate.pem')
  writeFileSync(file, pem)
  const { stdout } = Bun.spawnSync([
    'openssl',
    'x509',
    '-in',
    file,
    '-noout',
    '-serial',
    '-ext',
    'authorityKeyIdentifier',
  ])
  const text = stdout.toString()
  const hex = (pattern: RegExp) => Buffer.from(pattern.exec(text)![1]!.replaceAll(':', ''), 'hex').toString('base64url')
  const keyId = hex(/((?:[0-9A-F]{2}:){19}[0-9A-F]{2})/)
  expect(certificateId(pem)).toBe(`${keyId}.${hex(/serial=([0-9A-F]+)/)}`)
})

test('a certificate without an authority key identifier has no such id', async () => {
  expect(certificateId((await selfSignedCertificate({ names: ['a.test'], now })).certificatePem)).toBeNull()
})

test('the authority is asked by that id, and an invalid answer is none', async () => {
  const authority = await startAcmeAuthority({ askAt: () => 0, now: Date.now })
  const ask = createAsk({ resolver: silentResolver, mayConnect: () => true, ca: authority.ca, userAgent: 'test' })
  const deps = { ask, clock: systemClock, signal: new AbortController().signal }
  const pem = issued()
  const look = async () => askRenewalWindow(await openClient(authority.directoryUrl, createSigner(keys), deps), pem)
  expect(await look()).toBeNull()
  authority.window = { start: '2027-01-02T04:00:00Z', end: '2027-01-03T04:00:00Z' }
  expect(await look()).toEqual({
    startsAt: Date.UTC(2027, 0, 2, 4),
    endsAt: Date.UTC(2027, 0, 3, 4),
    retryAfterMs: 21_600_000,
  })
  expect(authority.askedFor).toEqual([certificateId(pem)!])
  authority.window = { start: '2027-01-03T04:00:00Z', end: '2027-01-03T04:00:00Z' }
  expect(await look()).toBeNull()
  authority.window = { start: '2027-01-04T04:00:00Z', end: '2027-01-03T04:00:00Z' }
  expect(await look()).toBeNull()
  authority.window = { start: '2027-01-03T04:00:00Z', end: 'never' }
  expect(await look()).toBeNull()
  await authority.stop()
})

import { afterAll, beforeAll, expect, test } from 'bun:test'
import { X509Certificate } from 'node:crypto'
import { type RemoteMx, startRemoteMx } from '../../test/support/remote-mx.ts'
import { readConfig } from '../config/load.ts'
import { parseMailbox } from '../mail/address.ts'
import { createResolver } from '../net/dns/resolver.ts'
import { selfSignedCertificate } from '../net/tls/certificate.ts'
import { systemClock } from '../os/clock.ts'
import { systemRandom } from '../os/random.ts'
import { sendThrough } from './mail-server.ts'

let remote: RemoteMx
let fingerprint: string
beforeAll(async () => {
  const tls = await selfSignedCertificate({ names: ['smtp.provider.example'], now: Date.now() })
  fingerprint = new X509Certificate(tls.certificatePem).fingerprint256
  remote = await startRemoteMx({ tls, login: { user: 'alerts', password: 'let me in' } })
})
afterAll(() => remote.stop())

const channel = (change: string) => {
  const text = `hostname = "mail.example.com"
[[alerts.channels]]
name = "mail"
type = "mail"
to = "ops@example.org"
from = "alerts@example.org"
host = "127.0.0.1"
port = ${remote.port}
username = "alerts"
password_file = "password"
${change}`
  return readConfig({ text, file: 'config.toml', env: {} })
}
const send = async (certificate: string) => {
  const read = channel(`certificates = ["${certificate}"]`)
  if ('faults' in read) throw new Error(JSON.stringify(read.faults))
  const options = { servers: ['127.0.0.1:1'], clock: systemClock, random: systemRandom, maxCacheEntries: 0, tries: 1 }
  return sendThrough(read.config.alerts.channels[0]!.server!, MAIL, {
    hostname: 'mail.example.com',
    resolver: createResolver(options),
    readSecret: () => 'let me in',
  })
}
const MAIL = {
  id: 'alr_1',
  from: parseMailbox('alerts@example.org')!,
  to: parseMailbox('ops@example.org')!,
  subject: 'Disk space is low',
  text: 'Free some',
  html: '<p>Free some</p>',
  at: 0,
}

test('the certificate of a mail server may have a fingerprint of the config instead of a public authority', async () => {
  expect(await send(fingerprint)).toBeNull()
  expect(remote.mails).toHaveLength(1)
  expect(await send('00'.repeat(32))).toContain('is not verified')
  expect(remote.mails).toHaveLength(1)
})

test('fingerprints need a host and TLS', () => {
  expect(channel(`tls = "none"\ncertificates = ["${fingerprint}"]`)).toHaveProperty('faults')
})

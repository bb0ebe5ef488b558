import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'bun:test'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startZone, type Zone } from '../../src/cli/try/zone-server.ts'
import { makeConfig, readSecretFile } from '../../src/config/load.ts'
import { createChannel } from '../../src/events/alerts/channels.ts'
import { createResolver, type Resolver } from '../../src/net/dns/resolver.ts'
import { systemClock } from '../../src/os/clock.ts'
import { systemRandom } from '../../src/os/random.ts'
import { POSTFIX_TOOLS, startPostfix } from '../support/postfix.ts'
import { describeWith } from '../support/real-tools.ts'
import { type RawMx, type RemoteMx, startRawMx, startRemoteMx } from '../support/remote-mx.ts'

/** Alerts by mail through another mail server: STARTTLS, a private authority, and a login. */

const LOGIN = { user: 'alerts', password: 'let me in' }

let folder: string
let zone: Zone
let resolver: Resolver
/** Of a server whose authority it does not send. */
let signed: { keyPem: string; certificatePem: string }
let elsewhere: typeof signed
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'postrider-alert-mail-'))
  zone = await startZone(
    ['smtp.inside.example', 'other.inside.example', 'relay.provider.example'].map((name) => ({
      name,
      type: 'A' as const,
      data: '127.0.0.1',
    })),
  )
  resolver = createResolver({ servers: [zone.address], clock: systemClock, random: systemRandom })
  signed = signWith('ca', 'IP:127.0.0.1')
  elsewhere = signWith('stranger', 'IP:192.0.2.1')
  writeFileSync(join(folder, 'password'), `${LOGIN.password}\n`, { mode: 0o600 })
})
afterAll(async () => {
  resolver.close()
  await zone.stop()
  rmSync(folder, { recursive: true })
})

/** Creates an authority in `<name>.pem` → a certificate by it for smtp.inside.example and the address, and its key. */
function signWith(name: string, address: string) {
  const file = (end: string) => join(folder, `${name}${end}`)
  const openssl = (...args: string[]) => {
    const { exitCode, stderr } = Bun.spawnSync(['openssl', ...args])
    if (exitCode !== 0) throw new Error(String(stderr))
  }
  const key = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes', '-days', '20000']
  openssl('req', '-x509', ...key, '-subj', '/CN=Inside', '-keyout', file('.key'), '-out', file('.pem'))
  const by = ['-CA', file('.pem'), '-CAkey', file('.key'), '-addext', 'basicConstraints=CA:false']
  const names = ['-subj', '/CN=smtp', '-addext', `subjectAltName=DNS:smtp.inside.example,${address}`]
  openssl('req', '-x509', ...key, ...names, ...by, '-keyout', file('-server.key'), '-out', file('-server.pem'))
  return {
    keyPem: readFileSync(file('-server.key'), 'utf8'),
    certificatePem: readFileSync(file('-server.pem'), 'utf8'),
  }
}

/** Tests a channel → why it was not told; null: it was. */
async function tell(port: number, change: object = {}): Promise<string | null> {
  const channel = {
    name: 'mail',
    type: 'mail',
    to: 'ops@elsewhere.example',
    from: 'alerts@elsewhere.example',
    host: 'smtp.inside.example',
    port,
    ca_file: join(folder, 'ca.pem'),
    username: LOGIN.user,
    password_file: join(folder, 'password'),
    ...change,
  }
  const { alerts } = makeConfig({
    hostname: 'mail.example.com',
    data_dir: folder,
    alerts: { channels: [channel] },
  } as never)
  const told = await createChannel(alerts.channels[0]!, {
    post: () => Promise.reject(new Error('no post')),
    userMail: { send: () => Promise.reject(new Error('no queue')) },
    resolver,
    readSecret: readSecretFile,
    readFile: (path) => readFileSync(path, 'utf8'),
    mailFrom: '',
    about: { hostname: 'mail.example.com', publicUrl: () => 'https://mail.example.com' },
    userAgent: 'test',
    now: systemClock.now,
  })({ test: 'alt_1' })
  return told.error
}

describe('a mail server with a certificate of a private authority', () => {
  let remote: RemoteMx
  beforeEach(async () => {
    remote = await startRemoteMx({ tls: signed, login: LOGIN })
  })
  afterEach(() => remote.stop())

  test('gets the alert over STARTTLS, after a login', async () => {
    expect(await tell(remote.port)).toBeNull()
    expect(remote.mails).toMatchObject([{ rcptTo: ['ops@elsewhere.example'], isTls: true }])
    expect(String(remote.mails[0]!.raw)).toContain('Message-ID: <alt_1@elsewhere.example>')
  })

  test('gets nothing if its certificate is by another authority, or for another name', async () => {
    expect(await tell(remote.port, { ca_file: join(folder, 'stranger.pem') })).toContain('certificate matches none')
    expect(await tell(remote.port, { host: 'other.inside.example' })).toContain('not for other.inside.example')
    expect(remote.mails).toEqual([])
  })

  test('may be an address, if its certificate names it', async () => {
    expect(await tell(remote.port, { host: '127.0.0.1' })).toBeNull()
    const other = await startRemoteMx({ tls: elsewhere, login: LOGIN })
    const change = { host: '127.0.0.1', ca_file: join(folder, 'stranger.pem') }
    expect(await tell(other.port, change)).toContain('not for 127.0.0.1')
    await other.stop()
  })

  test('refuses a wrong password, and the reply says so', async () => {
    writeFileSync(join(folder, 'wrong'), 'let me out\n', { mode: 0o600 })
    expect(await tell(remote.port, { password_file: join(folder, 'wrong') })).toContain('535 5.7.8')
    expect(remote.mails).toEqual([])
  })

  test('is not asked if a file is missing, readable by others, or no certificate', async () => {
    writeFileSync(join(folder, 'open'), 'let me in\n', { mode: 0o644 })
    writeFileSync(join(folder, 'text'), 'hello\n')
    expect(await tell(remote.port, { ca_file: join(folder, 'missing') })).toBe('ca_file: ENOENT')
    expect(await tell(remote.port, { ca_file: join(folder, 'text') })).toContain('ca_file: the file contains no PEM')
    expect(await tell(remote.port, { password_file: join(folder, 'open') })).toContain('password_file: ')
    expect(remote.connections()).toBe(0)
  })
})

describe('the password stays here', () => {
  let raw: RawMx
  afterEach(() => raw.stop())
  const spoken = () => raw.heard.filter((line) => /AUTH|MAIL/.test(line))

  // threat: alert-secrets
  test('if the server offers no STARTTLS', async () => {
    raw = await startRawMx({ extensions: ['AUTH PLAIN LOGIN'] })
    expect(await tell(raw.port)).toMatch(/STARTTLS|TLS/)
    expect(spoken()).toEqual([])
  })

  test('if TLS from the first byte shows the certificate of somebody else, and not if it is right', async () => {
    raw = await startRawMx({ tls: signed, implicitTls: true, extensions: ['AUTH PLAIN'] })
    expect(await tell(raw.port, { tls: 'implicit', ca_file: join(folder, 'stranger.pem') })).toContain('certificate')
    expect(spoken()).toEqual([])
    await tell(raw.port, { tls: 'implicit' })
    expect(spoken()).not.toEqual([])
  })
})

describeWith(POSTFIX_TOOLS, 'a real Postfix', () => {
  test('relays the alert after STARTTLS and a login', async () => {
    const next = await startRemoteMx()
    const postfix = await startPostfix({ next: next.port, returns: next.port, returnHost: 'bounces.example' })
    try {
      writeFileSync(join(folder, 'postfix.pem'), postfix.certificatePem)
      writeFileSync(join(folder, 'postfix-password'), postfix.login.password, { mode: 0o600 })
      const channel = {
        host: 'relay.provider.example',
        ca_file: join(folder, 'postfix.pem'),
        username: postfix.login.user,
        password_file: join(folder, 'postfix-password'),
      }
      expect(await tell(postfix.port, channel)).toBeNull()
      const [mail] = await next.received(1)
      expect(mail!.rcptTo).toEqual(['ops@elsewhere.example'])
      expect(await tell(postfix.port, { ...channel, ca_file: join(folder, 'ca.pem') })).toContain('certificate')
    } finally {
      await postfix.stop()
      await next.stop()
    }
  })
})

import { beforeAll, expect, test } from 'bun:test'
import { authenticate } from 'mailauth'
import { packContent } from '../../src/mail/content.ts'
import { dkimRecordValue } from '../../src/mail/dkim.ts'
import { mailauthResolver } from '../../src/net/dns/resolver.ts'
import { type Certificate, selfSignedCertificate } from '../../src/net/tls/certificate.ts'
import type { SigningKey } from '../../src/sending/outbound/job.ts'
import { startBlackHole } from '../support/black-hole.ts'
import { generateDkimKeyPair } from '../support/dkim-keys.ts'
import { TEST_LIMIT_MS } from '../support/patience.ts'
import { startRawMx, startRemoteMx } from '../support/remote-mx.ts'
import { CONTENT, createOutboundSetup, job, keep, publish, relayAt, VIA_RELAY } from './setup.ts'

let certificate: Certificate
const SIGNING: SigningKey[] = []
const PUBLISHED: { name: string; value: string }[] = []
beforeAll(async () => {
  certificate = await selfSignedCertificate({ names: ['mx1.remote.test'], now: Date.now() })
  for (const algorithm of ['rsa-sha256', 'ed25519-sha256'] as const) {
    const { privateKeyPem, publicKeyBase64 } = generateDkimKeyPair(algorithm)
    const selector = algorithm.slice(0, 2)
    SIGNING.push({ domain: 'sender.test', selector, algorithm, privateKeyPem })
    PUBLISHED.push({
      name: `${selector}._domainkey.sender.test`,
      value: dkimRecordValue(algorithm, publicKeyBase64),
    })
  }
})

test('a mail arrives at a real server byte for byte, twice signed, over TLS, and the attempt is recorded', async () => {
  const mx = keep(await startRemoteMx({ tls: certificate }))
  const { zone, resolver, attempt } = await createOutboundSetup({
    settings: { deliveryPort: mx.port },
    ca: certificate.certificatePem,
  })
  publish(zone, { 'mx1.remote.test': ['127.0.0.1'] })
  for (const { name, value } of PUBLISHED) zone.set(name, 'TXT', [[value.slice(0, 200), value.slice(200)]])

  const { deliveryId, outcome, attempt: record } = await attempt(job({ signingKeys: SIGNING, requireTls: true }))
  expect(deliveryId).toBe('dlv_1')
  expect(outcome).toMatchObject({ kind: 'delivered', reply: { code: 250 } })
  expect(record).toMatchObject({
    number: 1,
    outcome: 'delivered',
    mxHost: 'mx1.remote.test',
    mxAddress: '127.0.0.1',
    sourceAddress: '127.0.0.1',
    tlsVersion: 'TLSv1.3',
    tlsVerified: true,
    tlsPolicy: 'required',
    reply: '250 2.0.0 Ok: queued',
    enhancedCode: '2.0.0',
    cause: null,
  })
  expect(record.transcript).toMatch(/C: <\d+ bytes>\n\d+ S: 250 2\.0\.0 Ok: queued$/)
  expect(record.transcript).not.toContain('Hello')

  const received = mx.mails[0]!
  expect(received).toMatchObject({ mailFrom: 'b+1@bounce.sender.test', rcptTo: ['anna@remote.test'], isTls: true })
  const { dkim } = await authenticate(received.raw, {
    ip: '127.0.0.1',
    helo: 'out.sender.test',
    sender: received.mailFrom,
    mta: 'mx1.remote.test',
    disableBimi: true,
    disableArc: true,
    resolver: mailauthResolver(resolver) as never,
  })
  expect(dkim.results.map(({ status }) => status.result)).toEqual(['pass', 'pass'])
})

test('two mails to one domain ask the DNS once and use one connection', async () => {
  const mx = keep(await startRawMx())
  const { zone, attempt } = await createOutboundSetup({ settings: { deliveryPort: mx.port } })
  publish(zone, { 'mx1.remote.test': ['127.0.0.1'] })
  await attempt(job())
  await attempt(job())
  expect(mx.connections()).toBe(1)
  expect(zone.queries.map(({ name, type }) => `${type} ${name}`).sort()).toEqual([
    'A mx1.remote.test',
    'AAAA mx1.remote.test',
    'MX remote.test',
  ])
})

const ON_FIRST: [what: string, reply: string, took: 'mx1' | 'mx2', outcome: object][] = [
  ['421 at the greeting', 'CONNECT 421 4.3.2 busy', 'mx2', { kind: 'delivered' }],
  ['5yz at the greeting', 'CONNECT 554 5.7.1 no', 'mx2', { kind: 'delivered' }],
  ['451 to the recipient', 'RCPT 451 4.3.0 later', 'mx2', { kind: 'delivered' }],
  ['421 after the mail', 'DOT 421 4.3.0 closing', 'mx2', { kind: 'delivered' }],
  ['550 to the recipient', 'RCPT 550 5.1.1 no such user', 'mx1', { kind: 'bounced', bounceType: 'hard' }],
  ['554 to the mail', 'DOT 554 5.7.1 spam', 'mx1', { kind: 'bounced', bounceType: 'soft' }],
  ['a full mailbox', 'RCPT 452 4.2.2 full', 'mx1', { kind: 'deferred', aboutRecipient: true }],
  ['a lost connection after the dot', 'DOT drop', 'mx1', { kind: 'unknown' }],
  ['a lost connection at MAIL', 'MAIL drop', 'mx2', { kind: 'delivered' }],
]
for (const [what, when, took, outcome] of ON_FIRST) {
  test(`${what} at the first of two hosts ${took === 'mx2' ? 'leads to the second' : 'ends the attempt'}`, async () => {
    const [cue, ...words] = when.split(' ')
    const said = words.join(' ')
    const move = said === 'drop' ? { do: 'drop' as const } : said
    const mx = keep(
      await startRawMx({ script: (at, _line, connection) => (at === cue && connection === 1 ? move : null) }),
    )
    const { zone, attempt } = await createOutboundSetup({ settings: { deliveryPort: mx.port } })
    publish(zone, { 'mx1.remote.test': ['127.0.0.1'], 'mx2.remote.test': ['127.0.0.1'] })
    const result = await attempt(job())
    expect(result.outcome).toMatchObject(outcome)
    expect(result.attempt.mxHost).toBe(`${took}.remote.test`)
    expect(mx.connections()).toBe(took === 'mx1' ? 1 : 2)
  })
}

test('when all hosts fail, the last reply is reported rather than a later refused connection', async () => {
  const mx = keep(await startRawMx({ script: (cue) => (cue === 'RCPT' ? '450 4.7.1 greylisted' : null) }))
  const { zone, attempt } = await createOutboundSetup({ settings: { deliveryPort: mx.port } })
  publish(zone, { 'mx1.remote.test': ['127.0.0.1'], 'mx2.remote.test': ['127.9.9.9'] })
  const { outcome, attempt: record } = await attempt(job())
  expect(outcome).toMatchObject({ kind: 'deferred', code: '4.7.1', message: '450 4.7.1 greylisted' })
  expect(record).toMatchObject({ mxHost: 'mx1.remote.test', reply: '450 4.7.1 greylisted', enhancedCode: '4.7.1' })
  expect(record.transcript).toContain('connection refused')
})

test('at most five connections are tried, and hosts without address do not count', async () => {
  const mx = keep(await startRawMx({ script: (cue) => (cue === 'CONNECT' ? '421 busy' : null) }))
  const { zone, attempt } = await createOutboundSetup({ settings: { deliveryPort: mx.port } })
  const hosts = Array.from({ length: 9 }, (_, i) => [`mx${i}.remote.test`, i < 2 ? [] : ['127.0.0.1']] as const)
  publish(zone, Object.fromEntries(hosts.map(([name, addresses]) => [name, [...addresses]])))
  expect((await attempt(job())).outcome).toMatchObject({ kind: 'deferred', code: '421' })
  expect(mx.connections()).toBe(5)
})

// threat: hanging-mail-servers
test('silent servers cannot extend an attempt beyond its time', async () => {
  const mx = keep(await startRawMx({ script: (cue) => (cue === 'CONNECT' ? { do: 'hang' } : null) }))
  const attemptMs = TEST_LIMIT_MS / 150
  const timeouts = { attemptMs, greetingMs: 0.6 * attemptMs }
  const { zone, attempt } = await createOutboundSetup({ settings: { deliveryPort: mx.port }, timeouts })
  publish(zone, {
    'mx1.remote.test': ['127.0.0.1'],
    'mx2.remote.test': ['127.0.0.1'],
    'mx3.remote.test': ['127.0.0.1'],
  })
  expect((await attempt(job())).outcome).toMatchObject({
    kind: 'deferred',
    code: '4.4.2',
    cause: { rule: 'timeout:greeting' },
  })
  expect(mx.connections()).toBe(2)
})

test('a black hole costs the connect timeout for each of its hosts', async () => {
  const hole = keep(await startBlackHole())
  const { zone, attempt } = await createOutboundSetup({
    settings: { deliveryPort: hole.port },
    timeouts: { connectMs: 80 },
  })
  publish(zone, { 'mx1.remote.test': ['127.0.0.1'], 'mx2.remote.test': ['127.0.0.1'] })
  const { outcome, attempt: record } = await attempt(job())
  expect(outcome).toMatchObject({ kind: 'deferred', code: '4.4.1', cause: { rule: 'timeout:connect' } })
  expect(record.mxHost).toBe('mx2.remote.test')
  expect(record.transcript.match(/connecting to/g)).toHaveLength(2)
})

// RFC 5321 §5.1 forbids publishing it, not following it.
test('an MX that is an alias leads to the host behind it', async () => {
  const mx = keep(await startRawMx())
  const { zone, attempt } = await createOutboundSetup({ settings: { deliveryPort: mx.port } })
  zone.set('remote.test', 'MX', [{ preference: 10, exchange: 'mail.remote.test' }])
  zone.set('mail.remote.test', 'CNAME', ['host.provider.test'])
  zone.set('host.provider.test', 'A', ['127.0.0.1'])
  const { outcome, attempt: record } = await attempt(job())
  expect(outcome.kind).toBe('delivered')
  expect(record.mxHost).toBe('mail.remote.test')
})

test('where there is no host nothing is connected to, and the transcript says why', async () => {
  const { zone, attempt } = await createOutboundSetup({ settings: { allowPrivateDestinations: false } })
  publish(zone, { 'mx1.remote.test': ['127.0.0.1'] })
  zone.set('null.test', 'MX', [{ preference: 0, exchange: '.' }])
  const inner = await attempt(job())
  expect(inner.outcome).toMatchObject({ kind: 'deferred', code: '4.4.4' })
  expect(inner.attempt).toMatchObject({
    mxHost: null,
    outcome: 'deferred',
    cause: { class: 'dns', rule: 'dns:private' },
  })
  expect(inner.attempt.transcript).toContain('only private addresses, skipped')
  const nobody = await attempt(job({ recipient: 'a@null.test' }))
  expect(nobody.outcome).toMatchObject({ kind: 'bounced', bounceType: 'hard', code: '5.1.10' })
})

test('a relay gets the mail, with login, whatever the recipient domain publishes', async () => {
  const login = { user: 'relay', password: 'secret' }
  const mx = keep(await startRemoteMx({ tls: certificate, login }))
  const relays = [relayAt('relay.sender.test', mx.port, { login })]
  const { zone, attempt } = await createOutboundSetup({ settings: { relays, allowPrivateDestinations: false } })
  zone.set('relay.sender.test', 'A', ['127.0.0.1'])
  const { outcome, attempt: record } = await attempt(job({ recipient: 'a@nowhere.test', route: VIA_RELAY }))
  expect(outcome.kind).toBe('delivered')
  const { relay } = VIA_RELAY
  expect(record).toMatchObject({
    mxHost: 'relay.sender.test',
    relay: relay!,
    tlsVersion: 'TLSv1.3',
    tlsVerified: false,
  })
  expect(JSON.stringify(record)).not.toContain('secret')
  expect(JSON.stringify(record)).not.toContain(Buffer.from('\0relay\0secret').toString('base64'))
})

test('a relay without an address defers: its operator must act, not the recipient', async () => {
  const { attempt } = await createOutboundSetup({ settings: { relays: [relayAt('relay.sender.test', 25)] } })
  expect((await attempt(job({ route: VIA_RELAY }))).outcome).toMatchObject({ kind: 'deferred', code: '4.4.4' })
})

test('test mail is composed and signed and sent nowhere', async () => {
  const { zone, attempt } = await createOutboundSetup()
  const outcomes = [1, 2].map((number) =>
    attempt(job({ sandbox: true, recipient: 'defer@remote.test', attempt: number, signingKeys: SIGNING })),
  )
  expect((await Promise.all(outcomes)).map(({ outcome }) => outcome.kind)).toEqual(['deferred', 'delivered'])
  expect(zone.queries).toEqual([])
})

test('a mail that cannot be composed is a soft bounce with 5.6.0, as is one damaged in the store', async () => {
  const { zone, attempt } = await createOutboundSetup()
  zone.set('remote.test', 'A', ['127.0.0.1'])
  const broken = packContent({ ...CONTENT, messageId: 'no brackets\r\n' })
  for (const content of [broken, new Uint8Array(20)]) {
    const { outcome } = await attempt(job({ content }))
    expect(outcome).toMatchObject({ kind: 'bounced', bounceType: 'soft', code: '5.6.0' })
  }
})

test('an internal error defers the delivery and is reported', async () => {
  const bugs: unknown[] = []
  const mx = keep(await startRawMx())
  const { zone, attempt } = await createOutboundSetup({
    settings: { deliveryPort: mx.port },
    onBug: (_job, error) => bugs.push(error),
  })
  publish(zone, { 'mx1.remote.test': ['127.0.0.1'] })
  const { outcome } = await attempt(job({ returnPath: 'a\r\nRCPT TO:<x@y.z>' }))
  expect(outcome).toMatchObject({ kind: 'deferred', code: '4.3.0', cause: { class: 'internal' } })
  expect(bugs.length).toBe(1)
  expect((await attempt(job())).outcome.kind).toBe('delivered')
})

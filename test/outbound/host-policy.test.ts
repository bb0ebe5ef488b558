import { expect, test } from 'bun:test'
import { createHash, X509Certificate } from 'node:crypto'
import { readFileSync } from 'node:fs'
import type { MtaSts } from '../../src/mail/mta-sts.ts'
import type { TlsaRecord } from '../../src/net/dns/resolver.ts'
import type { AttemptJob } from '../../src/sending/outbound/job.ts'
import { peerKey, peerOf } from '../../src/sending/outbound/smtp/peer.ts'
import { daneProblem, usableTlsa } from '../../src/sending/outbound/tls/dane.ts'
import { startRawMx } from '../support/remote-mx.ts'
import { createOutboundSetup, job, keep, publish } from './setup.ts'

const fixture = (name: string) => readFileSync(new URL(`../fixtures/tls/${name}.pem`, import.meta.url), 'utf8')
const leafPem = fixture('leaf')
const rootPem = fixture('root')
const TLS = { keyPem: fixture('key'), certificatePem: leafPem + rootPem }
const HOST = 'mx1.remote.test'
const leaf = new X509Certificate(leafPem)
const root = new X509Certificate(rootPem)

const SELECTED = {
  0: (certificate: X509Certificate) => certificate.raw,
  1: (certificate: X509Certificate) => certificate.publicKey.export({ type: 'spki', format: 'der' }),
}
const MATCHED = {
  0: (data: Uint8Array) => data,
  1: (data: Uint8Array) => createHash('sha256').update(data).digest(),
  2: (data: Uint8Array) => createHash('sha512').update(data).digest(),
}

function tlsa(usage: number, selector: 0 | 1, matchingType: 0 | 1 | 2, of: X509Certificate): TlsaRecord {
  return { usage, selector, matchingType, certificate: MATCHED[matchingType](SELECTED[selector](of)) }
}

const EVERY = ([0, 1] as const).flatMap((selector) => ([0, 1, 2] as const).map((type) => [selector, type] as const))
const SHOWN = [leaf.raw, root.raw]
const NOW = Date.now()
const LATER = Date.UTC(2300, 0, 1)

test.each(EVERY)('DANE-EE, selector %i, matching type %i: the own certificate alone decides', (selector, type) => {
  const right = [tlsa(3, selector, type, leaf)]
  expect(daneProblem(right, [leaf.raw], 'other.test', LATER)).toBeNull()
  expect(daneProblem([tlsa(3, selector, type, root)], SHOWN, HOST, NOW)).toBe(
    'the certificate matches none of the TLSA records',
  )
})

test.each(EVERY)('DANE-TA, selector %i, matching type %i: chain, dates and name decide', (selector, type) => {
  const right = [tlsa(2, selector, type, root)]
  expect(daneProblem(right, SHOWN, HOST, NOW)).toBeNull()
  expect(daneProblem(right, SHOWN, 'other.test', NOW)).toBe('the certificate is not for other.test')
  expect(daneProblem(right, SHOWN, HOST, LATER)).toContain('matches none')
  // Published whole, the anchor need not be sent; by a digest it could not be found.
  expect(daneProblem(right, [leaf.raw], HOST, NOW) === null).toBe(type === 0)
})

test('a DANE-TA record of a certificate that issued nothing here verifies nothing', () => {
  const stranger = new X509Certificate(leafPem)
  expect(daneProblem([tlsa(2, 0, 1, root)], [stranger.raw], HOST, NOW)).toContain('matches none')
  expect(daneProblem([tlsa(2, 0, 1, root)], [], HOST, NOW)).toBe('the server sent no certificate')
  expect(daneProblem([tlsa(2, 0, 1, root)], [Buffer.from('no certificate')], HOST, NOW)).toContain('cannot be parsed')
})

test('one matching record is enough, and records that SMTP cannot use do not count', () => {
  const good = tlsa(3, 1, 1, leaf)
  expect(daneProblem([tlsa(3, 1, 1, root), good], SHOWN, HOST, NOW)).toBeNull()
  const useless: TlsaRecord[] = [
    tlsa(0, 0, 1, root),
    tlsa(1, 0, 1, leaf),
    { ...good, usage: 4 },
    { ...good, selector: 2 },
    { ...good, matchingType: 3 },
    { ...good, certificate: good.certificate.subarray(1) },
    { ...good, matchingType: 0 },
  ]
  expect(usableTlsa([...useless, good])).toEqual([good])
})

/** remote.test with one real server that presents the fixture's chain; DNSSEC covers everything except what
 *  `unsigned` names. */
async function remote(options: { records?: TlsaRecord[]; unsigned?: string[]; trusted?: string[]; ca?: string } = {}) {
  const mx = keep(await startRawMx({ tls: TLS }))
  const trustedDnsServers = options.trusted ?? ['127.0.0.1/32']
  const made = await createOutboundSetup({ settings: { deliveryPort: mx.port, trustedDnsServers }, ca: options.ca })
  publish(made.zone, { [HOST]: ['127.0.0.1'] })
  const owner = `_${mx.port}._tcp.${HOST}`
  if (options.records) made.zone.set(owner, 'TLSA', options.records)
  for (const name of ['remote.test', HOST, owner]) {
    if (!options.unsigned?.includes(name)) made.zone.signed.add(name)
  }
  return { ...made, mx, owner }
}

const wrong = () => tlsa(3, 1, 1, root)
const TLS_FAULT = { kind: 'deferred', code: '4.7.5', cause: { class: 'tls' } }

test.each([
  ['EE', () => tlsa(3, 1, 1, leaf)],
  ['TA', () => tlsa(2, 0, 2, root)],
])('DANE-%s over a real connection counts as verified, for require_tls too', async (_name, record) => {
  const { attempt } = await remote({ records: [record()] })
  for (const requireTls of [false, true]) {
    const { outcome, attempt: facts } = await attempt(job({ requireTls }))
    expect(outcome.kind).toBe('delivered')
    expect(facts).toMatchObject({ tlsVerified: true, tlsPolicy: 'dane' })
    expect(facts.transcript).toContain('TLSA records verify')
  }
})

test('a certificate that matches no TLSA record defers, even from a public authority, and is never replaced by cleartext', async () => {
  const { attempt, mx } = await remote({ records: [wrong()], ca: rootPem })
  const { outcome, attempt: facts } = await attempt(job())
  expect(outcome).toMatchObject(TLS_FAULT)
  expect(facts).toMatchObject({ tlsPolicy: 'dane', mxHost: HOST, tlsVerified: false })
  expect(mx.mails).toEqual([])
})

test.each([
  ['MX', 'remote.test'],
  ['address', HOST],
  ['TLSA', ''],
] as const)('without DNSSEC for the %s record TLSA is not asked or does not count', async (_what, name) => {
  const setup = await remote({ records: [wrong()] })
  setup.zone.signed.delete(name || setup.owner)
  const { outcome, attempt: facts } = await setup.attempt(job())
  expect(outcome.kind).toBe('delivered')
  expect(facts).toMatchObject({ tlsPolicy: 'none', tlsVerified: false })
  expect(setup.zone.queries.some(({ type }) => type === 'TLSA')).toBe(name === '')
})

test('an untrusted resolver is not trusted about DNSSEC', async () => {
  const { attempt, zone } = await remote({ records: [wrong()], trusted: [] })
  expect((await attempt(job())).attempt.tlsPolicy).toBe('none')
  expect(zone.queries.some(({ type }) => type === 'TLSA')).toBe(false)
})

test('a host whose TLSA lookup fails is left out: deferred, nothing connected to', async () => {
  const { attempt, zone, mx, owner } = await remote()
  zone.fail(owner, 'SERVFAIL')
  const { outcome, attempt: facts } = await attempt(job())
  expect(outcome).toMatchObject({ kind: 'deferred', code: '4.4.3', cause: { rule: 'dane:lookup' } })
  expect(facts).toMatchObject({ tlsPolicy: 'dane', mxHost: null })
  expect(facts.transcript).toContain('skipped, the lookup of')
  expect(mx.connections()).toBe(0)
})

test('TLSA records that SMTP cannot use require encryption and no more', async () => {
  const { attempt } = await remote({ records: [tlsa(1, 0, 1, root)] })
  const { outcome, attempt: facts } = await attempt(job())
  expect(outcome.kind).toBe('delivered')
  expect(facts).toMatchObject({ tlsPolicy: 'dane', tlsVerified: false, tlsVersion: 'TLSv1.3' })
  const plain = keep(await startRawMx())
  const clear = await createOutboundSetup({
    settings: { deliveryPort: plain.port, trustedDnsServers: ['127.0.0.1/32'] },
  })
  publish(clear.zone, { [HOST]: ['127.0.0.1'] })
  clear.zone.set(`_${plain.port}._tcp.${HOST}`, 'TLSA', [tlsa(1, 0, 1, root)])
  for (const name of ['remote.test', HOST, `_${plain.port}._tcp.${HOST}`]) clear.zone.signed.add(name)
  expect((await clear.attempt(job())).outcome).toMatchObject({ kind: 'deferred', code: '4.7.4' })
  expect(plain.mails).toEqual([])
})

test('a domain without MX is verified by the TLSA records of its own name', async () => {
  const { attempt, zone, mx } = await remote()
  zone.remove('remote.test', 'MX')
  zone.set('remote.test', 'A', ['127.0.0.1'])
  zone.set(`_${mx.port}._tcp.remote.test`, 'TLSA', [tlsa(3, 1, 1, leaf)])
  zone.signed.add(`_${mx.port}._tcp.remote.test`)
  expect((await attempt(job())).attempt).toMatchObject({ tlsPolicy: 'dane', tlsVerified: true, outcome: 'delivered' })
})

const policy = (mode: MtaSts['mode'], ...mx: string[]): MtaSts => ({ mode, mx, maxAgeSeconds: 86_400 })

test('an enforced MTA-STS policy requires a listed host with a public certificate for its name', async () => {
  const proven = await remote({ ca: rootPem })
  const taken = await proven.attempt(job({ mtaSts: policy('enforce', '*.remote.test') }))
  expect(taken.attempt).toMatchObject({ outcome: 'delivered', tlsPolicy: 'mta_sts', tlsVerified: true })

  const unproven = await remote()
  const kept = await unproven.attempt(job({ mtaSts: policy('enforce', HOST) }))
  expect(kept.outcome).toMatchObject(TLS_FAULT)
  expect(unproven.mx.mails).toEqual([])

  const unlisted = await proven.attempt(job({ mtaSts: policy('enforce', 'mx9.remote.test') }))
  expect(unlisted.outcome).toMatchObject({
    kind: 'deferred',
    code: '4.7.0',
    cause: { class: 'tls', rule: 'mta_sts:mx' },
  })
  expect(unlisted.attempt).toMatchObject({ mxHost: null, tlsPolicy: 'mta_sts' })
})

test('hosts that the policy does not list are left out', async () => {
  const { attempt, zone } = await remote({ ca: rootPem })
  publish(zone, { 'evil.test': ['127.0.0.1'], [HOST]: ['127.0.0.1'] })
  const { attempt: facts } = await attempt(job({ mtaSts: policy('enforce', HOST) }))
  expect(facts).toMatchObject({ outcome: 'delivered', mxHost: HOST })
  expect(facts.transcript).toContain('evil.test: skipped, evil.test is not in the MTA-STS policy of remote.test')
})

test('an MTA-STS policy in testing requires nothing, and one of mode none is no policy', async () => {
  const { attempt } = await remote()
  for (const [mode, name] of [
    ['testing', 'mta_sts_testing'],
    ['none', 'none'],
  ] as const) {
    const { attempt: facts } = await attempt(job({ mtaSts: policy(mode, 'mx9.remote.test') }))
    expect(facts).toMatchObject({ outcome: 'delivered', tlsPolicy: name })
  }
})

test('DANE has precedence over MTA-STS, whether it passes or fails', async () => {
  const fine = await remote({ records: [tlsa(3, 1, 1, leaf)] })
  const taken = await fine.attempt(job({ mtaSts: policy('enforce', 'mx9.remote.test') }))
  expect(taken.attempt).toMatchObject({ outcome: 'delivered', tlsPolicy: 'dane' })
  const bad = await remote({ records: [wrong()], ca: rootPem })
  expect((await bad.attempt(job({ mtaSts: policy('enforce', HOST) }))).outcome).toMatchObject(TLS_FAULT)
})

test('broken TLS at a host lets no mail with a policy go there in cleartext', async () => {
  const mx = keep(await startRawMx({ tls: TLS, script: (cue) => (cue === 'STARTTLS' ? '454 4.7.0 no' : null) }))
  const { zone, attempt } = await createOutboundSetup({ settings: { deliveryPort: mx.port } })
  publish(zone, { [HOST]: ['127.0.0.1'] })
  expect((await attempt(job())).attempt).toMatchObject({ outcome: 'delivered', tlsVersion: null })
  expect((await attempt(job({ mtaSts: policy('enforce', HOST) }))).outcome).toMatchObject({ code: '4.7.4' })
  expect((await attempt(job({ requireTls: true }))).outcome).toMatchObject({ code: '4.7.4' })
  expect(mx.mails).toHaveLength(1)
})

test('mails share a connection only when the same TLSA records verify it', () => {
  const peer = peerOf(HOST, '127.0.0.1', { demand: 'verified' }, 25)
  const keys = [undefined, [tlsa(3, 1, 1, leaf)], [wrong()], [wrong(), tlsa(3, 1, 1, leaf)]].map((records) =>
    peerKey({ ...peer, tlsa: records }),
  )
  expect(new Set(keys).size).toBe(4)
  expect(peerKey({ ...peer, tlsa: [tlsa(3, 1, 1, leaf), wrong()] })).toBe(keys[3]!)
})

test('each connection is reported once as a session, with its TLS failure', async () => {
  const sessions = async (setup: Awaited<ReturnType<typeof remote>>, more: Partial<AttemptJob> = {}) =>
    (await setup.attempt(job(more))).tlsSessions.map(({ policy: name, failure }) => [name, failure])

  const open = await remote()
  expect((await open.attempt(job())).tlsSessions).toEqual([
    { policy: 'none', host: HOST, address: '127.0.0.1', source: '127.0.0.1', failure: null },
  ])
  expect(await sessions(open)).toEqual([])
  expect(await sessions(open, { requireTls: true })).toEqual([['required', 'certificate-not-trusted']])

  const watched = await remote()
  expect(await sessions(watched, { mtaSts: policy('testing', HOST) })).toEqual([
    ['mta_sts_testing', 'certificate-not-trusted'],
  ])
  const unlisted = await remote({ ca: rootPem })
  expect(await sessions(unlisted, { mtaSts: policy('testing', 'mx9.remote.test') })).toEqual([
    ['mta_sts_testing', 'validation-failure'],
  ])
  expect(await sessions(unlisted, { mtaSts: policy('enforce', 'mx9.remote.test') })).toEqual([
    ['mta_sts', 'validation-failure'],
  ])
  expect(await sessions(await remote({ records: [wrong()] }))).toEqual([['dane', 'validation-failure']])

  const untold = await remote()
  untold.zone.fail(untold.owner, 'SERVFAIL')
  expect(await sessions(untold)).toEqual([['dane', 'dnssec-invalid']])
})

test.each([
  ['offers no TLS', undefined, null, 'starttls-not-supported'],
  ['refuses STARTTLS', TLS, '454 4.7.0 no', 'starttls-not-supported'],
  ['breaks the handshake', TLS, { do: 'drop' as const }, 'validation-failure'],
])('a server that %s is reported as such, although the mail went in cleartext', async (_what, tls, move, failure) => {
  const mx = keep(await startRawMx({ tls, script: (cue) => (cue === 'STARTTLS' ? move : null) }))
  const { zone, attempt } = await createOutboundSetup({ settings: { deliveryPort: mx.port } })
  publish(zone, { [HOST]: ['127.0.0.1'] })
  expect(await attempt(job())).toMatchObject({ outcome: { kind: 'delivered' }, tlsSessions: [{ failure }] })
})

test('a connection that ended before TLS is no session', async () => {
  const mx = keep(await startRawMx({ tls: TLS, script: (cue) => (cue === 'CONNECT' ? '421 busy' : null) }))
  const { zone, attempt } = await createOutboundSetup({ settings: { deliveryPort: mx.port } })
  publish(zone, { [HOST]: ['127.0.0.1'] })
  expect((await attempt(job())).tlsSessions).toEqual([])
})

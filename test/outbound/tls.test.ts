import { afterEach, beforeAll, expect, test } from 'bun:test'
import { X509Certificate } from 'node:crypto'
import { type Certificate, selfSignedCertificate } from '../../src/net/tls/certificate.ts'
import { nowMs } from '../../src/sending/outbound/smtp/dialogue.ts'
import { type Peer, relayPeer } from '../../src/sending/outbound/smtp/peer.ts'
import { TIMEOUTS } from '../../src/sending/outbound/smtp/timeouts.ts'
import { createTranscript } from '../../src/sending/outbound/smtp/transcript.ts'
import { createTransport, type Transport } from '../../src/sending/outbound/smtp/transport.ts'
import { toWire } from '../../src/sending/outbound/smtp/wire-mail.ts'
import { type RawMx, startRawMx, startRemoteMx } from '../support/remote-mx.ts'
import { relayAt } from './setup.ts'

let certificate: Certificate
let other: Certificate
beforeAll(async () => {
  certificate = await selfSignedCertificate({ names: ['mx.raw.test'], now: Date.now() })
  other = await selfSignedCertificate({ names: ['elsewhere.test'], now: Date.now() })
})

const open: { stop(): Promise<void> }[] = []
afterEach(async () => {
  for (const each of open.splice(0).reverse()) await each.stop()
})

const MAIL = toWire([Buffer.from('From: a@b.test\r\n\r\nhello\r\n')])
const TAKEN = { kind: 'reply', stage: 'content', reply: { code: 250 } }

async function raw(options: Parameters<typeof startRawMx>[0] = {}): Promise<RawMx> {
  const mx = await startRawMx({ tls: certificate, ...options })
  open.push(mx)
  return mx
}

function transport(options: Partial<Parameters<typeof createTransport>[0]> = {}): Transport {
  const made = createTransport({
    hostname: 'out.sender.test',
    sourceAddress: null,
    timeouts: TIMEOUTS,
    ...options,
  })
  open.push(made)
  return made
}

async function offer(via: Transport, mx: { port: number }, more: Partial<Peer> = {}) {
  const transcript = createTranscript(nowMs)
  const address = { host: 'mx.raw.test', address: '127.0.0.1', port: mx.port }
  const peer: Peer = { ...address, tls: 'starttls', demand: 'none', login: null, ...more }
  const envelope = { returnPath: 'r@sender.test', recipient: 'anna@raw.test' }
  const offered = await via.offer({
    peer,
    destination: { name: 'raw.test', connections: 2, maxMails: 500 },
    envelope,
    mail: MAIL,
    transcript,
    budgetMs: 5000,
  })
  return { ...offered, transcript: transcript.text() }
}

test('STARTTLS is used when offered, EHLO repeated within, and an unverified certificate recorded', async () => {
  const mx = await raw()
  const { answer, tls, transcript } = await offer(transport(), mx)
  expect(answer).toMatchObject(TAKEN)
  expect(tls).toMatchObject({
    version: 'TLSv1.3',
    cipher: expect.stringContaining('TLS_'),
    problem: expect.any(String),
  })
  expect(mx.heard.slice(0, 5)).toEqual([
    '<connect>',
    'EHLO out.sender.test',
    'STARTTLS',
    '<tls>',
    'EHLO out.sender.test',
  ])
  expect(transcript).toMatch(/-- TLSv1\.3 TLS_\w+, certificate not verified: /)
})

test('a certificate of a trusted authority for the name of the host is recorded as verified', async () => {
  const mx = await raw()
  const { tls } = await offer(transport({ ca: certificate.certificatePem }), mx)
  expect(tls?.problem).toBeNull()
})

for (const [what, move] of [
  ['refuses it', '454 4.7.0 TLS not available'],
  ['hangs up', { do: 'drop' as const }],
  ['says nothing', { do: 'hang' as const }],
  ['speaks no TLS after 220', '220 go ahead'],
] as const) {
  // threat: broken-starttls
  test(`where STARTTLS is offered and the server ${what}, the mail goes in cleartext, and the next one at once`, async () => {
    const mx = await raw({ script: (cue) => (cue === 'STARTTLS' ? move : null) })
    const via = transport({ timeouts: { ...TIMEOUTS, commandMs: 1_000, tlsMs: 60 } })
    const first = await offer(via, mx)
    expect(first).toMatchObject({ answer: TAKEN, tls: null })
    expect(first.transcript).toContain('retrying without TLS')
    expect((await offer(via, mx)).answer).toMatchObject(TAKEN)
    expect(mx.heard.filter((line) => line === 'STARTTLS').length).toBe(1)
    expect(mx.connections()).toBe(2)
  })
}

test('replies sent in cleartext behind the 220 of STARTTLS are dropped, and so are all before', async () => {
  const injected = '220 go ahead\r\n250-evil\r\n250 AUTH PLAIN\r\n'
  const mx = await raw({ script: (cue) => (cue === 'STARTTLS' ? { do: 'starttls', text: injected } : null) })
  const { answer, transcript } = await offer(transport(), mx)
  expect(answer).toMatchObject(TAKEN)
  expect(mx.heard.filter((line) => line.startsWith('EHLO')).length).toBe(2)
  expect(mx.mails.length).toBe(1)
  expect(transcript).toContain('S: 250 2.0.0 queued')
})

test('a mail that requires TLS goes only to a server with a verified name', async () => {
  const mx = await raw()
  const trusting = { ca: certificate.certificatePem }
  const verified = await offer(transport(trusting), mx, { demand: 'verified' })
  expect(verified).toMatchObject({ answer: TAKEN, tls: { problem: null } })
  for (const [via, host, code] of [
    [transport(), 'mx.raw.test', '4.7.5'],
    [transport(trusting), 'mx2.raw.test', '4.7.5'],
    [transport({ ca: other.certificatePem }), 'mx.raw.test', '4.7.5'],
  ] as const) {
    const { answer } = await offer(via, mx, { demand: 'verified', host })
    expect(answer).toMatchObject({ kind: 'fault', stage: 'starttls', fault: { class: 'tls', code } })
  }
  expect(mx.mails.length).toBe(1)
})

test('a mail that requires TLS never goes in cleartext', async () => {
  const without = await startRawMx()
  open.push(without)
  const refusing = await raw({ script: (cue) => (cue === 'STARTTLS' ? '454 4.7.0 no' : null) })
  for (const mx of [without, refusing]) {
    const { answer } = await offer(transport(), mx, { demand: 'verified' })
    expect(answer).toMatchObject({ kind: 'fault', fault: { class: 'tls', code: '4.7.4' } })
    expect(mx.heard.some((line) => line.startsWith('MAIL'))).toBe(false)
  }
})

test('a mail that requires TLS and one that does not never share a connection', async () => {
  const mx = await raw()
  const via = transport({ ca: certificate.certificatePem })
  await offer(via, mx)
  await offer(via, mx, { demand: 'verified' })
  expect(mx.connections()).toBe(2)
})

const LOGIN = { user: 'relay', password: 'correct horse' }

for (const [mechanisms, words] of [
  ['AUTH PLAIN LOGIN', ['AUTH PLAIN ***']],
  ['AUTH=LOGIN', ['AUTH LOGIN', '***', '***']],
] as const) {
  test(`a smarthost with implicit TLS accepts user and password by ${mechanisms}; neither is recorded`, async () => {
    let asked = 0
    const mx = await raw({
      implicitTls: true,
      extensions: ['PIPELINING', mechanisms],
      script: (cue, line) => {
        if (cue === 'AUTH') return line === 'AUTH LOGIN' ? '334 VXNlcm5hbWU6' : '235 2.7.0 welcome'
        if (/^[A-Za-z0-9+/=]+$/.test(line) && !['DATA', 'RSET', 'QUIT'].includes(line)) {
          return ++asked === 1 ? '334 UGFzc3dvcmQ6' : '235 2.7.0 welcome'
        }
        return null
      },
    })
    const { answer, transcript } = await offer(transport(), mx, { tls: 'implicit', demand: 'encrypted', login: LOGIN })
    expect(answer).toMatchObject(TAKEN)
    const said = mx.heard.join('\n')
    expect(said).toContain(
      mechanisms === 'AUTH=LOGIN'
        ? Buffer.from(LOGIN.password).toString('base64')
        : `AUTH PLAIN ${Buffer.from('\0relay\0correct horse').toString('base64')}`,
    )
    for (const word of words) expect(transcript).toContain(`C: ${word}`)
    expect(transcript).not.toContain(Buffer.from(LOGIN.password).toString('base64'))
  })
}

test('a refused login defers, and a password that the server repeats is not recorded', async () => {
  const echo = `535 5.7.8 wrong: ${Buffer.from('\0relay\0correct horse').toString('base64')} (correct horse)`
  const mx = await raw({ extensions: ['AUTH PLAIN'], script: (cue) => (cue === 'AUTH' ? echo : null) })
  const { answer, transcript } = await offer(transport(), mx, { demand: 'encrypted', login: LOGIN })
  expect(answer).toMatchObject({ kind: 'fault', stage: 'login', fault: { class: 'login', code: '4.7.8' } })
  expect(JSON.stringify(answer) + transcript).toContain('wrong: *** (***)')
  expect(JSON.stringify(answer) + transcript).not.toContain('correct horse')
})

test('no password is sent to a server without TLS unless that is allowed', async () => {
  const mx = await startRawMx({ extensions: ['AUTH PLAIN'] })
  open.push(mx)
  const { answer } = await offer(transport(), mx, { demand: 'encrypted', login: LOGIN })
  expect(answer).toMatchObject({ kind: 'fault', fault: { class: 'tls', code: '4.7.4' } })
  expect(mx.heard.some((line) => line.startsWith('AUTH'))).toBe(false)
})

// threat: smarthost-password
test('no password is sent to a server with an unverified certificate, and the fault has its fingerprint', async () => {
  const shown = new X509Certificate(certificate.certificatePem)
  const fingerprint = shown.fingerprint256.replaceAll(':', '').toLowerCase()
  for (const implicitTls of [false, true]) {
    const mx = await raw({ implicitTls, extensions: ['AUTH PLAIN'] })
    const tls = implicitTls ? 'implicit' : 'starttls'
    const { answer } = await offer(transport(), mx, { tls, demand: 'verified', login: LOGIN })
    expect(answer).toMatchObject({ kind: 'fault', fault: { class: 'tls', code: '4.7.5' } })
    expect(JSON.stringify(answer)).toContain(`password not sent: `)
    expect(JSON.stringify(answer)).toContain(fingerprint)
    expect(mx.heard.some((line) => line.startsWith('AUTH'))).toBe(false)
  }
})

test('a pinned certificate or public key is enough for the password, and another one is not', async () => {
  const shown = new X509Certificate(certificate.certificatePem)
  const key = shown.publicKey.export({ type: 'spki', format: 'der' })
  const hexOf = (bytes: Uint8Array) => new Bun.CryptoHasher('sha256').update(bytes).digest('hex')
  const relay = relayAt('other.name.test', 1, { login: LOGIN })
  const pinnedTo = (...pins: string[]) => relayPeer({ ...relay, pins }, '10.0.0.1', { demand: 'none' })
  for (const [pins, isTaken] of [
    [[hexOf(shown.raw)], true],
    [[hexOf(key)], true],
    [['00'.repeat(32), hexOf(key)], true],
    [['00'.repeat(32)], false],
  ] as [string[], boolean][]) {
    const mx = await startRemoteMx({ tls: certificate, login: LOGIN })
    open.push(mx)
    const { demand, tlsa, login, tls } = pinnedTo(...pins)
    const { answer } = await offer(transport(), mx, { demand, tlsa, login, tls })
    expect([pins, answer.kind === 'fault' ? answer.fault.class : 'taken']).toEqual([pins, isTaken ? 'taken' : 'tls'])
  }
})

test('a real smtp-server accepts the mail over STARTTLS with a login', async () => {
  const mx = await startRemoteMx({ tls: certificate, login: LOGIN })
  open.push(mx)
  const via = transport({ ca: certificate.certificatePem })
  expect((await offer(via, mx, { demand: 'verified', login: LOGIN })).answer).toMatchObject(TAKEN)
  expect(mx.mails).toMatchObject([{ isTls: true, rcptTo: ['anna@raw.test'] }])
  const mistaken = transport({ ca: certificate.certificatePem })
  const wrong = await offer(mistaken, mx, { demand: 'verified', login: { ...LOGIN, password: 'wrong' } })
  expect(wrong.answer).toMatchObject({ kind: 'fault', stage: 'login' })
})

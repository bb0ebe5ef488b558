import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { selfSignedCertificate } from '../../src/net/tls/certificate.ts'
import { greet } from '../../src/sending/outbound/smtp/greet.ts'
import type { Peer } from '../../src/sending/outbound/smtp/peer.ts'
import { freePort } from '../support/free-port.ts'
import { type RemoteMx, startRemoteMx } from '../support/remote-mx.ts'

const LOGIN = { user: 'shop', password: 'correct horse' }

describe('a connection without a mail', () => {
  let server: RemoteMx
  let ca = ''
  beforeAll(async () => {
    const now = Date.now() // the runtime's TLS uses the real clock
    const tls = await selfSignedCertificate({ names: ['localhost'], now })
    ca = tls.certificatePem
    server = await startRemoteMx({ tls, login: LOGIN })
  })
  afterAll(() => server.stop())

  const call = (change: Partial<Peer> = {}) => {
    const peer: Peer = {
      host: 'localhost',
      address: '127.0.0.1',
      port: server.port,
      tls: 'starttls',
      demand: 'verified',
      login: LOGIN,
      ...change,
    }
    return greet(peer, { hostname: 'mail.sender.example', sourceAddress: null, timeoutMs: 60_000, ca })
  }

  test('uses TLS and login, sends QUIT and transmits nothing', async () => {
    const called = await call()
    expect(called).toMatchObject({ isReached: true, problem: null })
    expect(called.words).toContain('AUTH PLAIN ***')
    expect(server.mails).toEqual([])
    expect(server.open()).toBe(0)
  })

  // threat: smarthost-password-exposed
  test('reports a refused login, without the password', async () => {
    const called = await call({ login: { user: 'shop', password: 'wrong horse' } })
    expect(called.isReached).toBe(true)
    expect(called.problem).toContain('authentication failed: 535 5.7.8')
    expect(JSON.stringify(called)).not.toContain('wrong horse')
    expect(called.words).not.toContain(Buffer.from('\0shop\0wrong horse').toString('base64'))
  })

  test('to a closed port is not reached', async () => {
    const called = await call({ port: await freePort() })
    expect(called.isReached).toBe(false)
    expect(called.problem).not.toBeNull()
  })
})

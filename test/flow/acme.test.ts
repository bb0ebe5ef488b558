import { afterEach, beforeEach, expect, test } from 'bun:test'
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { connect, type TLSSocket } from 'node:tls'
import { createLog } from '../../src/os/log.ts'
import { type AcmeAuthority, startAcmeAuthority } from '../support/acme-authority.ts'
import { freePort } from '../support/free-port.ts'
import { type RawMx, startRawMx } from '../support/remote-mx.ts'
import { START, startTestServer, type TestServer } from '../support/server.ts'
import { shownCertificate } from '../support/shown-certificate.ts'
import { foundInFiles } from '../threats/files.ts'

/** The whole server gets its certificate from an authority that checks everything, and renews it. */

const HOSTNAME = 'mail.sender.example'
const folder = mkdtempSync(join(tmpdir(), 'postrider-acme-'))
const lines: string[] = []
let authority: AcmeAuthority
let remote: RawMx
let server: TestServer

beforeEach(async () => {
  const redirectPort = await freePort()
  authority = await startAcmeAuthority({ askAt: () => redirectPort, now: () => server.clock.now() })
  const acme_ca_file = join(folder, 'ca.pem')
  writeFileSync(acme_ca_file, authority.ca)
  remote = await startRawMx({ script: () => null })
  server = await startTestServer({
    remote,
    log: createLog({
      clock: { now: () => START, sleep: async () => {} },
      level: 'info',
      format: 'json',
      write: (line) => lines.push(line),
    }),
    config: {
      http: { listen: '127.0.0.1:0', listen_tls: '127.0.0.1:0', listen_redirect: `127.0.0.1:${redirectPort}` },
      tls: {
        mode: 'acme',
        acme_directory: authority.directoryUrl,
        acme_ca_file,
        acme_agree_terms: true,
        acme_contact: 'ops@sender.example',
        acme_http_port: redirectPort,
        names: ['api.sender.example'],
      },
      smtp: { inbound: { listen: '127.0.0.1:0' } },
    },
  })
  for (const name of [HOSTNAME, 'api.sender.example']) server.zone.set(name, 'A', ['127.0.0.1'])
})
afterEach(async () => {
  await server.close()
  await Promise.all([remote.stop(), authority.stop()])
  rmSync(folder, { recursive: true })
})

const shown = async () => {
  const { https, smtpInbound } = server.running().listening
  const both = [await shownCertificate(https!), await shownCertificate(smtpInbound!, { starttls: true })]
  return both.map(({ issuer, subjectAltName, serialNumber }) => ({ issuer, subjectAltName, serialNumber }))
}

/** After the minute in which the renewal is due: both present another certificate than `before`. */
async function next(before: { serialNumber: string }[]) {
  await server.clock.advance(60_000)
  for (;;) {
    await server.clock.advance(3_000)
    const now = await shown()
    if (now.every(({ serialNumber }, at) => serialNumber !== before[at]!.serialNumber)) return now
  }
}

test('the first certificate replaces the self-signed one, then the next; a restart keeps it, and no connection is cut', async () => {
  const { https, httpRedirect } = server.running().listening
  const selfSigned = await shown()
  expect(selfSigned.map(({ issuer }) => issuer)).toEqual([`CN=${HOSTNAME}`, `CN=${HOSTNAME}`])
  const standing = await connected(https!)
  const first = await next(selfSigned)
  expect(first[0]).toMatchObject({
    issuer: 'CN=Test Authority',
    subjectAltName: `DNS:${HOSTNAME}, DNS:api.sender.example`,
  })
  expect(first[1]).toEqual(first[0]!)
  expect(authority.contacts).toEqual(['mailto:ops@sender.example'])
  expect(await standing.ask()).toMatch(/^HTTP\/1\.1 200 .*\r\nconnection: close\r\n/is)

  server.clock.jump(61 * 86_400_000)
  const second = await next(first)
  expect(authority.orders).toHaveLength(2)

  const metrics = await (await fetch(`http://${server.running().listening.http}/metrics`)).text()
  const endsAt = Date.parse((await shownCertificate(https!)).validTo) / 1000
  expect(metrics).toContain(`postrider_tls_certificate_expiry_timestamp_seconds{listener="https"} ${endsAt}\n`)

  const plain = await fetch(`http://${httpRedirect}/v1/messages?limit=1`, { redirect: 'manual' })
  expect([plain.status, plain.headers.get('location')]).toEqual([
    308,
    `https://${HOSTNAME}:${https!.split(':')[1]}/v1/messages?limit=1`,
  ])

  await server.stop()
  await server.reopen()
  expect((await shown())[0]).toEqual(second[0]!)
  expect(authority.orders).toHaveLength(2)

  // The account key and the certificate key are encrypted, and neither is in the log.
  expect(readdirSync(server.dataDir)).toContain('acme-certificate.pem')
  expect(foundInFiles(server.dataDir, ['BEGIN PRIVATE KEY'])).toEqual([])
  expect(lines.filter((line) => line.includes('"message":"certificate issued"'))).toHaveLength(2)
  expect(lines.join('')).not.toContain('PRIVATE KEY')
})

/** A TLS connection that stays open and sends a request on demand. */
async function connected(address: string): Promise<{ ask(): Promise<string> }> {
  const [host, port] = address.split(':')
  const socket = await new Promise<TLSSocket>((resolve) => {
    const made = connect({ host: host!, port: Number(port), rejectUnauthorized: false }, () => resolve(made))
  })
  return {
    ask: () =>
      new Promise((resolve) => {
        socket.once('data', (bytes) => {
          resolve(String(bytes))
          socket.destroy() // the server may reset it from now on
        })
        socket.on('error', () => {}) // `close` follows
        socket.once('close', () => resolve(''))
        socket.write('GET /healthz HTTP/1.1\r\nHost: mail.sender.example\r\n\r\n')
      }),
  }
}

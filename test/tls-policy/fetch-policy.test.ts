import { afterAll, beforeAll, expect, test } from 'bun:test'
import { startZone, type Zone } from '../../src/cli/try/zone-server.ts'
import { createResolver } from '../../src/net/dns/resolver.ts'
import { createAsk } from '../../src/net/https/requests.ts'
import { createAddressGuard } from '../../src/net/ip.ts'
import { type Certificate, selfSignedCertificate } from '../../src/net/tls/certificate.ts'
import { systemClock } from '../../src/os/clock.ts'
import { systemRandom } from '../../src/os/random.ts'
import { createFetchPolicy } from '../../src/sending/tls-policy/fetch-policy.ts'
import { startHostilePeer } from '../support/hostile-peer.ts'

let certificate: Certificate
let zone: Zone
let server: Bun.Server<unknown>
let respond: () => Response
const asked: string[] = []

beforeAll(async () => {
  certificate = await selfSignedCertificate({ names: ['mta-sts.remote.test'], now: Date.now() })
  const names = ['mta-sts.remote.test', 'mta-sts.other.test']
  zone = await startZone(names.map((name) => ({ name, type: 'A', data: '127.0.0.1' })))
  server = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    tls: { key: certificate.keyPem, cert: certificate.certificatePem },
    fetch: (request) => {
      asked.push(`${request.method} ${new URL(request.url).pathname}`)
      return respond()
    },
  })
})
afterAll(async () => {
  await server.stop(true)
  await zone.stop()
})

function fetchWith(options: { networks?: string[]; ca?: string; port?: number } = {}) {
  const resolver = createResolver({ servers: [zone.address], clock: systemClock, random: systemRandom })
  const mayConnect = createAddressGuard(options.networks ?? ['127.0.0.0/8'])
  const ca = 'ca' in options ? options.ca : certificate.certificatePem
  const ask = createAsk({ resolver, mayConnect, ca, userAgent: 'Postrider/test' })
  return createFetchPolicy({ ask, clock: systemClock, port: options.port ?? server.port! })
}

const FILE = 'version: STSv1\r\nmode: enforce\r\nmx: mx.remote.test\r\nmax_age: 86400\r\n'
const plain = (text: string | Uint8Array<ArrayBuffer>, more: ResponseInit = {}) =>
  new Response(text, { headers: { 'content-type': 'text/plain; charset=utf-8' }, ...more })

test('reads a policy from its well-known URL', async () => {
  respond = () => plain(FILE)
  expect(await fetchWith()('remote.test')).toEqual({ mode: 'enforce', mx: ['mx.remote.test'], maxAgeSeconds: 86_400 })
  expect(asked.at(-1)).toBe('GET /.well-known/mta-sts.txt')
})

const FAILURES: [what: string, answer: () => Response, failure: string, detail: string][] = [
  ['another status', () => plain(FILE, { status: 404 }), 'sts-policy-fetch-error', 'status 404'],
  ['a redirect', () => Response.redirect('https://mta-sts.remote.test/', 301), 'sts-policy-fetch-error', 'status 301'],
  [
    'a page',
    () => new Response(FILE, { headers: { 'content-type': 'text/html' } }),
    'sts-policy-fetch-error',
    'text/plain',
  ],
  ['too long a file', () => plain(`${FILE}${'x: y\r\n'.repeat(20_000)}`), 'sts-policy-fetch-error', 'too long'],
  ['bytes that are not UTF-8', () => plain(new Uint8Array([0x80, 0xff])), 'sts-policy-fetch-error', 'UTF-8'],
  ['no policy', () => plain('version: STSv1\n'), 'sts-policy-invalid', 'mode'],
]
test.each(FAILURES)('%s is not a policy', async (_what, answer, failure, detail) => {
  respond = answer
  expect(await fetchWith()('remote.test')).toMatchObject({ failure, detail: expect.stringContaining(detail) })
})

test('refuses a policy over an invalid certificate', async () => {
  respond = () => plain(FILE)
  expect(await fetchWith()('other.test')).toMatchObject({ failure: 'sts-webpki-invalid' })
  expect(await fetchWith({ ca: undefined })('remote.test')).toMatchObject({ failure: 'sts-webpki-invalid' })
})

test('does not connect to a policy host in a private network', async () => {
  const before = asked.length
  expect(await fetchWith({ networks: [] })('remote.test')).toMatchObject({
    failure: 'sts-policy-fetch-error',
    detail: expect.stringContaining('not a public address'),
  })
  expect(asked.length).toBe(before)
})

// threat: endless-interim-answers
test('a policy host that sends endless interim answers, headers or chunks is disconnected at once', async () => {
  const pair = { key: certificate.keyPem, cert: certificate.certificatePem }
  for (const [misbehaviour, detail] of [
    ['endless 100 Continue', 'too many interim responses'],
    ['endless 103 Early Hints', 'too many interim responses'],
    ['endless headers', 'response has too many headers'],
    ['endless chunks of one byte', 'response has too many chunks'],
  ] as const) {
    const peer = await startHostilePeer(pair, misbehaviour)
    expect(await fetchWith({ port: peer.port })('remote.test')).toEqual({ failure: 'sts-policy-fetch-error', detail })
    peer.close()
  }
})

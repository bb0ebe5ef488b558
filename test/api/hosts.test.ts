import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { connect } from 'node:net'
import { connect as connectTls } from 'node:tls'
import { packedManual } from '../../src/cli/manual/packed.ts'
import { FIRST_USER } from '../../src/model/user.ts'
import { createKnownHosts } from '../../src/net/host-header.ts'
import { createNetworks } from '../../src/net/ip.ts'
import { selfSignedCertificate } from '../../src/net/tls/certificate.ts'
import { systemRandom } from '../../src/os/random.ts'
import { hashToken, mintToken } from '../../src/web/api/sessions.ts'
import { dashboardFiles } from '../../src/web/dashboard/files.ts'
import { dashboardPages } from '../../src/web/dashboard/pages.ts'
import { manualFiles } from '../../src/web/manual/files.ts'
import { manualPages } from '../../src/web/manual/pages.ts'
import { createTestApi, type TestApi } from '../support/api.ts'

/** Host names that the server accepts, and pages whose requests may use the session cookie. Requests go over raw HTTP
 *  and HTTPS sockets. */

const PUBLIC = 'https://mail.example.com'
const HOST_NAMES = ['mail.example.com', 'inside']
const isKnownHost = createKnownHosts(() => HOST_NAMES)

let made: TestApi
const ports = { http: 0, https: 0 }
beforeAll(async () => {
  const origin = {
    hostNames: HOST_NAMES,
    publicUrl: () => PUBLIC,
    isBehindProxy: false,
    isTrusted: createNetworks(['127.0.0.1/32']),
  }
  const pages = [
    ...dashboardPages(dashboardFiles, isKnownHost),
    ...manualPages(async () => manualFiles(await packedManual()), dashboardFiles),
  ]
  made = await createTestApi({ origin, pages })
  const certificate = await selfSignedCertificate({ names: ['mail.example.com'], now: Date.now() })
  ports.http = (await made.api.listen({ host: '127.0.0.1', port: 0 })).port
  ports.https = (await made.api.listen({ host: '127.0.0.1', port: 0 }, certificate)).port
})
afterAll(async () => {
  await made?.api.stop(0)
  await made?.close()
})

interface Heard {
  status: number
  headers: Headers
  body: string
}

/** Sends a request and resolves with the first response. Headers are sent exactly as given, including repeated ones. */
function ask(scheme: 'http' | 'https', method: string, path: string, headers: [string, string][], body = '') {
  const lines = [...headers, ['Connection', 'close'], ['Content-Length', String(body.length)]]
  const request = `${method} ${path} HTTP/1.1\r\n${lines.map(([name, value]) => `${name}: ${value}\r\n`).join('')}\r\n${body}`
  const { promise, resolve, reject } = Promise.withResolvers<Heard>()
  const at = { host: '127.0.0.1', port: ports[scheme], rejectUnauthorized: false }
  const socket = scheme === 'http' ? connect(at) : connectTls(at)
  const heard: Buffer[] = []
  socket.on('data', (bytes: Buffer) => heard.push(bytes))
  socket.on('error', reject)
  socket.on('close', () => {
    const text = Buffer.concat(heard).toString('latin1')
    const [head = '', ...rest] = text.split('\r\n\r\n')
    const [statusLine = '', ...fields] = head.split('\r\n')
    const pairs = fields.map((field): [string, string] => [
      field.slice(0, field.indexOf(':')),
      field.slice(field.indexOf(':') + 1).trim(),
    ])
    resolve({ status: Number(statusLine.split(' ')[1]), headers: new Headers(pairs), body: rest.join('\r\n\r\n') })
  })
  socket.write(request)
  return promise
}

const host = (name: string): [string, string] => ['Host', name]
const OURS: [string, string] = ['X-Operator', '1']
const JSON_BODY: [string, string] = ['Content-Type', 'application/json']

let signIns = 0
async function signIn(scheme: 'http' | 'https', headers: [string, string][]): Promise<Heard> {
  const token = mintToken(systemRandom)
  const now = made.clock.now()
  await made.store.sessions.addLink({
    tokenHash: hashToken(token),
    userId: FIRST_USER,
    createdAt: now,
    expiresAt: now + 60_000,
  })
  // A new client address each time, because sign-in attempts are limited by address.
  const from: [string, string] = ['X-Forwarded-For', `192.0.2.${++signIns}`]
  return ask(scheme, 'POST', '/session', [OURS, JSON_BODY, from, ...headers], JSON.stringify({ token }))
}
const cookieOf = ({ headers }: Heard) => headers.get('set-cookie')!.split(';', 1)[0]!

for (const scheme of ['http', 'https'] as const) {
  describe(scheme, () => {
    // threat: duplicate-host
    test('two Host headers get 400, and so does an invalid host', async () => {
      const key: [string, string] = ['Authorization', `Bearer ${made.own.keys.manage.value}`]
      for (const hosts of [
        ['a.example', 'b.example'],
        ['a.example', 'a.example'],
        ['a.example', ''],
        ['', 'a.example'],
        ['a b'],
        ['user@a.example'],
        ['a.example/x'],
        ['a.example:99999'],
        ['[::1'],
        ['"a"'],
      ]) {
        for (const path of ['/healthz', '/v1/domains', '/dashboard/']) {
          const heard = await ask(scheme, 'GET', path, [...hosts.map(host), key])
          expect([hosts, path, heard.status]).toEqual([hosts, path, 400])
          expect(JSON.parse(heard.body).error).toMatchObject({ code: 'validation_error', field: 'Host' })
          expect(heard.headers.get('connection')).toBe('close')
        }
      }
    })

    // threat: dns-rebinding
    test('a foreign host reaches neither sign-in nor session nor dashboard, and works with a key', async () => {
      const cookie: [string, string] = ['Cookie', cookieOf(await signIn(scheme, [host('mail.example.com')]))]
      const organization: [string, string] = ['X-Organization', made.own.organization.id]
      const statusesAt = async (name: string) => [
        (await ask(scheme, 'GET', '/dashboard/', [host(name)])).status,
        (await ask(scheme, 'GET', '/session', [host(name), cookie])).status,
        (await ask(scheme, 'GET', '/v1/domains', [host(name), cookie, organization])).status,
        (await signIn(scheme, [host(name)])).status,
        (
          await ask(
            scheme,
            'POST',
            '/session',
            [host(name), OURS, JSON_BODY, ['X-Forwarded-For', `198.51.100.${++signIns}`]],
            '{"password":"guess guess guess"}',
          )
        ).status,
        (
          await ask(scheme, 'GET', '/v1/domains', [
            host(name),
            ['Authorization', `Bearer ${made.own.keys.manage.value}`],
          ])
        ).status,
        (await ask(scheme, 'GET', '/healthz', [host(name)])).status,
      ]
      for (const name of [
        'mail.example.com',
        'MAIL.example.com.:443',
        'inside:8025',
        'localhost',
        '127.0.0.1',
        '[::1]',
      ]) {
        expect([name, ...(await statusesAt(name))]).toEqual([name, 200, 200, 200, 201, 401, 200, 200])
      }
      for (const name of [
        'evil.example',
        '127.0.0.1.evil.example',
        'track.customer.example',
        'localhost.evil.example',
      ]) {
        expect([name, ...(await statusesAt(name))]).toEqual([name, 403, 403, 403, 403, 403, 200, 200])
      }
    })

    // threat: cross-origin-change
    test('a change by cookie must come from our own page, by Origin and by Sec-Fetch-Site', async () => {
      const own = host('mail.example.com')
      const cookie: [string, string] = ['Cookie', cookieOf(await signIn(scheme, [own]))]
      const organization: [string, string] = ['X-Organization', made.own.organization.id]
      const body = () => JSON.stringify({ email: `x${Math.random()}@customer.example` })
      const add = async (...headers: [string, string][]) =>
        (await ask(scheme, 'POST', '/v1/suppressions', [own, cookie, organization, JSON_BODY, ...headers], body()))
          .status
      expect(await add()).toBe(201)
      expect(await add(['Origin', PUBLIC])).toBe(201)
      expect(await add(['Origin', PUBLIC], ['Sec-Fetch-Site', 'same-origin'])).toBe(201)
      for (const origin of [
        'null',
        'https://evil.example',
        'https://mail.example.com.evil.example',
        'https://mail.example.com:8443',
        'https://evil@mail.example.com',
        'https://mail.example.com/',
        'https://mail.example.com https://evil.example',
        'file://',
        'chrome-extension://abc',
        '',
      ]) {
        expect([origin, await add(['Origin', origin])]).toEqual([origin, 403])
        expect([origin, await add(['Origin', origin], ['Sec-Fetch-Site', 'same-origin'])]).toEqual([origin, 403])
        for (const [method, path] of [
          ['POST', '/session'],
          ['POST', '/session/password'],
          ['DELETE', '/session'],
          ['DELETE', '/v1/suppressions/x@customer.example'],
          ['PATCH', `/v1/domains/${made.own.domain.id}`],
        ] as const) {
          const headers = [own, cookie, organization, OURS, JSON_BODY, ['Origin', origin] as [string, string]]
          const { status } = await ask(scheme, method, path, headers, '{"password":"guess guess guess"}')
          expect([origin, method, path, status]).toEqual([origin, method, path, 403])
        }
      }
      expect(await add(['Origin', PUBLIC], ['Sec-Fetch-Site', 'cross-site'])).toBe(403)
      expect(await add(['Origin', PUBLIC], ['Origin', 'https://evil.example'])).toBe(403)
    })

    // threat: cached-answer
    test('an answer that depends on the caller is not cached, and its type is not sniffed', async () => {
      const own = host('mail.example.com')
      const key: [string, string] = ['Authorization', `Bearer ${made.own.keys.admin.value}`]
      const cookie: [string, string] = ['Cookie', cookieOf(await signIn(scheme, [own]))]
      for (const [method, path, headers] of [
        ['GET', '/v1/domains', [key]],
        ['HEAD', '/v1/domains', [key]],
        ['GET', '/v1/domains/dom_none', [key]],
        ['GET', '/v1/domains', []],
        ['GET', '/v1/nothing', [key]],
        ['PUT', '/v1/domains', [key]],
        ['GET', '/v1/domains?limit=x', [key]],
        ['POST', '/v1/api-keys', [key, JSON_BODY]],
        ['GET', '/v1/suppressions/export', [key]],
        ['GET', '/v1/organizations', [cookie, OURS]],
        ['GET', '/session', [cookie]],
        ['GET', '/session', []],
      ] as [string, string, [string, string][]][]) {
        const { status, headers: got } = await ask(scheme, method, path, [own, ...headers])
        const of = (name: string) => got.get(name)
        expect([path, status, of('cache-control'), of('x-content-type-options'), of('vary')]).toEqual([
          path,
          status,
          'private, no-store',
          'nosniff',
          'Authorization, Cookie',
        ])
      }
      for (const path of [
        '/healthz',
        '/readyz',
        '/docs',
        '/openapi.json',
        '/dashboard/',
        '/dashboard/preview',
        '/nothing',
        '/',
      ]) {
        const { headers: got } = await ask(scheme, 'GET', path, [own])
        expect([path, got.get('x-content-type-options')]).toEqual([path, 'nosniff'])
        expect(got.has('cache-control')).toBe(true)
      }
    })
  })
}

// threat: session-fixation
describe('the cookie', () => {
  const clear = /^postrider_session=\w{43}; Path=\/; HttpOnly; SameSite=Strict; Max-Age=2592000$/
  const secure = /^__Host-postrider_session=\w{43}; Path=\/; HttpOnly; SameSite=Strict; Max-Age=2592000; Secure$/
  const setBy = async (scheme: 'http' | 'https', ...headers: [string, string][]) =>
    (await signIn(scheme, headers)).headers.getSetCookie()[0]

  test('is bound to host and HTTPS where the browser uses HTTPS, here or at a proxy, and plain on this machine', async () => {
    expect(await setBy('https', host('mail.example.com'))).toMatch(secure)
    expect(await setBy('https', host('localhost'), ['X-Forwarded-Proto', 'http'])).toMatch(secure)
    expect(await setBy('http', host('mail.example.com'))).toMatch(secure) // a proxy that does not set the header
    expect(await setBy('http', host('localhost'), ['X-Forwarded-Proto', 'https'])).toMatch(secure)
    expect(await setBy('http', host('127.0.0.1:1'), ['Origin', 'http://127.0.0.1:1'])).toMatch(clear)
    expect(await setBy('http', host('127.0.0.1:1'), ['Origin', PUBLIC])).toMatch(secure)
  })

  test('set in cleartext is ignored over HTTPS: another host of the domain may have set it', async () => {
    const cookie = cookieOf(await signIn('https', [host('mail.example.com')]))
    const plain = cookie.replace('__Host-', '')
    const status = async (scheme: 'http' | 'https', value: string, ...headers: [string, string][]) =>
      (await ask(scheme, 'GET', '/session', [['Cookie', value], ...headers])).status
    expect(await status('https', plain, host('mail.example.com'))).toBe(401)
    expect(await status('https', plain, host('localhost'))).toBe(401)
    expect(await status('http', plain, host('mail.example.com'))).toBe(401)
    expect(await status('http', plain, host('localhost'), ['X-Forwarded-Proto', 'https'])).toBe(401)
    expect(await status('http', plain, host('localhost'))).toBe(200)
    expect(await status('https', `${plain}; ${cookie}`, host('mail.example.com'))).toBe(200)
    expect(await status('https', `x${cookie}`, host('mail.example.com'))).toBe(401)
  })
})

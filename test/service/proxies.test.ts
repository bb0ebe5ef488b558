import { afterAll, beforeAll, expect, test } from 'bun:test'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { makeConfig } from '../../src/config/load.ts'
import { FIRST_USER } from '../../src/model/user.ts'
import { selfSignedCertificate } from '../../src/net/tls/certificate.ts'
import { hashToken } from '../../src/web/api/sessions.ts'
import { until } from '../support/patience.ts'
import { changed, EXAMPLES, example, nginxMain, type RunningProxy, startProxy } from '../support/proxy.ts'
import { describeWith, run } from '../support/real-tools.ts'
import { startRemoteMx } from '../support/remote-mx.ts'
import { DOMAIN, MAIL, startTestServer, type TestServer } from '../support/server.ts'

/** The configurations of proxies in the manual and in scripts/examples, checked by those proxies. */

const PAGE = readFileSync(join(import.meta.dir, '../../src/web/manual/tls.md'), 'utf8')
const block = (language: string) => PAGE.split(`\`\`\`${language}\n`)[1]!.split('```', 1)[0]!

let folder: string
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'postrider-proxies-'))
})
afterAll(() => rmSync(folder, { recursive: true }))

describeWith(['caddy'], 'Caddy', () => {
  for (const [what, text] of [
    ['the Caddyfile of the manual', block('caddy')],
    ['the example', example(EXAMPLES.caddy)],
  ] as const) {
    test(`accepts ${what}`, async () => {
      writeFileSync(join(folder, 'Caddyfile'), text)
      const { exitCode, output } = await run(['caddy', 'adapt', '--validate', '--config', join(folder, 'Caddyfile')], {
        env: { PATH: process.env.PATH!, HOME: folder },
      })
      expect(output).toContain('127.0.0.1:8025')
      expect(exitCode).toBe(0)
    })
  }
})

describeWith(['nginx', 'root'], 'nginx', () => {
  for (const [what, text] of [
    ['the server block of the manual', block('nginx')],
    ['the example', example(EXAMPLES.nginx)],
  ] as const) {
    test(`accepts ${what}`, async () => {
      const made = await selfSignedCertificate({ names: ['mail.example.com'], now: Date.now() })
      writeFileSync(join(folder, 'fullchain.pem'), made.certificatePem)
      writeFileSync(join(folder, 'privkey.pem'), made.keyPem)
      const servers = changed(text, [['/etc/letsencrypt/live/mail.example.com', folder]])
      writeFileSync(join(folder, 'nginx.conf'), nginxMain(folder, servers))
      const { exitCode, output } = await run([
        'nginx',
        '-t',
        '-e',
        join(folder, 'log'),
        '-c',
        join(folder, 'nginx.conf'),
      ])
      expect(output).toContain('test is successful')
      expect(output).not.toContain('[warn]')
      expect(exitCode).toBe(0)
    })
  }

  test('accepts bodies that Postrider accepts by default', () => {
    const { messageBytes } = makeConfig({ hostname: 'mail.example.com' }).limits
    for (const text of [block('nginx'), example(EXAMPLES.nginx)]) {
      const mebibytes = Number(/client_max_body_size (\d+)m;/.exec(text)![1])
      expect(mebibytes * 2 ** 20).toBeGreaterThanOrEqual(messageBytes * 1.5)
    }
  })
})

for (const kind of ['caddy', 'nginx'] as const) {
  describeWith([kind, 'curl'], `Postrider behind the ${EXAMPLES[kind]}`, () => {
    const CLIENT = '127.0.0.2'
    let server: TestServer
    let proxy: RunningProxy
    const undo: (() => unknown)[] = []
    const api = () => ({ authorization: `Bearer ${server.keys.live}`, 'content-type': 'application/json' })
    const post = (path: string, body: unknown, headers: Record<string, string>) =>
      proxy.ask(path, { from: CLIENT, headers: { ...api(), ...headers }, more: ['--data', JSON.stringify(body)] })

    beforeAll(async () => {
      const remote = await startRemoteMx()
      server = await startTestServer({
        remote,
        config: {
          http: { behind_proxy: true, public_url: `https://mail.${DOMAIN}` },
          smtp: { inbound: { listen: '127.0.0.1:0' } },
        },
      })
      proxy = await startProxy(kind, { domain: DOMAIN, upstream: server.running().listening.http! })
      undo.push(
        () => proxy.stop(),
        () => server.close(),
        () => remote.stop(),
      )
    })
    afterAll(async () => {
      for (const step of undo) await step()
    })

    test('records the address of the client, whatever it says in X-Forwarded-For', async () => {
      for (const headers of <Record<string, string>[]>[
        {},
        { 'x-forwarded-for': '198.51.100.7' },
        { 'x-forwarded-for': '198.51.100.7, 127.0.0.1' },
      ]) {
        const made = await post(
          '/v1/templates',
          { name: 'A', alias: `a-${Object.values(headers).join('').length}`, subject: 'A', text: 'A' },
          headers,
        )
        expect(made.status).toBe(201)
        const { data } = await server.read('/v1/audit-log?limit=1')
        expect(data[0]).toMatchObject({ action: 'templates_create', ip_address: CLIENT })
      }
    })

    test('signs in with a cookie for https only', async () => {
      const token = 'L'.repeat(40)
      const now = server.clock.now()
      const link = { tokenHash: hashToken(token), userId: FIRST_USER, createdAt: now, expiresAt: now + 60_000 }
      await server.store().sessions.addLink(link)
      expect((await proxy.ask('/dashboard/')).status).toBe(200)
      const answer = await post('/session', { token }, { authorization: '', 'x-operator': '1' })
      expect(answer.status).toBe(201)
      const [, cookie, attributes] = /^set-cookie: ([^;]+)(.*)$/im.exec(answer.headers)!
      expect(attributes).toContain('Secure')
      expect((await proxy.ask('/session', { headers: { cookie: cookie!, 'x-operator': '1' } })).status).toBe(200)
      expect((await proxy.ask('/session', { headers: { 'x-operator': '1' } })).status).toBe(401)
    })

    test('refuses an API key that was sent over plain HTTP, and redirects pages to https', async () => {
      const refused = await proxy.ask('/v1/messages', { scheme: 'http', headers: api() })
      expect(refused.status).toBe(403)
      expect(JSON.parse(refused.body).error.message).toContain('requires HTTPS')
      const page = await proxy.ask('/dashboard/', { scheme: 'http' })
      expect(page.status).toBe(308)
      expect(page.headers).toMatch(new RegExp(`^location: https://mail.${DOMAIN}/dashboard/`, 'im'))
    })

    test('sends events as they happen, and answers that wait', async () => {
      const child = Bun.spawn(proxy.curl('/v1/events/stream', { headers: api(), more: ['--no-buffer', '--include'] }), {
        stdout: 'pipe',
        stderr: 'inherit',
      })
      let received = ''
      const reading = (async () => {
        for await (const bytes of child.stdout) received += Buffer.from(bytes).toString()
      })()
      try {
        await until('the stream to open', () => received.includes('text/event-stream'))
        const sent = await post('/v1/messages/send', MAIL, { prefer: 'wait=10' })
        expect(sent.status).toBe(200)
        expect(JSON.parse(sent.body).recipients[0].status).toBe('delivered')
        await until('the event', () => received.includes('message.delivered'))
        expect(child.exitCode).toBeNull()
      } finally {
        child.kill()
        await reading
      }
    })

    test('takes a body of 24 MB', async () => {
      const content = Buffer.alloc(18_000_000, 'A line of text\n').toString('base64')
      const attachments = [{ filename: 'report.txt', content }]
      const file = join(folder, 'body.json')
      writeFileSync(file, JSON.stringify({ ...MAIL, attachments }))
      const { status, body } = await proxy.ask('/v1/messages/send', {
        headers: api(),
        more: ['--data-binary', `@${file}`],
      })
      expect([status, body]).toEqual([202, expect.stringContaining('msg_')])
    })

    test('passes the host on: the MTA-STS policy and links work under their own host', async () => {
      const domain = (await server.read('/v1/domains')).data[0].id
      const tracking = { opens: false, clicks: true, unsubscribe: false, host: null }
      expect((await server.ask('PATCH', `/v1/domains/${domain}`, { tracking })).status).toBe(200)
      expect((await server.ask('POST', `/v1/domains/${domain}/verify`)).status).toBe(200)
      const policy = await proxy.ask('/.well-known/mta-sts.txt', { host: `mta-sts.${DOMAIN}` })
      expect([policy.status, policy.body]).toEqual([200, expect.stringContaining('version: STSv1')])

      const { body } = await server.send({ html: '<a href="https://shop.example/">Shop</a>' })
      await server.ended(body.id)
      const { text } = await server.ask('GET', `/v1/messages/${body.id}/content?part=raw`)
      const path = /https:\/\/mail\.sender\.example(\/t\/\S+?)"/.exec(
        text.replace(/=\r\n/g, '').replaceAll('=3D', '='),
      )![1]!
      expect((await proxy.ask(path)).status).toBe(302)
      // Only the proxy may name the host.
      const headers = { 'x-forwarded-host': `mail.${DOMAIN}` }
      expect((await proxy.ask(path, { host: `mta-sts.${DOMAIN}`, headers })).status).toBe(404)
    })
  })
}

import { afterAll, beforeAll, expect, test } from 'bun:test'
import { createHash, X509Certificate } from 'node:crypto'
import { selfSignedCertificate } from '../../src/net/tls/certificate.ts'
import { type RemoteMx, startRemoteMx } from '../support/remote-mx.ts'
import { DOMAIN, startTestServer, type TestServer } from '../support/server.ts'

let remote: RemoteMx
let server: TestServer
let spki: Buffer

beforeAll(async () => {
  const tls = await selfSignedCertificate({ names: ['mx.signed.test'], now: Date.now() })
  spki = new X509Certificate(tls.certificatePem).publicKey.export({ type: 'spki', format: 'der' })
  remote = await startRemoteMx({ tls })
  server = await startTestServer({ remote })
})
afterAll(async () => {
  await server.close()
  await remote.stop()
})

const attemptOf = async (id: string) => (await server.read(`/v1/messages/${id}/attempts`)).data[0]
const explain = async (id: string) => (await server.read(`/v1/messages/${id}/explain`)).recipients[0]

test('a domain with an enforced MTA-STS policy gets no mail over an unverified connection, and explain says so', async () => {
  server.zone.set('strict.test', 'MX', [{ preference: 0, exchange: 'mx.strict.test' }])
  server.zone.set('mx.strict.test', 'A', ['127.0.0.1'])
  const now = server.clock.now()
  await server.store().mtaSts.keep({
    domain: 'strict.test',
    policyId: '1',
    policy: { mode: 'enforce', mx: ['mx.strict.test'], maxAgeSeconds: 86_400 },
    expiresAt: now + 86_400_000,
    refreshAt: now + 43_200_000,
    usedAt: now,
  })
  const { body } = await server.send({ to: 'ann@strict.test' })
  await server.tried(body.id, 1)
  expect(await attemptOf(body.id)).toMatchObject({
    outcome: 'deferred',
    tls_policy: 'mta_sts',
    tls_verified: false,
    cause: { class: 'tls' },
  })
  const recipient = await explain(body.id)
  expect(recipient).toMatchObject({ status: 'deferred', tls_policy: 'mta_sts' })
  expect(recipient.explanation.join(' ')).toContain('The domain enforces an MTA-STS policy')
  expect(remote.mails).toEqual([])
  const address = await server.read('/v1/explain?to=bob@strict.test')
  expect(address).toMatchObject({ would_send: true, tls_policy: 'mta_sts' })
})

test('TLSA records under DNSSEC verify a host without any authority', async () => {
  const owner = `_${remote.port}._tcp.mx.signed.test`
  server.zone.set('signed.test', 'MX', [{ preference: 0, exchange: 'mx.signed.test' }])
  server.zone.set('mx.signed.test', 'A', ['127.0.0.1'])
  const digest = createHash('sha256').update(spki).digest()
  server.zone.set(owner, 'TLSA', [{ usage: 3, selector: 1, matchingType: 1, certificate: digest }])
  for (const name of ['signed.test', 'mx.signed.test', owner]) server.zone.signed.add(name)
  const { body } = await server.send({ to: 'ann@signed.test', require_tls: true })
  await server.ended(body.id)
  expect(await attemptOf(body.id)).toMatchObject({ outcome: 'delivered', tls_policy: 'dane', tls_verified: true })
  const address = await server.read('/v1/explain?to=bob@signed.test')
  expect(address).toMatchObject({ tls_policy: 'dane' })
  expect(address.explanation.join(' ')).toContain('TLSA records (DANE)')
})

test('a domain without a policy is reported as such', async () => {
  expect(await server.read('/v1/explain?to=new@d.remote.example')).toMatchObject({ tls_policy: 'none' })
})

test('DNS is asked for a policy once, with the MX, and not for each mail', async () => {
  for (const to of ['ann@once.remote.example', 'bob@once.remote.example']) {
    const { body } = await server.send({ to })
    await server.ended(body.id)
  }
  const asked = server.zone.queries.filter(({ name }) => name === '_mta-sts.once.remote.example')
  expect(asked).toMatchObject([{ type: 'TXT' }])
})

test('a domain that receives its mail here has its policy published, once DNS was checked', async () => {
  const config = {
    http: { listen: '127.0.0.1:0', public_url: 'https://post.sender.example' },
    smtp: { inbound: { listen: '127.0.0.1:0', mta_sts: 'enforce' as const } },
  }
  const other = await startRemoteMx()
  const receiving = await startTestServer({ remote: other, config })
  try {
    const asked = () =>
      fetch(`http://${receiving.running().listening.http}/.well-known/mta-sts.txt`, {
        headers: { host: `mta-sts.${DOMAIN}`, connection: 'close' },
      })
    expect((await asked()).status).toBe(404)
    const { data } = await receiving.read('/v1/domains')
    const { body } = await receiving.ask('POST', `/v1/domains/${data[0].id}/verify`)
    expect(body.dns_records.map(({ purpose }: { purpose: string }) => purpose)).toContain('mta_sts')
    const answer = await asked()
    expect(answer.status).toBe(200)
    expect(await answer.text()).toBe(
      'version: STSv1\r\nmode: enforce\r\nmx: mail.sender.example\r\nmax_age: 604800\r\n',
    )
  } finally {
    await receiving.close()
    await other.stop()
  }
})

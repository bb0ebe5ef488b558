import { afterAll, beforeAll, expect, test } from 'bun:test'
import { gunzipSync } from 'node:zlib'
import { readTlsRpt } from '../../src/mail/tls-report.ts'
import type { TlsCount } from '../../src/model/tls-session.ts'
import { selfSignedCertificate } from '../../src/net/tls/certificate.ts'
import { type RemoteMx, startRemoteMx } from '../support/remote-mx.ts'
import { startTestServer, type TestServer, untilInTime } from '../support/server.ts'

const MINUTE = 60_000
const DAY = 24 * 60 * MINUTE
let remote: RemoteMx
let server: TestServer

beforeAll(async () => {
  remote = await startRemoteMx({ tls: await selfSignedCertificate({ names: ['mx.told.test'], now: Date.now() }) })
  server = await startTestServer({ remote, config: { reports: { from: 'postmaster@sender.example' } } })
})
afterAll(async () => {
  await server.close()
  await remote.stop()
})

/** A domain with a separate mail host, and an MTA-STS policy in testing that its certificate does not satisfy. */
async function publish(domain: string, rua: string | null): Promise<void> {
  server.zone.set(domain, 'MX', [{ preference: 0, exchange: `mx.${domain}` }])
  server.zone.set(`mx.${domain}`, 'A', ['127.0.0.1'])
  if (rua !== null) server.zone.set(`_smtp._tls.${domain}`, 'TXT', [`v=TLSRPTv1; rua=${rua}`])
}

test('a domain that asks for it gets one signed report of yesterday by mail; another gets none', async () => {
  await publish('told.test', 'mailto:tls@inbox.remote.example')
  await publish('silent.test', null)
  const now = server.clock.now()
  await server.store().mtaSts.keep({
    domain: 'told.test',
    policyId: '1',
    policy: { mode: 'testing', mx: ['mx.told.test'], maxAgeSeconds: 30 * 86_400 },
    expiresAt: now + 30 * DAY,
    refreshAt: now + 30 * DAY,
    usedAt: now,
  })
  for (const domain of ['told.test', 'silent.test']) {
    const { body } = await server.send({ to: `ann@${domain}` })
    await server.ended(body.id)
  }
  const today = now - (now % DAY)
  const { tlsSessions } = server.store()
  const isCounted = async () => (await tlsSessions.of('told.test', today)).length > 0
  await untilInTime(server.clock, 'the sessions to be counted', isCounted)
  const counted = await tlsSessions.of('told.test', today)
  expect(counted).toMatchObject([{ policy: 'mta_sts_testing', sessions: 1, failure: 'certificate-not-trusted' }])
  expect(await tlsSessions.of('silent.test', today)).toMatchObject([{ policy: 'none', sessions: 1, failure: null }])

  // Reports cover a finished day: the same, a day earlier.
  const yesterday = (counts: TlsCount[]) => counts.map((each) => ({ ...each, day: today - DAY }))
  await tlsSessions.add([...yesterday(counted), ...yesterday(await tlsSessions.of('silent.test', today))])
  const before = remote.mails.length
  await server.clock.advance(2 * MINUTE)
  const mails = await remote.received(before + 1)
  const isDone = async () => (await tlsSessions.next({ domain: '', day: 0 }, today)) === null
  await untilInTime(server.clock, 'all counts to be reported', isDone)
  await server.clock.advance(5 * MINUTE)
  expect(remote.mails.length).toBe(before + 1)

  const mail = mails.at(-1)!
  const text = mail.raw.toString('latin1')
  expect(mail.rcptTo).toEqual(['tls@inbox.remote.example'])
  expect(text).toContain('TLS-Report-Domain: told.test\r\n')
  expect(text).toMatch(/^DKIM-Signature: /m)
  expect(text).toContain('Content-Type: multipart/report; report-type="tlsrpt"')
  const [, encoded] = /Content-Type: application\/tlsrpt\+gzip[\s\S]*?\r\n\r\n([A-Za-z0-9+/=\r\n]+)\r\n--/.exec(text)!
  const report = JSON.parse(gunzipSync(Buffer.from(encoded!, 'base64')).toString())
  expect(report).toMatchObject({
    'contact-info': 'postmaster@sender.example',
    'date-range': { 'start-datetime': '2026-11-20T00:00:00Z', 'end-datetime': '2026-11-20T23:59:59Z' },
    policies: [
      {
        policy: {
          'policy-type': 'sts',
          'policy-domain': 'told.test',
          'policy-string': ['version: STSv1', 'mode: testing', 'mx: mx.told.test', 'max_age: 2592000'],
        },
        summary: { 'total-successful-session-count': 0, 'total-failure-session-count': 1 },
        'failure-details': [
          {
            'result-type': 'certificate-not-trusted',
            'receiving-mx-hostname': 'mx.told.test',
            'receiving-ip': '127.0.0.1',
            'sending-mta-ip': '127.0.0.1',
            'failed-session-count': 1,
          },
        ],
      },
    ],
  })
})

test.each([
  [['v=TLSRPTv1; rua=mailto:a@b.test'], ['mailto:a@b.test']],
  [['v=TLSRPTv1;rua=mailto:a@b.test,https://b.test/r?x=1, ftp://c.test'], ['mailto:a@b.test', 'https://b.test/r?x=1']],
  [['v=TLSRPTv1; rua=mailto:a@b.test', 'v=TLSRPTv1; rua=mailto:c@b.test'], []],
  [['v=TLSRPTv2; rua=mailto:a@b.test'], []],
  [['v=TLSRPTv1; rua='], []],
  [['v=TLSRPTv1'], []],
  [['v=TLSRPTv1; x=1; rua=mailto:a@b.test; rua=mailto:c@d.test'], ['mailto:a@b.test']],
  [['v=TLSRPTv1; rua=a@b.test,mailto:@b.test,mailto:a@b.test?subject=x,http://b.test'], []],
  [['v=TLSRPTv1; rua=mailto:a@b.test,mailto:c@b.test,mailto:e@b.test'], ['mailto:a@b.test', 'mailto:c@b.test']],
])('%j asks for reports at %j', (records, places) => {
  expect(readTlsRpt(records)).toEqual(places)
})

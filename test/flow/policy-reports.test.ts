import { afterAll, beforeAll, expect, test } from 'bun:test'
import { gzipSync } from 'node:zlib'
import { createTransport } from 'nodemailer'
import { aggregateXml, mailWith, reportMail, type SampleReport, tlsJson, zipOf } from '../support/policy-reports.ts'
import { type RawMx, startRawMx } from '../support/remote-mx.ts'
import { DOMAIN, type Json, START, startTestServer, type TestServer } from '../support/server.ts'

/** Reports arrive on port 25 and show who sends in the name of a domain. */

const CONFIG = { smtp: { inbound: { listen: '127.0.0.1:0' } }, sending: { addresses: [{ address: '127.0.0.2' }] } }
let remote: RawMx
let server: TestServer
let domain: Json
let address: string
beforeAll(async () => {
  remote = await startRawMx({ script: () => null })
  server = await startTestServer({ remote, config: CONFIG })
  const { zone } = server
  zone.set('reporter.test', 'TXT', ['v=spf1 ip4:127.0.0.1 -all'])
  zone.set('_dmarc.reporter.test', 'TXT', ['v=DMARC1; p=reject'])
  zone.set('dmarc.yahoo.com', 'TXT', ['v=spf1 ip4:127.0.0.1 -all'])
  zone.set('_dmarc.yahoo.com', 'TXT', ['v=DMARC1; p=reject'])
  zone.set('_dmarc.google.com', 'TXT', ['v=DMARC1; p=reject'])
  zone.set('mail.sender.example', 'A', ['198.41.0.4'])
  zone.set('41.220.85.209.in-addr.arpa', 'PTR', ['mail-sor-f41.google.com'])
  zone.set('mail-sor-f41.google.com', 'A', ['209.85.220.41'])
  ;[domain] = (await server.read('/v1/domains')).data
  const { value } = domain.dns_records.find(({ purpose }: Json) => purpose === 'dmarc')
  address = /^v=DMARC1; p=none; rua=mailto:(\S+)$/.exec(value)![1]!
})
afterAll(async () => {
  await server.close()
  await remote.stop()
})

async function deliver(raw: Buffer, from = 'bounce@dmarc.yahoo.com'): Promise<string> {
  const [host, port] = server.running().listening.smtpInbound!.split(':')
  const transport = createTransport({ host, port: Number(port), tls: { rejectUnauthorized: false } })
  try {
    return (await transport.sendMail({ envelope: { from, to: address }, raw })).response
  } catch (error) {
    return (error as { response?: string }).response ?? String(error)
  } finally {
    transport.close()
  }
}

const YESTERDAY = Math.floor(START / 86_400_000) * 86_400 - 86_400
const SAMPLE: SampleReport = {
  domain: DOMAIN,
  begin: YESTERDAY,
  rows: [
    { ip: '198.41.0.4', count: 120 },
    { ip: '209.85.220.41', count: 8, spf: 'fail' },
    { ip: '203.0.113.9', count: 30, spf: 'fail', dkim: 'fail', disposition: 'quarantine' },
  ],
}
const metric = async (labels: string) => {
  const text = await (await fetch(`http://${server.running().listening.http}/metrics`)).text()
  return Number(new RegExp(`^postrider_policy_reports_total{${labels}} (\\d+)$`, 'm').exec(text)?.[1] ?? 0)
}

test('a report that arrives by SMTP shows who sends as the domain', async () => {
  expect(await deliver(reportMail(SAMPLE))).toBe('250 2.0.0 report accepted')
  expect(await deliver(reportMail(SAMPLE))).toBe('250 2.0.0 report accepted')
  const later = { ...SAMPLE, reportId: 'r-2', begin: YESTERDAY - 86_400, rows: [{ ip: '198.41.0.4', count: 5 }] }
  expect(await deliver(mailWith(zipOf([{ name: 'r.xml', content: aggregateXml(later) }])))).toStartWith('250 ')

  const at = (seconds: number) => new Date(seconds * 1000).toISOString()
  const { data, totals, advice } = await server.read(`/v1/domains/${domain.id}/dmarc`)
  const seen = { first_seen: at(YESTERDAY), last_seen: at(YESTERDAY + 86_399) }
  const reporters = ['dmarc.yahoo.com']
  const disposition = { none: 0, quarantine: 0, reject: 0 }
  expect(data).toEqual([
    {
      source_ip: '198.41.0.4',
      ptr: null,
      provider: null,
      messages: 125,
      spf_aligned: 125,
      dkim_aligned: 125,
      disposition: { ...disposition, none: 125 },
      reporters,
      ...seen,
      first_seen: at(YESTERDAY - 86_400),
      kind: 'ours',
    },
    {
      source_ip: '203.0.113.9',
      ptr: null,
      provider: null,
      messages: 30,
      spf_aligned: 0,
      dkim_aligned: 0,
      disposition: { ...disposition, quarantine: 30 },
      reporters,
      ...seen,
      kind: 'unknown',
    },
    {
      source_ip: '209.85.220.41',
      ptr: 'mail-sor-f41.google.com',
      provider: 'Google',
      messages: 8,
      spf_aligned: 0,
      dkim_aligned: 8,
      disposition: { ...disposition, none: 8 },
      reporters,
      ...seen,
      kind: 'known',
    },
  ])
  expect(totals).toEqual({
    messages: 163,
    spf_aligned: 125,
    dkim_aligned: 133,
    disposition: { none: 133, quarantine: 30, reject: 0 },
    passed: 133,
    claimed: 163,
    reports: 2,
    sources: 3,
    reporters: 1,
    days: 2,
  })
  expect(advice).toEqual({
    policy: 'none',
    text: 'Keep p=none. 133 of 163 messages passed in 2 days. 30 messages from unknown sources failed. Wait for reports of at least 7 days and 100 messages of yours.',
  })
  expect((await server.read('/v1/inbound-messages')).data).toEqual([])
  expect(await metric('kind="dmarc",outcome="stored"')).toBe(2)
  expect(await metric('kind="dmarc",outcome="repeated"')).toBe(1)
})

// threat: report-forged
test('a forged report is refused, and one about another domain is ignored', async () => {
  const before = await server.read(`/v1/domains/${domain.id}/dmarc`)
  const forged = reportMail({ ...SAMPLE, reportId: 'forged' }, { from: 'noreply-dmarc-support@google.com' })
  expect(await deliver(forged)).toStartWith('550 5.7.1 message rejected: neither SPF nor DKIM')
  expect(await deliver(reportMail({ ...SAMPLE, domain: 'other.example' }))).toStartWith('250 ')
  expect(await deliver(Buffer.from('From: a@dmarc.yahoo.com\r\nSubject: Hello\r\n\r\nBuy now.\r\n'))).toStartWith(
    '550 5.7.1 this address accepts only',
  )
  expect(await server.read(`/v1/domains/${domain.id}/dmarc`)).toEqual(before)
  expect(await metric('kind="unknown",outcome="unauthenticated"')).toBe(1)
  expect(await metric('kind="dmarc",outcome="other_domain"')).toBe(1)
  expect(await metric('kind="unknown",outcome="no_report"')).toBe(1)
})

// threat: report-forged
test('a report of an unknown reporter shows apart, and changes neither the statistics nor the advice', async () => {
  const before = await server.read(`/v1/domains/${domain.id}/dmarc`)
  expect(before.unknown_reporters).toEqual([])
  const rows = [{ ip: '203.0.113.66', count: 1_000_000_000, spf: 'fail', dkim: 'fail' }]
  const lie = reportMail({ ...SAMPLE, rows }, { from: 'dmarc@reporter.test' })
  expect(await deliver(lie, 'bounce@reporter.test')).toBe('250 2.0.0 report accepted')
  expect(await server.read(`/v1/domains/${domain.id}/dmarc`)).toEqual({
    ...before,
    unknown_reporters: [{ reporter: 'reporter.test', reports: 1, messages: 1_000_000_000 }],
  })
})

test('a TLS report shows successful and failed connections', async () => {
  expect(await deliver(mailWith(gzipSync(tlsJson(DOMAIN, { begin: YESTERDAY }))))).toStartWith('250 ')
  const { data, totals } = await server.read(`/v1/domains/${domain.id}/tls-reports`)
  expect(totals).toEqual({ reports: 1, successful: 40, failed: 3 })
  expect(data).toMatchObject([
    { policy: 'sts', result: 'success', mx_host: null, sessions: 40, reporters: ['dmarc.yahoo.com'] },
    { result: 'certificate-expired', mx_host: 'mx.example.com', sessions: 2 },
    { result: 'validation-failure', mx_host: null, sessions: 1 },
  ])
})

test('the period has complete days, at most 31; a test key sees nothing', async () => {
  const path = `/v1/domains/${domain.id}/dmarc`
  const day = (offset: number) => new Date((YESTERDAY + offset * 86_400) * 1000).toISOString().slice(0, 10)
  expect((await server.read(`${path}?from=${day(0)}&to=${day(1)}`)).totals.messages).toBe(158)
  expect((await server.read(`${path}?from=${day(-1)}&to=${day(0)}`)).totals.messages).toBe(5)
  expect((await server.read(`${path}?from=${day(-30)}&to=${day(1)}`)).totals.messages).toBe(163)
  for (const wrong of [`from=${day(-31)}&to=${day(1)}`, `from=${day(0)}&to=${day(0)}`, 'from=x']) {
    expect((await server.ask('GET', `${path}?${wrong}`)).status).toBe(400)
  }
  const asTest = { authorization: `Bearer ${server.keys.test}` }
  const { body } = await server.ask('GET', path, undefined, asTest)
  expect([body.data, body.totals.messages]).toEqual([[], 0])
  const { body: tls } = await server.ask('GET', `/v1/domains/${domain.id}/tls-reports`, undefined, asTest)
  expect(tls).toEqual({ data: [], totals: { reports: 0, successful: 0, failed: 0 } })
})

test('a configured sending address is one of ours', async () => {
  const report = { ...SAMPLE, reportId: 'r-own', rows: [{ ip: '127.0.0.2', count: 7 }] }
  expect(await deliver(reportMail(report))).toStartWith('250 ')
  const { data } = await server.read(`/v1/domains/${domain.id}/dmarc`)
  expect(data.find(({ source_ip }: Json) => source_ip === '127.0.0.2')).toMatchObject({ messages: 7, kind: 'ours' })
})

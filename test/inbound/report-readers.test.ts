import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { gzipSync } from 'node:zlib'
import type { Zone } from '../../src/cli/try/zone-server.ts'
import type { Readers } from '../../src/receiving/inbound/readers.ts'
import { aggregateXml, mailWith, reportMail } from '../support/policy-reports.ts'
import { openReaders, startProcess, startThread } from './reader-setup.ts'
import { signed, startMailZone } from './signed-mail.ts'

let zone: Zone
beforeAll(async () => {
  zone = await startMailZone()
})
afterAll(() => zone.stop())

const envelopeOf = (returnPath: string, remoteAddress = '198.51.100.1') => ({
  remoteAddress,
  helo: 'mx.reporter.test',
  returnPath,
  recipients: ['reports@bounces.example.com'],
  protocol: 'ESMTP',
  tls: null,
})

describe.each([
  ['a thread', startThread],
  ['a confined process', startProcess],
])('in %s, a report', (_, start) => {
  let readers: Readers
  beforeAll(() => {
    readers = openReaders(zone, { start })
  })
  afterAll(() => readers.stop())
  const read = (raw: Buffer, envelope = envelopeOf('bounce@elsewhere.test')) =>
    readers.policyReport({ raw: new Uint8Array(raw), envelope })

  test('is read if DKIM or SPF of its author passes', async () => {
    const dmarc = { kind: 'dmarc', report: { domain: 'example.com', sources: [{ sourceIp: '192.0.2.1' }] } }
    const raw = reportMail({}, { from: 'Reports <dmarc@mail.bank.test>' })
    expect(await read(signed(raw, 'bank.test'))).toMatchObject({ reporter: 'bank.test', content: dmarc })
    const bySpf = reportMail({}, { from: 'dmarc@bank.test' })
    expect(await read(bySpf, envelopeOf('a@bank.test', '127.0.0.1'))).toMatchObject({ reporter: 'bank.test' })
    // Without a DMARC record.
    const quiet = reportMail({}, { from: 'dmarc@evil.test' })
    expect(await read(signed(quiet, 'evil.test'))).toMatchObject({ reporter: 'evil.test', content: dmarc })
    expect(await read(quiet, envelopeOf('a@evil.test', '127.0.0.1'))).toMatchObject({ reporter: 'evil.test' })
  })

  // threat: report-forged
  test('is not read if only another domain authenticates it', async () => {
    const none = { reporter: null, isUndecided: false, content: { kind: 'none' as const } }
    for (const author of ['dmarc@bank.test', 'dmarc@quiet.test']) {
      const raw = reportMail({}, { from: author })
      expect(await read(raw)).toEqual(none)
      expect(await read(signed(raw, 'evil.test'))).toEqual(none)
      expect(await read(raw, envelopeOf('a@evil.test', '127.0.0.1'))).toEqual(none)
    }
    const two = reportMail({}, { from: 'dmarc@evil.test, dmarc@bank.test' })
    expect(await read(signed(two, 'evil.test'))).toMatchObject({ reporter: null })
    expect(await read(reportMail({}, { from: '' }), envelopeOf(''))).toMatchObject({ reporter: null })
  })

  // threat: report-bombs
  test('that is a bomb or damaged is called so, and the next one is read', async () => {
    const from = 'dmarc@bank.test'
    const bombs = [gzipSync(Buffer.alloc(40_000_000)), gzipSync(`${aggregateXml()}<`.slice(0, 300))]
    for (const bomb of bombs) {
      const content = { kind: 'damaged', why: expect.any(String) }
      expect(await read(signed(mailWith(bomb, { from }), 'bank.test'))).toMatchObject({ content })
    }
    expect(await read(signed(reportMail({}, { from }), 'bank.test'))).toMatchObject({ content: { kind: 'dmarc' } })
    expect(readers.state()).toMatchObject({ runners: 1 })
  })
})

import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { generateKeyPairSync, type KeyObject } from 'node:crypto'
import fc from 'fast-check'
import { authenticate, type DKIMResult } from 'mailauth'
import { sealMessage } from 'mailauth/lib/arc'
import { startZone, type Zone } from '../../src/cli/try/zone-server.ts'
import { checked } from '../../src/inbound/checks.ts'
import { dkimRecordValue, signDkim } from '../../src/mail/dkim.ts'
import { createResolver, mailauthResolver } from '../../src/net/dns/resolver.ts'
import { systemClock } from '../../src/os/clock.ts'
import { systemRandom } from '../../src/os/random.ts'
import { KEY_PEM, KEY_RECORD, mail, signed } from './signed-mail.ts'

/** mailauth driven step by step gives the results of mailauth. */

setDefaultTimeout(60_000)

const ed: { publicKey: KeyObject; privateKey: KeyObject } = generateKeyPairSync('ed25519')
const edText = ed.publicKey.export({ format: 'der', type: 'spki' }).subarray(-32).toString('base64')

let zone: Zone
let resolver: never
beforeAll(async () => {
  const signs = ['bank.test', 'evil.test', 'sub.bank.test'].flatMap((name) => [
    { name, type: 'TXT' as const, data: 'v=spf1 ip4:127.0.0.1 -all' },
    { name: `s1._domainkey.${name}`, type: 'TXT' as const, data: KEY_RECORD },
    { name: `e1._domainkey.${name}`, type: 'TXT' as const, data: dkimRecordValue('ed25519-sha256', edText) },
  ])
  zone = await startZone([
    ...signs,
    { name: '_dmarc.bank.test', type: 'TXT', data: 'v=DMARC1; p=reject; adkim=s' },
    { name: '_dmarc.evil.test', type: 'TXT', data: 'v=DMARC1; p=none' },
  ])
  resolver = mailauthResolver(
    createResolver({ servers: [zone.address], clock: systemClock, random: systemRandom }),
  ) as never
})
afterAll(() => zone.stop())

const by = { ip: '127.0.0.1', helo: 'mx.bank.test', sender: 'b@bank.test', mta: 'mx.b.test' }

/** The comparable part of a finding: the key is an object here and text there, and the clock advances. */
function reported({ dkim, spf, arc, dmarc, dmarcSkipReason }: Awaited<ReturnType<typeof checked>>) {
  const results = dkim.results.map(({ publicKey, mimeStructureStart, ...rest }: Partial<DKIMResult>) => {
    if (!rest.signature) delete rest.id // random without a signature
    return rest
  })
  const clear = { ...arc, authResults: null, signature: null }
  return JSON.parse(JSON.stringify({ results, from: dkim.headerFrom, spf, arc: clear, dmarc, dmarcSkipReason }))
}

async function expectSame(raw: Buffer, more: Partial<typeof by> = {}) {
  const who = { ...by, ...more }
  const whole = { ...who, strict: true, disableBimi: true, minBitLength: 1024, resolver }
  const theirs = await authenticate(raw, whole)
  const ours = await checked(raw, who, resolver)
  expect(reported(ours)).toEqual(reported(theirs as never))
  return ours
}

const FROM = ['From: The Bank <ceo@bank.test>', 'Subject: Hello  there', '\tfolded']
const edSigned = (raw: Buffer, domain: string) =>
  Buffer.concat([
    signDkim(raw, [{ domain, selector: 'e1', algorithm: 'ed25519-sha256', privateKey: ed.privateKey }], 1e12),
    raw,
  ])
const arcSealed = (raw: Buffer) => {
  const key = { signingDomain: 'evil.test', selector: 's1', privateKey: KEY_PEM }
  const seal = { ...key, authResults: 'mx.evil.test; spf=pass', cv: 'none' as const, signTime: new Date(1e12) }
  return sealMessage(raw, seal).then((head) => Buffer.concat([head, raw]))
}

describe('checks in pieces', () => {
  test('pass a signature, do not align a foreign one, and report a changed body', async () => {
    const whole = signed(mail(FROM), 'bank.test')
    expect((await expectSame(whole)).dkim.results[0]!.status.result).toBe('pass')
    const strange = await expectSame(signed(mail(FROM), 'sub.bank.test'), { sender: 'b@evil.test' })
    expect(strange.dkim.results[0]!.status).toMatchObject({ result: 'pass', aligned: false })
    const changed = await expectSame(Buffer.concat([whole, Buffer.from('P.S.\r\n')]))
    expect(changed.dkim.results[0]!.status.result).toBe('fail')
  })

  test('give a sealed mail its chain', async () => {
    const sealed = await arcSealed(signed(mail(FROM), 'bank.test'))
    expect((await expectSame(sealed)).arc.status.result).toBe('pass')
    expect((await expectSame(Buffer.concat([sealed, Buffer.from('x\r\n')]))).arc.status.result).toBe('fail')
  })

  test('use the DNS record of a key only as long as it is valid', async () => {
    const raw = signed(mail(FROM), 'bank.test')
    const says = async (key: string) => {
      const changed = (async (name: string, type: string) =>
        name.startsWith('s1.') ? [[key]] : (resolver as (n: string, t: string) => unknown)(name, type)) as never
      return (await checked(raw, by, changed)).dkim.results[0]!.status.result
    }
    expect(await says(KEY_RECORD)).toBe('pass')
    expect(await says('v=DKIM1; p=')).toBe('neutral')
    expect(await says(`${KEY_RECORD}; s=other`)).toBe('neutral')
    expect(await says(KEY_RECORD)).toBe('pass')
  })

  test('give the same result for more than one piece', async () => {
    const body = `${'a line  of some length \r\n'.repeat(8_000)}\r\n\r\n`
    expect((await expectSame(signed(mail(FROM, body), 'bank.test'))).dkim.results[0]!.status.result).toBe('pass')
  })

  test('give the same result for any mail', async () => {
    const line = fc.constantFrom('Hello', ' x  y ', '\t', '', '.', 'ü', '\r', '--b', 'From: a@evil.test')
    const end = fc.constantFrom('\r\n', '\r\n', '\r\n', '\n')
    const body = fc.array(fc.tuple(line, end), { maxLength: 6 }).map((lines) => lines.flat().join(''))
    const field = fc.constantFrom(
      ...['From: a@evil.test', 'From: a@bank.test, b@evil.test', 'Content-Type: multipart/mixed; boundary=b'],
      ...['no field', ' continued', 'ARC-Seal: i=1; a=rsa-sha256', 'DKIM-Signature: v=1; a=rsa-sha256; d=bank.test'],
    )
    const change = fc.constantFrom(
      (raw: Buffer) => signed(raw, 'bank.test', 1e12),
      (raw: Buffer) => signed(raw, 'evil.test', 1e12),
      (raw: Buffer) => edSigned(raw, 'sub.bank.test'),
      (raw: Buffer) => Buffer.from(raw.toString('latin1').replace('c=relaxed/relaxed', 'c=simple/simple'), 'latin1'),
      (raw: Buffer) => Buffer.from(raw.toString('latin1').replace('; h=', '; l=3; h='), 'latin1'),
      (raw: Buffer) => Buffer.from(raw.toString('latin1').replaceAll('\r\n', '\n'), 'latin1'),
      (raw: Buffer) => raw.subarray(0, Math.floor(raw.length / 2)),
      (raw: Buffer) => Buffer.concat([Buffer.from('\r\n'), raw]),
      (raw: Buffer) => arcSealed(raw).catch(() => raw),
    )
    const whole = fc.record({
      header: fc.array(field, { maxLength: 3 }),
      body,
      changes: fc.array(change, { maxLength: 4 }),
      sender: fc.constantFrom('', 'b@bank.test', 'b@evil.test'),
      ip: fc.constantFrom('127.0.0.1', '127.9.9.9', '::1'),
    })
    const property = fc.asyncProperty(whole, async ({ header, body, changes, ...who }) => {
      let raw = mail([...FROM, ...header], body)
      for (const each of changes) raw = await each(raw)
      await expectSame(raw, who)
    })
    await fc.assert(property, { numRuns: 400, seed: 11 })
  })
})

import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { generateKeyPairSync, type KeyObject } from 'node:crypto'
import fc from 'fast-check'
import { authenticate, type DKIMResult } from 'mailauth'
import { sealMessage } from 'mailauth/lib/arc'
import { dkimSign } from 'mailauth/lib/dkim/sign'
import { startZone, type Zone } from '../../src/cli/try/zone-server.ts'
import { dkimRecordValue, signDkim } from '../../src/mail/dkim.ts'
import { createResolver, mailauthResolver } from '../../src/net/dns/resolver.ts'
import { systemClock } from '../../src/os/clock.ts'
import { systemRandom } from '../../src/os/random.ts'
import { bounded } from '../../src/receiving/inbound/bounded-head.ts'
import { checked } from '../../src/receiving/inbound/checks.ts'
import { KEY_PEM, KEY_RECORD, mail, signed } from './signed-mail.ts'

/** The steps of mailauth that we call give the results of its `authenticate`. */

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

type Theirs = Awaited<ReturnType<typeof authenticate>>

/** The comparable part of mailauth's findings. */
function theirFindings({ dkim, spf, arc, dmarc }: Theirs) {
  const signatures = dkim.results
    .filter(({ status }) => status.result !== 'none')
    .map(({ status, signingDomain, selector, algo, signature }: DKIMResult) => ({
      result: status.result,
      comment: status.comment ?? status.policy?.['dkim-rules'] ?? null,
      domain: signingDomain,
      selector,
      algorithm: algo ?? '',
      value: signature ?? '',
    }))
  const chain = arc === false ? null : { result: arc.status.result, i: arc.i }
  return plain({ signatures, authors: dkim.headerFrom, spf, chain, dmarc })
}

function ourFindings({ dkim, spf, arc, dmarc, authors }: Awaited<ReturnType<typeof checked>>) {
  const signatures = dkim.map(({ isAligned, ...rest }) => rest)
  return plain({ signatures, authors, spf, chain: { result: arc.status.result, i: arc.i }, dmarc })
}

const plain = (value: unknown) => JSON.parse(JSON.stringify(value))

let compared = 0

/** Compares the findings about a mail whose header is read. */
async function expectSame(mail: Buffer, more: Partial<typeof by> = {}) {
  const { raw, fault } = bounded(mail)
  const who = { ...by, ...more }
  const whole = { ...who, strict: true, disableBimi: true, minBitLength: 1024, resolver }
  const theirs = await authenticate(raw, whole)
  const ours = await checked(raw, who, resolver, Date.now())
  // mailauth ignores what is not base64, and passes signatures over a part of the body.
  const isStricter = ours.dkim.some(
    ({ value, comment }) => !/^[A-Za-z0-9+/]*={0,2}$/.test(value) || comment?.startsWith('l= leaves'),
  )
  if (fault === null && !isStricter) {
    expect(ourFindings(ours)).toEqual(theirFindings(theirs))
    compared++
  }
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

describe('checks', () => {
  test('pass a signature, do not align a foreign one, and report a changed body', async () => {
    const whole = signed(mail(FROM), 'bank.test')
    expect((await expectSame(whole)).dkim[0]!.result).toBe('pass')
    const strange = await expectSame(signed(mail(FROM), 'sub.bank.test'), { sender: 'b@evil.test' })
    expect(strange.dkim[0]!).toMatchObject({ result: 'pass', isAligned: false })
    const changed = await expectSame(Buffer.concat([whole, Buffer.from('P.S.\r\n')]))
    expect(changed.dkim[0]!.result).toBe('fail')
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
      return (await checked(raw, by, changed, Date.now())).dkim[0]!.result
    }
    expect(await says(KEY_RECORD)).toBe('pass')
    expect(await says('v=DKIM1; p=')).toBe('neutral')
    expect(await says(`${KEY_RECORD}; s=other`)).toBe('neutral')
    expect(await says(KEY_RECORD)).toBe('pass')
  })

  test('give the same result for more than one piece', async () => {
    const body = `${'a line  of some length \r\n'.repeat(8_000)}\r\n\r\n`
    expect((await expectSame(signed(mail(FROM, body), 'bank.test'))).dkim[0]!.result).toBe('pass')
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
    compared = 0
    await fc.assert(property, { numRuns: 400, seed: 11 })
    expect(compared).toBeGreaterThan(300)
  })

  test('give the same result for any tags of a signature', async () => {
    const change = fc.tuple(
      fc.constantFrom(...TAGS),
      fc.constantFrom('append', 'prepend', 'replace', 'remove'),
      fc.constantFrom('; ', ';', ' ;\r\n\t', ';;'),
    )
    const form = fc.constantFrom(
      {},
      { canonicalization: 'simple/simple' },
      { canonicalization: 'relaxed/simple', expires: new Date(2e12) },
      { maxBodyLength: 3 },
      { selector: 'e1', privateKey: ed.privateKey.export({ type: 'pkcs8', format: 'pem' }).toString() },
    )
    const raw = mail([...FROM, 'X-A: 1', 'x-a : a\t b ', 'X-B: ü\u00a0 x'], 'Hello  x \r\n\r\n\r\n')
    const property = fc.asyncProperty(fc.array(change, { maxLength: 4 }), form, async (changes, more) => {
      const key = { signingDomain: 'bank.test', selector: 's1', privateKey: KEY_PEM, ...more }
      const { signatures } = await dkimSign(raw, { ...more, signTime: new Date(1e12), signatureData: [key] } as never)
      const field = changes.reduce(withTag, signatures.trimEnd())
      await expectSame(Buffer.concat([Buffer.from(`${field}\r\n`), raw]))
    })
    compared = 0
    await fc.assert(property, { numRuns: 600, seed: 12 })
    expect(compared).toBeGreaterThan(550)
  })

  test('give the same result for any changes of the header', async () => {
    const text = fc.constantFrom(
      ...['', '\r\n', ' ', '\t', ';', '=', ':', 'b=', '\r', '\n', '\r\n ', 'ü', '\0'],
      ...['From: x@evil.test\r\n', '\r\nb\r\n', '\r\n:x', 'Sub\r\n ject: x\r\n'],
    )
    const change = fc.tuple(fc.nat(1_000), text, fc.constantFrom(0, 1, 3))
    const whole = signed(signed(mail(FROM, 'Hello  x \r\n\r\n'), 'bank.test', 1e12), 'sub.bank.test', 1e12)
    const headBytes = whole.indexOf('\r\n\r\n')
    const property = fc.asyncProperty(fc.array(change, { minLength: 1, maxLength: 3 }), async (changes) => {
      let raw = whole
      for (const [thousandth, insert, drop] of changes) {
        const at = Math.floor((headBytes * thousandth) / 1_000)
        raw = Buffer.concat([raw.subarray(0, at), Buffer.from(insert), raw.subarray(at + drop)])
      }
      await expectSame(raw)
    })
    compared = 0
    await fc.assert(property, { numRuns: 600, seed: 13 })
    expect(compared).toBeGreaterThan(200)
  })
})

const TAGS = [
  ...['v=1', 'v=2', 'v= 1', 'a=RSA-SHA256', 'a=rsa-sha1', 'a=ed25519-sha256', 'a=x', 'a=rsa-sha256-x'],
  ...['c=simple', 'c=RELAXED/Simple', 'c=relaxed/nofws', 'd=Bank.Test.', 'd=bücher.test', 'd=-x.test', 'd=bank', 'd='],
  ...['s=no', 's=', 'h=from', 'h=subject', 'h=from:from:subject:x-a:X-A:x-a:nope', 'h=FROM : x-b', 'h='],
  ...['h=fr om', 'i=@bank.test', 'i=a@sub.bank.test', 'i=@evil.test', 'i="a b"@bank.test', 'i=a=40b@bank.test', 'i=x'],
  ...['i=@', 'i=ü@bank.test', 'l=0', 'l=9999', 'l=x', 'l=-1', 'l=1e3', 'q=dns/txt', 'q=http', 'q=x:DNS/TXT', 't=1'],
  ...['t=x', 't=1000000000000', 'x=1', 'x=99999999999', 'x=', 'z=From:b=1|x', 'B=xx', 'b=', 'bh=', '=x', 'x y=1'],
  ...['n=a;', 'n', 'n="a;b"', '1a=2', 'u=ü', '__proto__=1', 'value=2', 'header=3'],
]

/** A signature field with one tag changed. */
function withTag(field: string, [tag, how, between]: [tag: string, how: string, between: string]): string {
  const list = field.slice(field.indexOf(':') + 1)
  if (how === 'append') return `${field}${between}${tag}`
  if (how === 'prepend') return `DKIM-Signature: ${tag}${between}${list}`
  const isSame = (part: string) => part.trim().startsWith(`${tag.split('=')[0]}=`)
  const parts = list.split(';').flatMap((part) => (!isSame(part) ? part : how === 'replace' ? ` ${tag}` : []))
  return `DKIM-Signature:${parts.join(';')}`
}

import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test'
import { createHash, sign } from 'node:crypto'
import { dkimSign } from 'mailauth/lib/dkim/sign'
import type { Zone } from '../../src/cli/try/zone-server.ts'
import { readHeaderFields } from '../../src/mail/header-fields.ts'
import { createResolver, type Resolver } from '../../src/net/dns/resolver.ts'
import { systemClock } from '../../src/os/clock.ts'
import { systemRandom } from '../../src/os/random.ts'
import { type Authentication, authenticate, type Claim } from '../../src/receiving/inbound/authenticate.ts'
import { headOf } from '../../src/receiving/inbound/head.ts'
import { expectCostUnder } from '../support/cpu-cost.ts'
import { createFakeClock } from '../support/fake-clock.ts'
import { KEY_PEM, mail, signed, startMailZone } from './signed-mail.ts'

let zone: Zone
let resolver: Resolver
beforeAll(async () => {
  zone = await startMailZone()
})
beforeEach(() => {
  zone.queries.length = 0
  resolver = resolving()
})
afterAll(() => zone.stop())

const resolving = () =>
  createResolver({ servers: [zone.address], clock: systemClock, random: systemRandom, maxCacheEntries: 0, tries: 1 })

const BANK = ['From: The Bank <ceo@bank.test>', 'To: b@b.test', 'Subject: Hello', 'Message-ID: <1@bank.test>']

function looked(raw: Buffer, more: Partial<Claim> = {}): Promise<Authentication> {
  const claim = { raw, remoteAddress: '127.0.0.1', helo: 'mx.bank.test', returnPath: 'b@bank.test', ...more }
  const { from } = headOf(readHeaderFields(raw).fields)
  return authenticate({ from, ...claim }, { resolver, clock: systemClock, hostname: 'mx.b.test', limitMs: 120_000 })
}
const SIGNING = { signingDomain: 'bank.test', selector: 's1', privateKey: KEY_PEM } // the types require it twice
const LONG_NAME = `${'label.'.repeat(42)}test`
const strangers = { remoteAddress: '127.9.9.9', returnPath: 'b@evil.test' }
const resultsOf = ({ results }: Authentication, method: string) => results.filter((each) => each.method === method)

const canonical = (field: string) => field.replace(/^[^:]+: */, (name) => name.trim().toLowerCase()).trim()
const signatureOf = (text: string) => sign('sha256', Buffer.from(text), KEY_PEM).toString('base64')

/** A mail of fields in one line each → a signature of bank.test over the last fields of these names. */
function signedBy(raw: Buffer, start: string, names: string): string {
  const [head = '', body = ''] = raw.toString().split('\r\n\r\n')
  const left = head.split('\r\n').map(canonical)
  const fields = names.split(':').map((name) => {
    const at = left.findLastIndex((field) => field.startsWith(`${name}:`))
    return `${left.splice(at, 1).join()}\r\n`
  })
  const hash = createHash('sha256')
    .update(start.includes('l=0') ? '' : body)
    .digest('base64')
  const field = `${start} a=rsa-sha256; c=relaxed/relaxed; d=bank.test; s=s1; h=${names}; bh=${hash}; b=`
  return field + signatureOf(fields.join('') + canonical(field))
}

describe('authentication', () => {
  test('passes a signed mail from the right address completely, with the domains in the findings', async () => {
    const found = await looked(signed(mail(BANK), 'bank.test'))
    expect(found.verdicts).toEqual({ spf: 'pass', dkim: 'pass', dmarc: 'pass', arc: 'none' })
    expect(found.dmarcPolicy).toBe('reject')
    expect(found.dmarcReason).toBeNull()
    expect(resultsOf(found, 'spf')[0]!.properties).toEqual([['smtp.mailfrom', 'bank.test']])
    expect(resultsOf(found, 'dkim')[0]!.properties).toEqual([
      ['header.d', 'bank.test'],
      ['header.s', 's1'],
      ['header.a', 'rsa-sha256'],
      ['header.b', expect.stringMatching(/^[A-Za-z0-9+/]{8}$/)],
    ])
    expect(resultsOf(found, 'dmarc')[0]!.properties).toEqual([['header.from', 'bank.test']])
  })

  test('fails a mail without proof, with a reason in one line of ASCII', async () => {
    const found = await looked(mail(BANK), strangers)
    expect(found.verdicts).toEqual({ spf: 'fail', dkim: 'none', dmarc: 'fail', arc: 'none' })
    expect(found.dmarcPolicy).toBe('reject')
    expect(found.dmarcReason).toBe(
      'DMARC policy of bank.test is reject, and neither SPF (fail) nor DKIM (none) authenticates the message',
    )
  })

  test('does not count a valid signature of another domain for the author', async () => {
    const found = await looked(signed(mail(BANK), 'evil.test'), { returnPath: 'b@evil.test' })
    expect(found.verdicts).toMatchObject({ spf: 'pass', dkim: 'pass', dmarc: 'fail' })
  })

  test('names the signature that passes for the author first', async () => {
    const found = await looked(signed(signed(mail(BANK), 'bank.test'), 'evil.test'))
    const domains = resultsOf(found, 'dkim').map(({ properties }) => properties[0]![1])
    expect(domains).toEqual(['bank.test', 'evil.test'])
  })

  test('fails the signature of a changed body', async () => {
    const raw = Buffer.from(signed(mail(BANK), 'bank.test').toString().replace('Hello\r\n', 'Hello!\r\n'))
    expect((await looked(raw)).verdicts.dkim).toBe('fail')
    const other = Buffer.from(
      signed(mail(BANK), 'bank.test')
        .toString()
        .replace(/Hello\r\n$/, 'Hallo\r\n'),
    )
    expect((await looked(other, strangers)).verdicts).toMatchObject({ dkim: 'fail', dmarc: 'fail' })
  })

  test.each(['root@localhost', 'a@my_host', 'a@[192.0.2.1]', 'a@[IPv6:2001:db8::1]', '"a@bank.test"@web1'])(
    'finds no SPF record for a return path such as %s',
    async (returnPath) => {
      const { verdicts } = await looked(mail(BANK), { returnPath, helo: "Ann's PC (home)" })
      expect(verdicts).toMatchObject({ spf: 'none', dmarc: 'fail' })
    },
  )

  test.each(['two words', '<>;()"@', '\\u0007', '[127.0.0.1', 'x'.repeat(255)])(
    'finds no SPF record for a mail without a return path by the HELO name %p',
    async (helo) => {
      const found = await looked(mail(BANK), { returnPath: '', helo })
      expect(found.verdicts).toMatchObject({ spf: 'none', dmarc: 'fail' })
      expect(resultsOf(found, 'spf')[0]!.properties).toEqual([['smtp.helo', helo]])
    },
  )

  test('checks a mail without a return path by the HELO name', async () => {
    const found = await looked(mail(BANK), { returnPath: '' })
    expect(found.verdicts.spf).toBe('pass')
    expect(resultsOf(found, 'spf')[0]!.properties).toEqual([['smtp.helo', 'mx.bank.test']])
  })

  test('gives none for a domain without records', async () => {
    const raw = mail(['From: a@quiet.test', 'Subject: x'])
    const found = await looked(raw, { returnPath: 'a@quiet.test', helo: 'quiet.test' })
    expect(found.verdicts).toEqual({ spf: 'none', dkim: 'none', dmarc: 'none', arc: 'none' })
  })

  // threat: forged-authors
  test('passes no signature over a part of the body', async () => {
    const raw = mail(BANK, 'Hello\r\n')
    const { signatures } = await dkimSign(raw, {
      ...SIGNING,
      signatureData: [{ signingDomain: 'bank.test', selector: 's1', privateKey: KEY_PEM, maxBodyLength: 7 }],
    })
    const appended = Buffer.concat([Buffer.from(signatures), raw, Buffer.from('Send money to evil.test\r\n')])
    expect(appended.toString()).toMatch(/\bl=7\b/)
    const found = await looked(appended, strangers)
    expect(found.verdicts).toMatchObject({ dkim: 'policy', dmarc: 'fail' })
  })

  // threat: forged-authors
  test.each(['/relaxed', 'relaxed/', '/', 'relaxed/simple/simple', ''])(
    'judges mail with the canonicalization %p',
    async (form) => {
      const raw = signed(mail(BANK), 'bank.test').toString().replace('c=relaxed/relaxed', `c=${form}`)
      const found = await looked(Buffer.from(raw), strangers)
      expect(found.verdicts).toMatchObject({ spf: 'fail', dkim: 'neutral', dmarc: 'fail' })
      expect(resultsOf(found, 'dkim')[0]!.comment).toBe('unknown canonicalization')
    },
  )

  // threat: forged-authors
  test.each([
    [
      'text that looks like the body',
      (raw: string) => raw.replace('\r\n\r\n', '\r\nX-A: b\r\nPay today.\r\nThanks\r\n\r\n'),
    ],
    ['a part before the first', (raw: string) => raw.replace('\r\n\r\n', '\r\nX-A: b\r\n--x\r\nPay.\r\n--x--\r\n\r\n')],
    ['a name that ends in a vertical tab', (raw: string) => `From\x0b: CEO <boss@bank.test>\r\n${raw}`],
    ['a name that ends in a form feed', (raw: string) => `Subject\x0c: Pay\r\n${raw}`],
    ['a name that ends in a no-break space', (raw: string) => `From\xa0: CEO <boss@bank.test>\r\n${raw}`],
    ['folds between a name and its colon', (raw: string) => `X: y\r\nSubject\r\n \r\n : Pay\r\n${raw}`],
    ['a fold without its blank', (raw: string) => raw.replace('Subject: Hello', 'Subject: \r\nHello')],
    ['a colon on the next line', (raw: string) => raw.replace('Subject:', 'Subject\r\n:')],
    [
      'a field that moved to the first line, behind a blank',
      (raw: string) => ` Subject: Hello\r\n${raw.replace('Subject: Hello\r\n', '')}`,
    ],
  ])('passes no signature beside %s', async (_, change) => {
    const raw = signed(mail(BANK), 'bank.test').toString('latin1')
    const found = await looked(Buffer.from(change(raw), 'latin1'), strangers)
    expect(found.verdicts).toMatchObject({ spf: 'fail', dkim: 'permerror', dmarc: 'fail' })
    expect(resultsOf(found, 'dkim')[0]!.comment).toBe('malformed header')
    const { from, subject } = headOf(readHeaderFields(Buffer.from(change(raw), 'latin1')).fields)
    expect(from).toBe('ceo@bank.test')
    expect(['Hello', '']).toContain(subject)
  })

  // threat: forged-authors
  test('does not count SPF for an author beside a From that others may read', async () => {
    const raw = mail(['From: news@evil.test', 'From\x0b: The Bank <ceo@bank.test>', 'Subject: Hello'])
    const found = await looked(raw, { returnPath: 'b@evil.test' })
    expect(found.verdicts).toMatchObject({ spf: 'pass', dmarc: 'permerror' })
  })

  test.each(['From a@bank.test Fri Nov 27 12:00:00 2026', '>From a@bank.test'])(
    'ignores the line %p of an mbox',
    async (line) => {
      const found = await looked(
        Buffer.concat([Buffer.from(`${line}\r\n`), signed(mail(BANK), 'bank.test')]),
        strangers,
      )
      expect(found.verdicts).toMatchObject({ dkim: 'pass', dmarc: 'pass' })
      const folded = Buffer.concat([Buffer.from(`${line}\r\n x\r\n`), signed(mail(BANK), 'bank.test')])
      expect((await looked(folded, strangers)).verdicts).toMatchObject({ dkim: 'permerror', dmarc: 'fail' })
    },
  )

  // threat: forged-authors
  test.each([
    [['Subject: Pay'], 'from:subject', 'policy'],
    [['Content-Type: text/html'], 'from:content-type', 'policy'],
    [['To: c@b.test'], 'from:to', 'policy'],
    [['To: c@b.test'], 'from:to:to', 'pass'],
    [['Subject: Pay'], 'from:subject:subject', 'pass'],
    [['Subject: Pay'], 'from', 'pass'],
    [['Subject:  Hello '], 'from:subject', 'pass'],
    [['Message-ID: <2@bank.test>', 'Mime-Version: 1.0'], 'from:message-id:mime-version', 'pass'],
  ])('beside a second %p, a signature of %s is %s', async (fields, names, dkim) => {
    const raw = mail([...fields, ...BANK, 'MIME-Version: 1.0', 'Content-Type: text/plain'])
    const found = await looked(
      Buffer.concat([Buffer.from(`${signedBy(raw, 'DKIM-Signature: v=1;', names)}\r\n`), raw]),
      strangers,
    )
    expect(found.verdicts).toMatchObject({ dkim, dmarc: dkim === 'pass' ? 'pass' : 'fail' })
  })

  test('passes no signature that is not base64', async () => {
    const raw = signed(mail(BANK), 'bank.test').toString('latin1').replace(/ b=/, ' b=\xc2\xa0')
    const found = await looked(Buffer.from(raw, 'latin1'), strangers)
    expect(resultsOf(found, 'dkim')[0]).toMatchObject({ result: 'neutral', comment: 'signature syntax error' })
  })

  // threat: forged-authors
  test.each([
    ['', [], 'pass'],
    [' l=0;', [], 'fail'],
    ['', ['Subject: Pay'], 'fail'],
  ])('an ARC set with %p in its message signature, beside %p, is %s', async (limit, fields, arc) => {
    const head = [...fields, ...BANK]
    const set = [
      'ARC-Authentication-Results: i=1; bank.test; spf=pass',
      signedBy(mail(head), `ARC-Message-Signature: i=1;${limit}`, 'from:subject'),
    ]
    const seal = 'ARC-Seal: i=1; a=rsa-sha256; t=1; cv=none; d=bank.test; s=s1; b='
    set.push(seal + signatureOf(`${set.map(canonical).join('\r\n')}\r\n${canonical(seal)}`))
    expect((await looked(mail([...set, ...head]), strangers)).verdicts.arc).toBe(arc as never)
  })

  // threat: forged-authors
  test('does not count a key of 512 bits', async () => {
    const { generateKeyPairSync } = await import('node:crypto')
    const weak = generateKeyPairSync('rsa', { modulusLength: 512 })
    const der = weak.publicKey.export({ type: 'spki', format: 'der' }).toString('base64')
    zone.set('weak._domainkey.bank.test', 'TXT', [`v=DKIM1; k=rsa; p=${der}`])
    const raw = mail(BANK)
    const { signatures } = await dkimSign(raw, {
      ...SIGNING,
      signatureData: [
        {
          signingDomain: 'bank.test',
          selector: 'weak',
          privateKey: weak.privateKey.export({ type: 'pkcs8', format: 'pem' }) as string,
        },
      ],
    })
    const found = await looked(Buffer.concat([Buffer.from(signatures), raw]), strangers)
    expect(signatures).toContain('s=weak')
    expect(found.verdicts).toMatchObject({ dkim: 'policy', dmarc: 'fail' })
  })

  test('passes a signature whose selector has an underscore', async () => {
    const found = await looked(signed(mail(BANK), 'bank.test', Date.now(), 'mail_2'), strangers)
    expect(found.verdicts).toMatchObject({ dkim: 'pass', dmarc: 'pass' })
    expect(resultsOf(found, 'dkim')[0]!.properties).toContainEqual(['header.s', 'mail_2'])
  })

  // threat: forged-authors
  test.each([
    ['expired', { expires: new Date(1e12) }, 'neutral', 'expired'],
    ['uses SHA-1', { algorithm: 'rsa-sha1' }, 'policy', 'weak algorithm'],
    ['names a domain longer than DNS allows', { signingDomain: LONG_NAME }, 'neutral', 'signature syntax error'],
  ])('passes no signature that %s', async (_, more, dkim, comment) => {
    const raw = mail(BANK)
    const key = { ...SIGNING, ...more }
    const { signatures, errors } = await dkimSign(raw, {
      ...key,
      signTime: new Date(9e11),
      signatureData: [key],
    } as never)
    expect(errors).toEqual([])
    const found = await looked(Buffer.concat([Buffer.from(signatures), raw]), strangers)
    expect(found.verdicts).toMatchObject({ dkim, dmarc: 'fail' })
    expect(resultsOf(found, 'dkim')[0]!.comment).toBe(comment)
  })

  // threat: forged-authors
  // threat: signature-and-header-floods
  test('looks up only 20 of 25 signatures', async () => {
    let raw = mail(BANK)
    for (let i = 0; i < 25; i++) raw = signed(raw, 'bank.test')
    const bent = raw.toString().replace(/s=s1;/g, () => `s=x${Math.random().toString(36).slice(2, 8)};`)
    const found = await looked(Buffer.from(bent), strangers)
    expect(resultsOf(found, 'dkim')).toHaveLength(20)
    expect(zone.queries.filter(({ name }) => name.includes('._domainkey.'))).toHaveLength(20)
    expect(found.verdicts).toMatchObject({ dkim: 'neutral', dmarc: 'fail' })
  })
})

// threat: forged-authors
// threat: ambiguous-authors
describe('forged authors never pass and never give none', () => {
  const forged: [what: string, from: string[], result: string, policy: string][] = [
    ['two From fields', ['From: a@evil.test', 'From: ceo@bank.test'], 'fail', 'reject'],
    ['two From fields, the other first', ['From: ceo@bank.test', 'From: a@evil.test'], 'fail', 'reject'],
    ['two From fields of one domain', ['From: a@evil.test', 'From: b@evil.test'], 'permerror', 'none'],
    ['several addresses', ['From: a@evil.test, ceo@bank.test'], 'fail', 'reject'],
    ['a group', ['From: x: a@evil.test, ceo@bank.test;'], 'fail', 'reject'],
    ['an empty group', ['From: undisclosed:;'], 'permerror', 'none'],
    ['no From', [], 'permerror', 'none'],
    ['an empty From', ['From: '], 'permerror', 'none'],
    ['two @', ['From: <ceo@bank.test@evil.test>'], 'fail', 'reject'],
    ['an address in an encoded word alone', ['From: =?utf-8?q?ceo=40bank=2Etest?='], 'fail', 'reject'],
    ['the strictest of several', ['From: a@shop.test, a@evil.test, ceo@bank.test'], 'fail', 'reject'],
    ['a quarantine', ['From: a@shop.test, a@evil.test'], 'fail', 'quarantine'],
  ]
  test.each(forged)('%s', async (_, from, result, policy) => {
    // Everything else is valid for evil.test.
    const raw = signed(mail([...from, 'Subject: Hello']), 'evil.test')
    const found = await looked(raw, { returnPath: 'b@evil.test' })
    expect(found.verdicts).toMatchObject({ spf: 'pass', dkim: 'pass', dmarc: result })
    expect(found.dmarcPolicy).toBe(policy as never)
    expect(found.dmarcReason).toMatch(/^[ -~]+$/)
  })

  test.each([
    'From: =?utf-8?q?ceo=40bank=2Etest?= <a@evil.test>',
    'From: "ceo@bank.test" <a@evil.test>',
    'From: (ceo@bank.test) a@evil.test',
    'From: "ceo@bank.test"@evil.test',
    'From: a@evil.test (ceo@bank.test)',
    'From: <@bank.test:a@evil.test>',
    'From : ceo@bank.test',
    'From:ceo@bank.test\r\n (a@evil.test)',
  ])('%j passes only for the domain that we show', async (from) => {
    const raw = signed(mail([from, 'Subject: Hello']), 'evil.test')
    const shown = headOf(readHeaderFields(raw).fields).from
    const found = await looked(raw, { returnPath: 'b@evil.test' })
    if (shown.endsWith('@evil.test')) expect(['none', 'fail', 'permerror']).toContain(found.verdicts.dmarc)
    else expect(found.verdicts.dmarc).toBe('fail')
  })

  test('the domain that we show and the one that was checked must be the same', async () => {
    const raw = signed(mail(BANK), 'bank.test')
    const found = await looked(raw, { from: 'a@shop.test' })
    expect(found.verdicts.dmarc).toBe('fail')
    expect(found.dmarcReason).toContain('ambiguous From')
  })

  test('several authors of one domain are one author', async () => {
    const raw = signed(mail(['From: a@bank.test, b@bank.test', 'Subject: x']), 'bank.test')
    expect((await looked(raw)).verdicts.dmarc).toBe('pass')
  })

  test('a domain is the same in both of its forms', async () => {
    zone.set('xn--bcher-kva.test', 'TXT', ['v=spf1 ip4:127.0.0.1 -all'])
    zone.set('_dmarc.xn--bcher-kva.test', 'TXT', ['v=DMARC1; p=reject'])
    const raw = mail(['From: a@bücher.test', 'Subject: x'])
    const found = await looked(raw, { returnPath: 'b@xn--bcher-kva.test' })
    expect(found.verdicts).toMatchObject({ spf: 'pass', dmarc: 'pass' })
  })
})

describe('failures and limits', () => {
  test.each(['SERVFAIL', 'REFUSED'] as const)('%s for SPF, key and policy is temperror', async (how) => {
    const names = ['bank.test', 's1._domainkey.bank.test', '_dmarc.bank.test']
    for (const name of names) zone.fail(name, how)
    try {
      const found = await looked(signed(mail(BANK), 'bank.test'))
      expect(found.verdicts).toEqual({ spf: 'temperror', dkim: 'temperror', dmarc: 'temperror', arc: 'none' })
    } finally {
      for (const name of names) zone.fail(name, null)
    }
  })

  test('SERVFAIL for two From domains is temperror', async () => {
    zone.fail('_dmarc.bank.test', 'SERVFAIL')
    const found = await looked(mail(['From: a@quiet.test, b@bank.test', 'Subject: x']), strangers)
    zone.fail('_dmarc.bank.test', null)
    expect(found.verdicts.dmarc).toBe('temperror')
  })

  // threat: dns-verdict-errors
  test('a key whose server does not answer delays no other key', async () => {
    const { promise: bankAsked, resolve } = Promise.withResolvers<void>()
    const txtStrings: Resolver['txtStrings'] = async (name) => {
      if (name === 's1._domainkey.bank.test') resolve()
      if (name === 's1._domainkey.evil.test') await bankAsked
      return await zoned.txtStrings(name)
    }
    const zoned = resolver
    const claim = {
      raw: signed(signed(mail(BANK), 'bank.test'), 'evil.test'),
      ...strangers,
      helo: 'h',
      from: 'ceo@bank.test',
    }
    const deps = { resolver: { ...zoned, txtStrings }, clock: systemClock, hostname: 'h', limitMs: 10_000 }
    expect((await authenticate(claim, deps)).verdicts).toMatchObject({ dkim: 'pass', dmarc: 'pass' })
  })

  // threat: dns-verdict-errors
  test('at the deadline unknown results are temperror, and known ones stay', async () => {
    zone.fail('_dmarc.bank.test', 'timeout')
    const clock = createFakeClock(Date.now())
    const raw = signed(mail(BANK), 'bank.test')
    const claim = { raw, remoteAddress: '127.0.0.1', helo: 'h', returnPath: 'b@bank.test', from: 'ceo@bank.test' }
    const found = authenticate(claim, { resolver, clock, hostname: 'mx.b.test', limitMs: 15_000 })
    while (!zone.queries.some(({ name }) => name === '_dmarc.bank.test')) await new Promise(setImmediate)
    await clock.advance(14_999)
    expect(Bun.peek.status(found)).toBe('pending')
    await clock.advance(1)
    expect((await found).verdicts).toEqual({ spf: 'pass', dkim: 'pass', dmarc: 'temperror', arc: 'none' })
    expect(clock.sleeps()).toEqual([])
    zone.fail('_dmarc.bank.test', null)
  })

  test('no timer is left when all went well', async () => {
    const clock = createFakeClock(Date.now())
    const claim = { raw: mail(BANK), remoteAddress: '127.0.0.1', helo: 'h', returnPath: '', from: 'ceo@bank.test' }
    await authenticate(claim, { resolver, clock, hostname: 'mx.b.test', limitMs: 15_000 })
    expect(clock.sleeps()).toEqual([])
  })

  // threat: signature-and-header-floods
  test('an oversized header costs no time: its signatures are permerror, and its author is still checked', async () => {
    const raw = mail([...BANK, `X-Long: a${'\r\n b'.repeat(200_000)}`])
    const long = signed(raw, 'bank.test')
    await expectCostUnder(4_000, async () => {
      const found = await looked(long)
      expect(found.verdicts).toEqual({ spf: 'pass', dkim: 'permerror', dmarc: 'pass', arc: 'none' })
    })
    const stranger = await looked(raw, strangers)
    expect(stranger.verdicts.dmarc).toBe('fail')
  })

  // threat: signature-and-header-floods
  test('long blanks in signatures and seals cost no time', async () => {
    const blank = `${' '.repeat(45_000)}x`
    const tags = 'a=rsa-sha256; c=relaxed/relaxed; d=bank.test; s=s1; h=from; bh=x; b='
    const fields = [
      `DKIM-Signature: v=1; ${tags}${blank}`,
      `ARC-Message-Signature: i=1; ${tags}${blank}`,
      `ARC-Seal: i=1; ${blank}`,
    ]
    await expectCostUnder(4_000, async () => {
      const found = await looked(mail([...fields, ...fields, ...fields, ...BANK]))
      expect(found.verdicts.dmarc).toBe('pass')
    })
    const good = signed(mail([...fields, ...BANK]), 'bank.test')
    expect((await looked(good, strangers)).verdicts).toMatchObject({ dkim: 'pass', dmarc: 'pass' })
  })

  // threat: signature-and-header-floods
  test('a megabyte of long blanks in a signature costs no time', async () => {
    const runs = `${' '.repeat(255)}x`.repeat(3_900)
    const raw = mail([`DKIM-Signature: v=1; a=rsa-sha256; d=bank.test; s=s1; h=from; bh=x; b=x; z=${runs}`, ...BANK])
    await expectCostUnder(150, async () => expect((await looked(raw, strangers)).verdicts.dkim).toBe('none'))
  })

  // threat: dkim-header-cost
  test('many carriage returns in a field cost no time', async () => {
    const raw = signed(mail([`X: ${'\r'.repeat(100_000)}x`, ...BANK]), 'bank.test')
    await expectCostUnder(700, async () => expect((await looked(raw, strangers)).verdicts.dkim).toBe('pass'))
  })

  test.each(['', '\r\n', '\r\n\r\n', 'garbage', ': \r\n\r\n', 'From:\r\n', '\0\xff'])(
    'any mail gets a result: %j',
    async (raw) => {
      const found = await looked(Buffer.from(raw, 'latin1'), { helo: '\x01(', returnPath: '@@', remoteAddress: 'x' })
      expect(found.verdicts.dmarc).toBe('permerror')
    },
  )
})

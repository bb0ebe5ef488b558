/** Inbound mail in the reader threads: damaged MIME, damaged signatures, and arbitrary DNS records. It is read as
 *  far as possible, and nothing in it is an internal error. */
import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { unpackParsed, unpackRaw } from '../../src/mail/inbound-content.ts'
import { parseAttachments, parseMail } from '../../src/mail/parse.ts'
import type { Lookup, Resolver } from '../../src/net/dns/resolver.ts'
import { systemClock } from '../../src/os/clock.ts'
import { readMail } from '../../src/receiving/inbound/read.ts'
import { KEY_RECORD, mail, signed } from '../inbound/signed-mail.ts'
import { loadFixtures } from '../support/fixtures.ts'
import { silentResolver } from '../support/silent-resolver.ts'
import { runs } from './runs.ts'

const NEVER = new Promise<never>(() => {})
const SIGNED = signed(mail(['From: The Bank <ceo@bank.test>', 'To: b@b.test', 'Subject: Hello']), 'bank.test').toString(
  'latin1',
)

const field = fc.oneof(
  fc
    .tuple(
      fc.constantFrom('Content-Type: ', 'content-type:', 'Content-Type\t: '),
      fc.constantFrom(
        'text/plain',
        'text/html',
        'multipart/mixed',
        'multipart/alternative',
        'multipart/signed',
        'message/rfc822',
        'message/delivery-status',
        'image/png',
        'text/calendar',
        'application/ms-tnef',
        'x',
        '',
        'text/plain/x',
      ),
      fc.constantFrom(
        '',
        '; boundary=b',
        '; boundary="b"',
        '; boundary=b; charset=utf-8',
        '; charset=iso-2022-jp',
        '; charset=utf-7',
        '; charset=utf-16',
        '; charset=x-none',
        "; name*0*=utf-8''%FF; name*1=b",
        '; name="=?utf-8?b?8J+Tgw==?="',
        '; name="../../a\0b"',
        '; format=flowed; delsp=yes',
        `; boundary=${'b'.repeat(80)}`,
        ';;;=',
      ),
    )
    .map((parts) => parts.join('')),
  fc
    .tuple(
      fc.constantFrom('Content-Transfer-Encoding: '),
      fc.constantFrom('base64', 'quoted-printable', '7bit', 'binary', 'x-uuencode', 'BASE64;'),
    )
    .map((parts) => parts.join('')),
  fc.constantFrom(
    'Content-Disposition: attachment',
    'Content-Disposition: attachment; filename="a.txt"',
    'Content-Disposition: inline; filename*=x',
    'Content-ID: <a@b>',
    'MIME-Version: 1.0',
    'From: a@bank.test',
    'From: a@bank.test, b@evil.test',
    'From: "a@b" <>',
    'Subject: =?utf-8?q?=ff?=',
    'Received: x',
    'X: y\r\n z',
    'Date: x',
    'Authentication-Results: mx.b.test; spf=pass',
    'Return-Path: <x@y>',
    'References: <a> <b',
    'To: undisclosed:;',
    ': x',
    'x',
    'X-\xff: \xff',
    '__proto__: x',
    'constructor: y',
    'DKIM-Signature: v=1; a=rsa-sha256; d=bank.test; s=s1; h=from; bh=x; b=y',
    'DKIM-Signature: v=1; a=rsa-sha256; d=bank.test; s=s1; h=from:from; l=0; bh=47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=; b=YQ==; x=1; t=2',
    'DKIM-Signature: a=ed25519-sha256; d=; s=; b=',
    'DKIM-Signature: ;;;=;',
    'ARC-Seal: i=1; a=rsa-sha256; cv=none; d=bank.test; s=s1; b=YQ==',
    'ARC-Message-Signature: i=1; a=rsa-sha256; d=bank.test; s=s1; h=from; bh=x; b=y',
    'ARC-Authentication-Results: i=1; x; spf=pass',
    'ARC-Seal: i=99999; cv=pass',
    'ARC-Seal: i=',
    'List-Unsubscribe: <mailto:',
    'BIMI-Selector: v=BIMI1; s=x',
  ),
)
const body = fc.oneof(
  fc.constantFrom(
    '',
    '\r\n',
    '--b\r\n',
    '--b--\r\n',
    '--b\r\n\r\n',
    'Hello\r\n',
    'SGVsbG8=\r\n',
    '=C3=BC=\r\n',
    '=',
    '<p>x</p><script>',
    '\0',
    '\xff\xfe',
    'a\nb',
    'a\rb',
    '--b \t\r\n',
    '+AGE-',
    '\x1b$B',
    'begin 644 a\r\n#86)C\r\n`\r\nend\r\n',
    'x'.repeat(2_000),
    `--${'b'.repeat(80)}\r\n`,
  ),
  field.map((line) => `${line}\r\n`),
)
const message = fc
  .tuple(fc.array(field, { maxLength: 7 }), fc.array(body, { maxLength: 14 }))
  .map(([fields, bodies]) => `${fields.join('\r\n')}\r\n\r\n${bodies.join('')}`)
const fixtures = [...loadFixtures('dsn').values(), ...loadFixtures('arf').values()].map((raw) =>
  Buffer.from(raw).toString('latin1'),
)
const edit = fc.record({
  at: fc.nat(4_000),
  length: fc.nat(30),
  put: fc.oneof(
    fc.constantFrom('', '\r\n', '\r\n\r\n', '\n', ';', '=', '"', '--', '\0', '=?', '(', ',', ':', '\xff'),
    field.map((line) => `\r\n${line}\r\n`),
  ),
})
const raw = fc
  .tuple(
    fc.oneof(
      { weight: 3, arbitrary: message },
      { weight: 2, arbitrary: fc.constant(SIGNED) },
      { weight: 1, arbitrary: fc.constantFrom(...fixtures) },
    ),
    fc.array(edit, { maxLength: 4 }),
  )
  .map(([text, edits]) => {
    let damaged = text
    for (const { at, length, put } of edits) {
      const from = at % (damaged.length + 1)
      damaged = damaged.slice(0, from) + put + damaged.slice(from + length)
    }
    return damaged
  })
const bytesOf = (text: string) => new Uint8Array(Buffer.from(text, 'latin1'))

test('a mail is read as far as possible, and its attachments match their count', async () => {
  const run = fc.asyncProperty(raw, async (text) => {
    const bytes = bytesOf(text)
    const { parsed, parseError } = await parseMail(bytes, NEVER)
    expect(typeof (parseError ?? '')).toBe('string')
    const sizes = (await parseAttachments(bytes, NEVER)).map((content) => content.length)
    if (parseError === null) expect(sizes).toEqual(parsed.attachments.map(({ sizeBytes }) => sizeBytes))
    for (const { filename, contentType } of parsed.attachments) {
      expect(filename).toMatch(/^[^\x00-\x1f\x7f/\\]+$/)
      expect(contentType).toMatch(/^[^\x00-\x20\x7f]+\/[^\x00-\x20\x7f]+$/)
    }
  })
  await fc.assert(run, runs<[string]>({ target: 'mime', property: 'read' }, 800, 51))
})

/** SPF, DKIM and DMARC records, valid and damaged. */
const record = fc
  .tuple(
    fc.constantFrom(
      'v=spf1 ip4:127.0.0.1 -all',
      'v=spf1 include:bank.test ~all',
      'v=spf1 redirect=evil.test',
      'v=spf1 a mx ptr exists:%{i}._spf.%{d2} ?all',
      'v=spf1 exp=x.test -all',
      'v=spf1 ip6:::/0',
      'v=spf1 a:%{',
      'v=spf1 %{l1r-}.%{o}.%{h}.%{c}.%{t}',
      'v=spf1 ip4:1.2.3.4/99',
      'v=DMARC1; p=reject',
      'v=DMARC1; p=quarantine; sp=x; pct=-1; adkim=s; rua=mailto:a@b',
      'v=DMARC1; p=',
      'v=DMARC1;;',
      'v=DMARC1; p=none; np=reject; psd=y; t=y',
      KEY_RECORD,
      'v=DKIM1; p=',
      'v=DKIM1; k=ed25519; p=AA==',
      'v=DKIM1; k=x; p=x; t=s:y; h=sha1',
      'p=MIGf',
      '',
    ),
    fc.array(
      fc.record({
        at: fc.nat(400),
        length: fc.nat(5),
        put: fc.constantFrom('', ';', '=', ' ', '\0', '\xff', '%', ':', '/', '999999999999', 'v=spf1 '),
      }),
      { maxLength: 2 },
    ),
  )
  .map(([text, edits]) =>
    edits.reduce((now, { at, length, put }) => {
      const from = at % (now.length + 1)
      return now.slice(0, from) + put + now.slice(from + length)
    }, text),
  )
const records = fc.array(fc.array(record, { maxLength: 3 }), { minLength: 1, maxLength: 5 })

/** Answers any query by the length of its name. */
function resolverOf(said: readonly string[][]): Resolver {
  const found = <T>(name: string, of: (records: string[]) => T[]): Lookup<T> => {
    const all = of(said[name.length % said.length]!)
    if (all.length === 0) return name.length % 2 === 0 ? { kind: 'no_data' } : { kind: 'nxdomain' }
    return { kind: 'records', records: all, ttlSeconds: 1, authentic: false }
  }
  return {
    ...silentResolver,
    txt: async (name) => found(name, (texts) => texts),
    txtStrings: async (name) => found(name, (texts) => texts.map((text) => [text.slice(0, 200), text.slice(200)])),
    a: async (name) => found(name, (texts) => texts.map((_, n) => `127.0.0.${n}`)),
    aaaa: async (name) => found(name, (texts) => texts.map((_, n) => `::${n}`)),
    mx: async (name) =>
      found(name, (texts) =>
        texts.map((text, preference) => ({ preference, exchange: text.slice(0, 60).toLowerCase() || '.' })),
      ),
    ptr: async (name) => found(name, () => ['bank.test']),
  }
}

test('a mail is authenticated and read whole, whatever it and DNS contain', async () => {
  const sender = fc.constantFrom(
    '',
    'a@bank.test',
    'a@evil.test',
    '"a b"@bank.test',
    'a@b\u00fccher.test',
    'no address',
    '%{l}@bank.test',
  )
  const run = fc.asyncProperty(raw, records, sender, async (text, said, returnPath) => {
    const bugs: unknown[] = []
    const bytes = bytesOf(text)
    const job = {
      jobId: 1,
      raw: bytes,
      envelope: {
        remoteAddress: '127.0.0.1',
        helo: 'mx.bank.test',
        returnPath,
        recipients: ['b@b.test'],
        protocol: 'ESMTP',
        tls: null,
      },
      receivedAt: 1_795_262_400_000,
      seals: [],
      forwardHeader: null,
    }
    const reading = await readMail(job, {
      settings: { hostname: 'mx.b.test', authenticationMs: 20_000 },
      resolver: resolverOf(said),
      clock: systemClock,
      onWork: () => {},
      sign: () => Promise.reject(new Error('nothing is sealed here')),
      onBug: (error) => void bugs.push(error),
    })
    if (bugs.length > 0) throw bugs[0]
    const { spf, dkim, dmarc, arc } = reading.verdicts
    expect(['pass', 'fail', 'softfail', 'neutral', 'none', 'temperror', 'permerror']).toContain(spf)
    expect(['pass', 'fail', 'policy', 'neutral', 'none', 'temperror', 'permerror']).toContain(dkim)
    expect(['pass', 'fail', 'none', 'temperror', 'permerror']).toContain(dmarc)
    expect(['pass', 'fail', 'none']).toContain(arc)
    expect(['none', 'quarantine', 'reject']).toContain(reading.dmarcPolicy)
    expect(reading.dmarcReason ?? 'x').toMatch(/^[ -~]+$/)
    const stored = Buffer.from(unpackRaw(reading.raw)).toString('latin1')
    const [results = ''] = /^Authentication-Results: (?:[^\r\n]|\r\n[ \t])*/m.exec(stored) ?? []
    expect(results).toMatch(/^(?:[ -~\t]|\r\n[ \t])+$/)
    unpackParsed(reading.parsed)
  })
  await fc.assert(run, runs<[string, string[][], string]>({ target: 'mime', property: 'authenticated' }, 500, 52))
})

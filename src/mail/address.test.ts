import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { expectCostUnder } from '../../test/support/cpu-cost.ts'
import { formatMailbox, parseMailbox, toALabel } from './address.ts'

const LABEL_63 = 'd'.repeat(63)

describe('an address', () => {
  test.each([
    ['a@d.example', null, 'a@d.example'],
    ['  A.B+c@D.Example\t', null, 'A.B+c@d.example'],
    ['Ann <a@d.example>', 'Ann', 'a@d.example'],
    ['Ann<a@d.example>', 'Ann', 'a@d.example'],
    ['Ann \t B. Ccc <a@d.example>', 'Ann B. Ccc', 'a@d.example'],
    ['Zoë 🎉 <a@d.example>', 'Zoë 🎉', 'a@d.example'],
    ['"Quoted, Name" <a@d.example>', 'Quoted, Name', 'a@d.example'],
    ['"She said \\"hi\\" \\\\ <x@y.example>" <a@d.example>', 'She said "hi" \\ <x@y.example>', 'a@d.example'],
    ['"a b@c"@d.example', null, '"a b@c"@d.example'],
    ['Ann <"<"@d.example>', null, null],
    ['"\\""@d.example', null, '"\\""@d.example'],
    ['"Ann"@d.example', null, 'Ann@d.example'],
    ['"a\\n\\n"@d.example', null, 'ann@d.example'],
    ['"a..b"@d.example', null, '"a..b"@d.example'],
    ['"\\ x"@d.example', null, '" x"@d.example'],
    ['jürgen@d.example', null, 'jürgen@d.example'],
    ['用户@例子.广告', null, '用户@xn--fsqu00a.xn--4rr70v'],
    ['a@Bücher.example', null, 'a@xn--bcher-kva.example'],
    ['a@XN--BCHER-KVA.example', null, 'a@xn--bcher-kva.example'],
    ['a@x.xn--p1ai', null, 'a@x.xn--p1ai'],
    ['a@1.2.3.example', null, 'a@1.2.3.example'],
    ['<a@d.example>', null, 'a@d.example'],
    ['"" <a@d.example>', null, 'a@d.example'],
    ['" " <a@d.example>', null, 'a@d.example'],
    ['Ann < a@d.example >', 'Ann', 'a@d.example'],
    ['Acme, Inc. <a@d.example>', 'Acme, Inc.', 'a@d.example'],
    ['[Staging] Acme <a@d.example>', '[Staging] Acme', 'a@d.example'],
    ['John (Support) <a@d.example>', 'John (Support)', 'a@d.example'],
    ['Re: Order #5; paid <a@d.example>', 'Re: Order #5; paid', 'a@d.example'],
    ['ACME\\Sales <a@d.example>', 'ACME\\Sales', 'a@d.example'],
    ['"A" B, "C,  D" <a@d.example>', 'A B, C,  D', 'a@d.example'],
    ['a@own.example <b@other.example>', 'a@own.example', 'b@other.example'],
    ['"x@y.example, B" <a@d.example>', 'x@y.example, B', 'a@d.example'],
    ['=?utf-8?q?Acme,_Inc?= <a@d.example>', '=?utf-8?q?Acme,_Inc?=', 'a@d.example'],
    ['a@d.example (Cron Daemon)', 'Cron Daemon', 'a@d.example'],
    ['a@d.example(Ann, Bob)', 'Ann, Bob', 'a@d.example'],
    ['a@d.example ()', null, 'a@d.example'],
    ['.a@d.example', null, '".a"@d.example'],
    ['abc.@d.example', null, '"abc."@d.example'],
    ['Ann <a..b@d.example>', 'Ann', '"a..b"@d.example'],
    ["!#$%&'*+-/=?^_`{|}~@d.example", null, "!#$%&'*+-/=?^_`{|}~@d.example"],
    [`${'l'.repeat(64)}@d.example`, null, `${'l'.repeat(64)}@d.example`],
  ])('%j is read', (text, name, address) => {
    const mailbox = parseMailbox(text)
    expect(mailbox?.address ?? null).toBe(address)
    expect(mailbox?.name ?? null).toBe(name)
  })

  test.each([
    '',
    ' ',
    '@',
    'a',
    'a@',
    '@d.example',
    'a@d',
    'a@localhost',
    'a@d.example.',
    'a@.example',
    'a@d..example',
    'a@-d.example',
    'a@d-.example',
    'a@d_e.example',
    'a@[192.0.2.1]',
    'a@[IPv6:::1]',
    'a@192.0.2.1',
    'a@0x7f.1',
    'a@d.123',
    'a b@d.example',
    'a@b@d.example',
    '=?utf-8?q?ceo=40bank.example?=@d.example',
    'Ann <=?UTF-8?B?eA==?=@d.example>',
    '"=?utf-8?q?x?="@d.example',
    'a=?x?B?b@d.example',
    'a\u200bb@d.example',
    'a\u00adb@d.example',
    '"a@d.example',
    '"a"b@d.example',
    'a@d.example, b@d.example',
    'a@own.example, b@other',
    'a@own.example, Bob <b@other.example>',
    'a@own.example; Bob <b@other.example>',
    'a@own.example, "Bob" <b@other.example>',
    '"Bob <a@d.example>',
    'Bob "the builder <a@d.example>',
    'Bob > Ann <a@d.example>',
    'a@d.example (x) (y)',
    'a@d.example (x(y))',
    'a@d.example) (x)',
    'Ann b@d.example (x)',
    'a@d.example;b@d.example',
    'team: a@d.example;',
    '(x)a@d.example',
    '@r.example:a@d.example',
    'Ann <a@d.example> x',
    'Ann <a@d.example',
    'Ann a@d.example>',
    'Ann <<a@d.example>>',
    'Ann <>',
    'A <a@d.example>, B <b@d.example>',
    'a@d.example\r\n',
    'a@d.example\nBcc: x@y.example',
    'Ann\r\nBcc: x <a@d.example>',
    'a\0@d.example',
    'a@d%2eexample',
    'a%40b.example',
    'a@d.example>\r\nRCPT TO:<x@y.example',
    'A\u202eB <a@d.example>',
    'a\u00a0b@d.example',
    'a@xn--a.example',
    'a@\ud800.example',
    '\ud800@d.example',
    'a@d\u3002',
    'a＠d.example',
    `${'l'.repeat(65)}@d.example`,
    `${'ü'.repeat(33)}@d.example`,
    `a@${'d'.repeat(64)}.example`,
    `a@${LABEL_63}.${LABEL_63}.${LABEL_63}.${'d'.repeat(61)}`,
  ])('%j is refused', (text) => expect(parseMailbox(text)).toBeNull())

  // threat: address-string-confusion
  test('takes no time for names of quotes and backslashes, of which a message may have 1,500', async () => {
    const names = ['"\\'.repeat(488), '"'.repeat(977), '\\"'.repeat(488), `"${'\\'.repeat(975)}`]
    await expectCostUnder(300, () => {
      for (let i = 0; i < 1_500; i++) parseMailbox(`${names[i % names.length]} <a@d.example>`)
    })
  })

  // threat: address-string-confusion
  test('may be 254 octets long and no more', () => {
    const domain = `${LABEL_63}.${LABEL_63}.${LABEL_63}.${'d'.repeat(57)}.de`
    expect(domain).toHaveLength(252)
    expect(parseMailbox(`a@${domain}`)?.address).toHaveLength(254)
    expect(parseMailbox(`ab@${domain}`)).toBeNull()
  })

  // threat: address-string-confusion
  test('never throws, and a parsed address round-trips', () => {
    const part = fc.string({
      unit: fc.constantFrom('a', 'B', '.', '@', '<', '>', '"', '\\', ' ', ',', 'ü', '\t', '-', '\n', '('),
    })
    fc.assert(
      fc.property(
        fc.oneof(
          fc.string({ unit: 'binary' }),
          part,
          part.map((text) => `${text} <a@d.example>`),
        ),
        (text) => {
          const mailbox = parseMailbox(text)
          if (mailbox !== null) expect(parseMailbox(formatMailbox(mailbox))).toEqual(mailbox)
        },
      ),
      { numRuns: 2000, seed: 5 },
    )
  })
})

// threat: address-string-confusion
test('a domain becomes its lower-case A-label', () => {
  expect(toALabel('Own.Example')).toBe('own.example')
  expect(toALabel('ｅｘａｍｐｌｅ。ｃｏｍ')).toBe('example.com')
  expect(toALabel('faß.example')).toBe('xn--fa-hia.example')
  expect(toALabel(`${'\u00ad'.repeat(4_000)}own.example`)).toBe('own.example')
  expect(toALabel(`${'\u00ad'.repeat(5_000)}own.example`)).toBeNull()
  expect(['localhost', '', '*.own.example', 'own.example:25', 'a b.example', 'ü'].map(toALabel)).toEqual(
    Array(6).fill(null),
  )
})

test('a name is quoted when it has to be', () => {
  const mailbox = parseMailbox('a@d.example')!
  expect(formatMailbox(mailbox)).toBe('a@d.example')
  expect(formatMailbox({ ...mailbox, name: 'Zoë' })).toBe('Zoë <a@d.example>')
  expect(formatMailbox({ ...mailbox, name: 'Acme, "Inc."' })).toBe('"Acme, \\"Inc.\\"" <a@d.example>')
})

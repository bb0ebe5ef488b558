import { describe, expect, test } from 'bun:test'
import { addressesOf, decodeWords, firstAddress, parameterOf, readHeaderFields } from './header-fields.ts'

const read = (text: string | Uint8Array) => readHeaderFields(Buffer.from(text as string))
const pairs = (text: string | Uint8Array) => read(text).fields.map(({ name, value }) => [name, value])

describe('the header of a mail', () => {
  test.each<[string, string[][], number]>([
    ['', [], 0],
    ['\r\nbody', [], 2],
    ['\nbody', [], 1],
    ['A: b\r\n\r\nC: d', [['A', 'b']], 8],
    ['A: b\n\nC: d', [['A', 'b']], 6],
    ['A: b', [['A', 'b']], 4],
    ['A:b\r\n c\r\n\td\r\n\r\n', [['A', 'b c\td']], 15],
    ['A :  b  \r\n', [['A', 'b']], 10],
    ['A:\r\n', [['A', '']], 4],
    ['From x Sat Nov 21\nA: b\n\n', [['A', 'b']], 24],
    ['garbage\n goes on\nA: b\n\n', [['A', 'b']], 23],
    [' goes on\nA: b\n', [['A', 'b']], 14],
    [': no name\nA B: no name\nÄ: no name\nA: b\n', [['A', 'b']], 40],
    ['A: b\n \n c\n\n', [['A', 'b  c']], 11],
    ['A: b\rc\n', [['A', 'b\rc']], 7],
    [
      'A: b\r c\rD: e\r\rbody\r',
      [
        ['A', 'b c'],
        ['D', 'e'],
      ],
      14,
    ],
  ])('%j', (text, fields, bodyAt) => {
    expect(pairs(text)).toEqual(fields)
    expect(read(text).bodyAt).toBe(bodyAt)
  })

  test('says where each field stands, its line end included', () => {
    const text = 'junk\r\nSubject: a\r\n b\r\nTo: c\r\n\r\n'
    const { fields } = read(text)
    expect(fields.map(({ key, start, end }) => [key, text.slice(start, end)])).toEqual([
      ['subject', 'Subject: a\r\n b\r\n'],
      ['to', 'To: c\r\n'],
    ])
  })

  test('is UTF-8, or windows-1252 where it is none', () => {
    expect(pairs('A: ü')).toEqual([['A', 'ü']])
    expect(pairs(Buffer.from('A: ü', 'latin1'))).toEqual([['A', 'ü']])
  })

  test('reads at most two thousand fields of the first MiB and still finds the body', () => {
    const many = 'A: b\n'.repeat(3_000)
    expect(read(`${many}\nbody`).fields).toHaveLength(2_000)
    expect(read(`${many}\nbody`).bodyAt).toBe(many.length + 1)
    const long = `A: ${'x'.repeat(1_048_577)}\nB: c\n\nbody`
    expect(read(long)).toEqual({ fields: [], bodyAt: long.length - 4 })
  })
})

describe('encoded words', () => {
  test.each([
    ['plain', 'plain'],
    ['=?utf-8?Q?a_=C3=BC?=', 'a ü'],
    ['=?UTF-8?b?w7w=?= x', 'ü x'],
    ['a =?utf-8?q?b?= c', 'a b c'],
    ['=?utf-8?q?a?= =?utf-8?q?b?=', 'ab'],
    ['=?utf-8?q?a?=  \t =?iso-8859-1?q?=FC?=', 'aü'],
    ['=?utf-8?q?=C3?= =?utf-8?q?=BC?=', 'ü'],
    ['=?utf-8?b?w7w=?= =?utf-8?b?w7w=?=', 'üü'],
    ['=?utf-8*en?q?a?=', 'a'],
    ['=?utf-8?b?w7?= =?utf-8?b?w=?=', 'ü'],
    ['=?utf-8?b?4oKs4o?= =?utf-8?q??= =?utf-8?b?Ks?=', '€\ufffd*'],
    ['=?utf-8?b?4oKs4oK?= =?utf-8?b?s?=', '€€'],
    ['=?utf-8?b?w6TD?=\t =?utf-8?q?=A4?=', 'ää'],
    ['=?iso-2022-jp?B?GyRCJUYbKEI=?= =?iso-2022-jp?B?GyRCJTkbKEI=?=', 'テス'],
    ['=?utf-7?q?Gr+APw-n?=', 'Grün'],
    ['=?utf-8?q?Really??=', 'Really?'],
    ['=?utf-8?q?a?b?c?=', 'a?b?c'],
    ['=?iso-2022-jp?B?GyRCRnxLXBsoQg==?=', '日本'],
    ['=?koi8-r?q?=CA?=', 'й'],
    ['=?us-ascii?q?=C3=BC?=', 'ü'],
    ['=?x-none?q?a=C3=BC?=', 'aü'],
    ['=?x-none?q?a=FC?=', '=?x-none?q?a=FC?='],
    ['=?utf-8?q?a?= =?x-none?q?=FC?= =?utf-8?q?c?=', 'a =?x-none?q?=FC?= c'],
    ['=?x-none?q?=FC?= =?x-none?q?=FD?=', '=?x-none?q?=FC?= =?x-none?q?=FD?='],
    ['=?x-none?q?b?= =?x-none?q?c?=', 'bc'],
    ['=?utf-8?q?with spaces?=', 'with spaces'],
    ['=?utf-8?q?a=0D=0ABcc:=20x?=', 'a Bcc: x'],
    ['=?utf-8?q?=ZZ?=', '=ZZ'],
    ['=?utf-8?q?', '=?utf-8?q?'],
    ['=?utf-8?x?a?=', '=?utf-8?x?a?='],
  ])('%j', (value, text) => expect(decodeWords(value)).toBe(text))
})

describe('addresses', () => {
  test.each<[string, string[]]>([
    ['', []],
    ['a@b.example', ['a@b.example']],
    ['Name <A@B.Example>', ['A@b.example']],
    ['"a, b" <a@b.example>, c@d.example (hi (x) \\) )', ['a@b.example', 'c@d.example']],
    ['team: a@b.example, C <c@d.example>;, e@f.example', ['a@b.example', 'c@d.example', 'e@f.example']],
    ['undisclosed-recipients:;', []],
    ['Foo <a@b.example, Bar <c@d.example>', ['a@b.example', 'c@d.example']],
    ['<@r.example,@s.example:u@v.example>', ['u@v.example']],
    ['"x y"@z.example', ['"x y"@z.example']],
    ['<"a@b"@c.example>', ['"a@b"@c.example']],
    ['Name u@ü.example', ['u@xn--tda.example']],
    ['ü@b.example', ['ü@b.example']],
    ['=?utf-8?q?a=40x.example,?= <a@b.example>', ['a@b.example']],
    ['=?utf-8?q?a=40b.example?=', ['a@b.example']],
    ['mailto:a@b.example', ['a@b.example']],
    ['"unclosed <a@b.example>', ['a@b.example']],
    ['(unclosed <a@b.example>', ['a@b.example']],
    ['< a @ b . example >', ['a@b.example']],
    ['a@[192.0.2.1]', ['a@[192.0.2.1]']],
    ['root@localhost', ['root@localhost']],
    ['a@b.example;c@d.example', ['a@b.example', 'c@d.example']],
    ['((a@b.example', ['a@b.example']],
    ['@@b.example, a@b@c.example', []],
    ['<>, @, a@, @b.example, a b, <a b@c.example>, <a@b c>', []],
    [`${'x'.repeat(330)}@b.example, a@b.example`, ['a@b.example']],
  ])('%j', (value, addresses) => {
    expect(addressesOf(value)).toEqual(addresses)
    expect(firstAddress(value)).toBe(addresses[0] ?? null)
  })

  test('are two thousand at most', () => {
    expect(addressesOf('a@b.example,'.repeat(3_000))).toHaveLength(2_000)
  })
})

describe('a parameter', () => {
  test.each<[string, string, string | null]>([
    ['text/plain', 'charset', null],
    ['text/plain; charset=UTF-8', 'charset', 'UTF-8'],
    ['text/plain; CharSet = "utf-8" ; x=y', 'CHARSET', 'utf-8'],
    ['text/plain; charset=utf-8 (really)', 'charset', 'utf-8'],
    ['multipart/mixed; x="a; boundary=no"; boundary="b;\\"c"', 'boundary', 'b;"c'],
    ['a/b; name="=?utf-8?q?=C3=BC?="', 'name', 'ü'],
    ["a/b; name*=UTF-8'de'%C3%BC%20x", 'name', 'ü x'],
    ["a/b; name*=iso-8859-1''%FC", 'name', 'ü'],
    ['a/b; name*1="b"; name*0="a"; name*2=c', 'name', 'abc'],
    ["a/b; name*0*=utf-8''%C3; name*1*=%BC; name*2=%41", 'name', 'ü%41'],
    ["a/b; name*=x-none''%FC", 'name', 'ü'],
    ['a/b; name*1=b', 'name', null],
    ['a/b; name=first; name=second', 'name', 'first'],
    ['a/b; name="never closed', 'name', 'never closed'],
    ["a/b; name=plain; name*=utf-8''%C3%BC", 'name', 'ü'],
    ['a/b; name*0="=?utf-8?q?=C3"; name*1="=BC?="', 'name', 'ü'],
    ['a/b; name=two words.pdf; x=y', 'name', 'two words.pdf'],
    ['a/b; name="C:\\x\\y.pdf"', 'name', 'C:\\x\\y.pdf'],
    ['a/b; name="C:\\\\x\\"y"', 'name', 'C:\\x"y'],
    ['a/b; name=', 'name', ''],
  ])('%j %s', (value, name, text) => expect(parameterOf(value, name)).toBe(text))
})

import { describe, expect, test } from 'bun:test'
import { asMail } from '../../test/support/fixtures.ts'
import { leavesOf, readParts, readTexts, textOf } from './mime-parts.ts'

const leaves = (text: string) => leavesOf(readParts(asMail(text))).map((part) => [part.type, textOf(part)])

describe('the parts of a mail', () => {
  test.each<[string, string, string[][]]>([
    ['a plain mail', 'Subject: x\n\nHello\n', [['text/plain', 'Hello\n']]],
    ['a mail without a header', '\nHello', [['text/plain', 'Hello']]],
    [
      'two levels',
      'Content-Type: multipart/mixed; boundary=a\n\npreamble\n--a\nContent-Type: multipart/alternative; boundary="a b"\n\n--a b\n\none\n--a b\nContent-Type: TEXT/HTML\n\n<p>\n--a b--\n--a  \nContent-Type: x/y\n\ntwo\n\n--a--\nepilogue\n--a\n\nno\n',
      [
        ['text/plain', 'one'],
        ['text/html', '<p>'],
        ['x/y', 'two\n'],
      ],
    ],
    [
      'no closing delimiter',
      'Content-Type: multipart/mixed; boundary=a\n\n--a\n\none\n--a\n\ntwo\n',
      [
        ['text/plain', 'one'],
        ['text/plain', 'two\n'],
      ],
    ],
    [
      'a boundary that begins another, and one within a line',
      'Content-Type: multipart/mixed; boundary=a\n\n--a\n\n--ab\nx--a\n--a--\n',
      [['text/plain', '--ab\nx--a']],
    ],
    [
      'a lost boundary parameter',
      'Content-Type: multipart/mixed\n\n--lost\n\none\n--lost--\n',
      [['text/plain', 'one']],
    ],
    ['no delimiter at all', 'Content-Type: multipart/mixed; boundary=a\n\none\n', [['multipart/mixed', 'one\n']]],
    ['an empty part', 'Content-Type: multipart/mixed; boundary=a\n\n--a\n--a--\n', [['text/plain', '']]],
    [
      'a digest',
      'Content-Type: multipart/digest; boundary=a\n\n--a\n\nSubject: x\n\ny\n--a--\n',
      [['message/rfc822', 'Subject: x\n\ny']],
    ],
    ['base64', 'Content-Transfer-Encoding: BASE64\n\nw7\nw=\n', [['text/plain', 'ü']]],
    [
      'quoted-printable',
      'Content-Type: text/plain; charset=iso-8859-1\nContent-Transfer-Encoding: quoted-printable\n\n=fc=FC= \t\nsoft=\n=ZZ= x=3D\n=',
      [['text/plain', 'üüsoft=ZZ= x=\n']],
    ],
    ['an unknown encoding', 'Content-Transfer-Encoding: x-uuencode\n\n=41', [['text/plain', '=41']]],
    ['an unknown charset', 'Content-Type: text/plain; charset=x-none\n\nü', [['text/plain', 'ü']]],
    ['8-bit text labelled ASCII', 'Content-Type: text/plain; charset=us-ascii\n\nü', [['text/plain', 'ü']]],
  ])('%s', (_, text, expected) => {
    expect(leaves(text)).toEqual(expected)
    expect(leavesOf(readParts(Buffer.from(text))).map((part) => [part.type, textOf(part)])).toEqual(expected)
  })

  test('a text around a uuencoded file keeps the type of its part, and no other field of it', () => {
    const text = 'Hello\n\nbegin 644 cat.txt\n#0V%T\n`\nend\n'
    const header = 'Content-Type: text/plain\nContent-Description: both\nContent-Transfer-Encoding: x-uuencode\n'
    const root = readParts(asMail(`${header}\n${text}`))
    expect(leavesOf(root).map(({ fields }) => fields.map(({ key }) => key))).toEqual([
      ['content-type'],
      ['content-transfer-encoding', 'content-disposition'],
    ])
  })

  test('are bounded: a thousand of them, twenty levels', () => {
    const wide = `Content-Type: multipart/mixed; boundary=a\n\n${'--a\n\nx\n'.repeat(3_000)}`
    expect(leaves(wide)).toHaveLength(999)
    let deep = 'Content-Type: x/bottom\n\n'
    for (let level = 40; level > 0; level--) {
      deep = `Content-Type: multipart/mixed; boundary=b${level}\n\n--b${level}\n${deep}\n--b${level}--\n`
    }
    expect(leaves(deep).map(([type]) => type)).toEqual(['multipart/mixed'])
  })
})

describe('the texts of a mail', () => {
  test.each<[string, string, string | null, string | null]>([
    ['plain', 'Subject: x\n\nHello\n', 'Hello\n', null],
    ['html alone', 'Content-Type: text/html\n\n<p>\n', null, '<p>\n'],
    ['neither', 'Content-Type: image/png\n\nx', null, null],
    [
      'both after an attached text',
      'Content-Type: multipart/mixed; boundary=a\n\n--a\nContent-Disposition: attachment; filename=x.txt\n\nno\n--a\nContent-Type: text/html\n\n<p>\n--a\n\nyes\n--a--\n',
      'yes',
      '<p>',
    ],
    [
      'not of an attached mail',
      'Content-Type: multipart/mixed; boundary=a\n\n--a\nContent-Type: message/rfc822\n\nSubject: x\n\nno\n--a--\n',
      null,
      null,
    ],
  ])('%s', (_, mail, text, html) => expect(readTexts(asMail(mail))).toEqual({ text, html }))

  test('are found behind a large attachment', () => {
    const large = `Content-Type: multipart/mixed; boundary=a\n\n--a\nContent-Type: x/y\n\n${'x\n'.repeat(1_000_000)}\n--a\n\nyes\n--a--\n`
    expect(readTexts(Buffer.from(large)).text).toBe('yes')
  })
})

import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { simpleParser } from 'mailparser'
import { readHeaderFields } from './header-fields.ts'
import { plainTexts } from './plain-mail.ts'

const OPTIONS = { skipHtmlToText: true, skipTextToHtml: true, skipTextLinks: true, skipImageLinks: true }

const own = (raw: Buffer) => {
  const { fields, bodyAt } = readHeaderFields(raw)
  return plainTexts(raw, fields, bodyAt)
}

/** As parse.ts has it read when it is not plain. */
async function theirs(raw: Buffer) {
  const { text, html, attachments } = await simpleParser(raw, OPTIONS)
  expect(attachments).toEqual([])
  return { text: text ?? '', html: html || '' }
}

const mail = (lines: string[], body: string) => Buffer.from(`${['Subject: x', ...lines].join('\r\n')}\r\n\r\n${body}`)
const alternative = (boundary: string, ...parts: string[]) =>
  mail(
    [`Content-Type: multipart/alternative; boundary="${boundary}"`],
    `${parts.map((part) => `--${boundary}\r\n${part}\r\n`).join('')}--${boundary}--\r\n`,
  )

describe('plain mail', () => {
  test.each([
    ['nothing said', mail([], 'Hello\r\n')],
    ['no body', mail([], '')],
    ['HTML', mail(['Content-Type: text/html; charset=utf-8'], '<p>Grüße</p>\r\n\r\n')],
    ['HTML, folded', mail(['Content-Type: text/html;', '\tcharset="UTF-8"'], '<p>\r\n')],
    ['quoted-printable', mail(['Content-Transfer-Encoding: quoted-printable'], 'Gr=C3=BC=\r\n=C3=9Fe =3D\r\n.\r\n')],
    ['base64', mail(['Content-Transfer-Encoding: base64'], 'R3LDvMOf\r\nZSENCkEK\r\nQg==\r\n')],
    ['8 bit in ASCII', mail(['Content-Type: text/plain; charset=us-ascii'], 'Gr\xfc\xdfe\r\n')],
    ['both texts', alternative('b', '\r\nHello\r\n', 'Content-Type: text/html\r\n\r\n<p>Hello</p>')],
    ['HTML in front', alternative('=_1.b', 'Content-Type: text/html\r\n\r\n<p>', 'Content-Type: text/plain\r\n\r\nx')],
  ])('%s: is read, as mailparser does it', async (_, raw) => {
    expect(own(raw)).toEqual(await theirs(raw))
  })

  test.each([
    ['an attachment', mail(['Content-Disposition: attachment'], 'x')],
    ['another type', mail(['Content-Type: text/calendar'], 'x')],
    ['another charset', mail(['Content-Type: text/plain; charset=iso-8859-1'], 'x')],
    ['flowed', mail(['Content-Type: text/plain; format=flowed'], 'x')],
    ['a type twice', mail(['Content-Type: text/plain', 'Content-Type: text/html'], 'x')],
    ['a blank in front of the colon', mail(['Content-Type : text/html'], 'x')],
    ['an unknown encoding', mail(['Content-Transfer-Encoding: x-uuencode'], 'x')],
    ['= before nothing', mail(['Content-Transfer-Encoding: quoted-printable'], 'a=b\r\n')],
    ['= at the end', mail(['Content-Transfer-Encoding: quoted-printable'], 'a=')],
    ['base64 with words in it', mail(['Content-Transfer-Encoding: base64'], 'R3LD vMOf\r\n')],
    ['a third part', alternative('b', '\r\nx', 'Content-Type: text/html\r\n\r\nx', 'Content-Type: text/html\r\n\r\ny')],
    ['two of a kind', alternative('b', '\r\nx', '\r\ny')],
    ['a part without header', alternative('b', 'x', 'Content-Type: text/html\r\n\r\nx')],
    ['the boundary inside', alternative('b', '\r\nx --b', 'Content-Type: text/html\r\n\r\nx')],
    ['a preamble', mail(['Content-Type: multipart/alternative; boundary=b'], 'x\r\n--b\r\n\r\nx\r\n--b--\r\n')],
  ])('%s: is left to mailparser', (_, raw) => {
    expect(own(raw)).toBeNull()
  })

  test('whatever it reads, mailparser reads the same', async () => {
    const eol = fc.constantFrom('\r\n', '\r\n', '\r\n\r\n', '\n', ' \r\n')
    const words = fc.constantFrom(
      'Hello',
      'ü',
      '=',
      '=C3=BC',
      '=3d',
      '--b',
      '-',
      '.',
      '\t',
      '\ufeff',
      'QUJD',
      'QQ==',
      '\0',
    )
    const body = fc.array(fc.oneof(words, eol), { maxLength: 8 }).map((pieces) => pieces.join(''))
    const type = fc.constantFrom(
      '',
      'text/plain',
      'text/html',
      'TEXT/HTML; charset="utf-8"',
      'text/plain;charset=us-ascii',
    )
    const encoding = fc.constantFrom('', '', '7bit', '8BIT', 'quoted-printable', 'Quoted-Printable', 'base64')
    const part = fc.record({ type, encoding, body }).map(({ type, encoding, body }) => {
      const lines = [type && `Content-Type: ${type}`, encoding && `Content-Transfer-Encoding: ${encoding}`]
      return `${lines.flatMap((line) => (line === '' ? [] : [`${line}\r\n`])).join('')}\r\n${body}`
    })
    const single = part.map((text) => Buffer.from(`Subject: x\r\n${text}`))
    const both = fc.array(part, { minLength: 2, maxLength: 2 }).map((parts) => alternative('b', ...parts))
    let read = 0
    const property = fc.asyncProperty(fc.oneof(single, both), async (raw) => {
      const found = own(raw)
      if (found === null) return
      read++
      expect(found).toEqual(await theirs(raw))
    })
    await fc.assert(property, { numRuns: 600, seed: 25 })
    expect(read).toBeGreaterThan(150)
  })
})

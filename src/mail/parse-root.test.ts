import { expect, test } from 'bun:test'
import { type Attachment, simpleParser } from 'mailparser'
import { parseMail } from './parse.ts'

const ATTACHED = 'Content-Disposition: attachment; filename='
const INLINE = 'Content-Disposition: inline; filename='

/** Header of a mail without parts → what its body is. */
test.each([
  ['Content-Type: text/plain', 'text'],
  ['Content-Type: text/plain; name=a.txt', 'text'],
  ['Content-Type: text/plain; name=a.pdf', 'text'],
  [`Content-Type: text/plain\r\n${INLINE}a.txt`, 'text'],
  ['Content-Type: text/html; name=a.html', 'html'],
  [`Content-Type: text/html\r\n${INLINE}a.html`, 'html'],
  ['Content-Type: text/plain; name=a.txt\r\nContent-Disposition: attachment', 'a.txt text/plain'],
  [`Content-Type: text/plain\r\n${ATTACHED}a.txt`, 'a.txt text/plain'],
  [`Content-Type: text/html\r\n${ATTACHED}a.html`, 'a.html text/html'],
  [`${ATTACHED}a.txt`, 'a.txt text/plain'],
  ['Content-Type: application/octet-stream; name=a.txt', 'a.txt text/plain'],
  ['Content-Type: application/octet-stream; name=a.html', 'a.html text/html'],
  ['Content-Type: application/octet-stream; name=a.pdf', 'a.pdf application/pdf'],
  [`Content-Type: application/octet-stream\r\n${INLINE}a.txt`, 'a.txt text/plain'],
  [`Content-Type: Application/Octet-Stream\r\n${ATTACHED}a.log`, 'a.log text/plain'],
  ['Content-Type: binary/octet-stream; name=a.txt', 'a.txt binary/octet-stream'],
  ['Content-Type: text/csv; name=a.csv', 'a.csv text/csv'],
  ['Content-Type: text/markdown; name=a.md', 'a.md text/markdown'],
  ['Content-Type: application/pdf; name=a.pdf', 'a.pdf application/pdf'],
  [`Content-Type: image/png\r\n${INLINE}a.png`, 'a.png image/png'],
])('the body of a mail with %j is its %s, as with mailparser', async (header, expected) => {
  const raw = Buffer.from(`Subject: x\r\nMIME-Version: 1.0\r\n${header}\r\n\r\nHello\r\n`)
  const kind = (text: unknown, html: unknown, [file]: Pick<Attachment, 'filename' | 'contentType'>[]) =>
    file ? `${file.filename} ${file.contentType}` : html ? 'html' : text ? 'text' : 'nothing'
  const { parsed } = await parseMail(raw, new Promise<never>(() => {}))
  expect(kind(parsed.textBody, parsed.htmlBody, parsed.attachments)).toBe(expected)
  const theirs = await simpleParser(raw)
  expect(kind(theirs.text, theirs.html, theirs.attachments)).toBe(expected)
})

test('a file without a type of its own is an attachment, also where it is the first part', async () => {
  const parts = [
    '--b',
    'Content-Type: application/octet-stream; name=a.txt',
    '',
    'file',
    '--b',
    '',
    'Hello',
    '--b--',
    '',
  ]
  const raw = Buffer.from(['Content-Type: multipart/mixed; boundary=b', '', ...parts].join('\r\n'))
  const { parsed } = await parseMail(raw, new Promise<never>(() => {}))
  expect(parsed).toMatchObject({ textBody: 'Hello', attachments: [{ filename: 'a.txt', sizeBytes: 4 }] })
})

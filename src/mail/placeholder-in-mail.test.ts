import { expect, test } from 'bun:test'
import { placeholderInMail } from './placeholder-in-mail.ts'

const mail = (...lines: string[]) => Buffer.from(lines.join('\r\n'))
const HTML = '<p>Hi</p><a href="{{amazonSESUnsubscribeUrl}}">Stop</a>'
const part = (type: string, encoding: string, body: string, more = '') =>
  mail(
    'MIME-Version: 1.0',
    'Content-Type: multipart/mixed; boundary=b',
    '',
    '--b',
    `Content-Type: ${type}${more}`,
    `Content-Transfer-Encoding: ${encoding}`,
    '',
    body,
    '--b--',
    '',
  )
const base64 = (text: string) => Buffer.from(text).toString('base64')

test.each([
  ['as plain text', mail('Subject: x', '', 'Stop: %tag_unsubscribe_url%'), '%tag_unsubscribe_url%'],
  [
    'across a soft line break',
    part('text/plain', 'quoted-printable', 'Stop: %unsub=\r\nscribe_url%'),
    '%unsubscribe_url%',
  ],
  [
    'with encoded signs',
    part('text/html', 'quoted-printable', '<a href=3D"=7B=7Bunsubscribe=7D=7D">'),
    '{{unsubscribe}}',
  ],
  ['in base64', part('text/html; charset=utf-8', 'base64', base64(HTML)), '{{amazonSESUnsubscribeUrl}}'],
  [
    'in UTF-16',
    part('text/html; charset=utf-16le', 'base64', Buffer.from(HTML, 'utf16le').toString('base64')),
    '{{amazonSESUnsubscribeUrl}}',
  ],
  ['in List-Unsubscribe', mail('List-Unsubscribe: <mailto:%unsubscribe_url%>', '', 'x'), '%unsubscribe_url%'],
])('the placeholder is found %s', (_, raw, placeholder) => {
  expect(placeholderInMail(raw)).toBe(placeholder)
})

test.each([
  ['a mail without one', mail('Subject: x', '', 'Unsubscribe: https://shop.example/unsubscribe')],
  ['an attachment', part('text/html', 'base64', base64(HTML), '\r\nContent-Disposition: attachment; filename=a.html')],
  ['another type', part('text/x-patch', '7bit', HTML)],
  ['code in a text', mail('Subject: x', '', '+<a href="{{ unsubscribe_url }}">')],
  ['bytes that are no mail', Buffer.from([0, 255, 13, 10, 13, 10, 128])],
])('none is found in %s', (_, raw) => {
  expect(placeholderInMail(raw)).toBeNull()
})

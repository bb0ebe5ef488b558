import { expect, test } from 'bun:test'
import { packMime } from './mime-content.ts'
import { shownContent } from './shown-content.ts'

const MULTIPART = [
  'From: a@example.com',
  'Subject: =?utf-8?Q?Gr=C3=BC=C3=9Fe?=',
  'X-Order: o-17',
  'Received: one',
  'Received: two',
  'Content-Type: multipart/mixed; boundary=m',
  '',
  '--m',
  'Content-Type: multipart/alternative; boundary=a',
  '',
  '--a',
  'Content-Type: text/plain; charset=iso-8859-1',
  'Content-Transfer-Encoding: quoted-printable',
  '',
  'gr=FCn',
  '--a',
  'Content-Type: text/html',
  '',
  '<p>green</p>',
  '--a--',
  '--m',
  'Content-Type: text/plain',
  'Content-Disposition: attachment; filename="../notes.txt"',
  '',
  'notes',
  '--m',
  'Content-Type: image/png',
  'Content-ID: <logo@x>',
  'Content-Transfer-Encoding: base64',
  '',
  'aGk=',
  '--m',
  'Content-Type: text/plain',
  '',
  'a footer',
  '--m--',
  '',
].join('\r\n')

test('an author’s mail shows its text, its html, and everything else as attachments', () => {
  const { attachments, ...shown } = shownContent(packMime(Buffer.from(MULTIPART)))
  expect(shown).toEqual({
    subject: 'Grüße',
    html: '<p>green</p>',
    text: 'grün',
    headers: [
      ['X-Order', 'o-17'],
      ['Received', 'one'],
      ['Received', 'two'],
    ],
  })
  const listed = attachments.map(({ content, ...rest }) => ({ ...rest, content: Buffer.from(content).toString() }))
  expect(listed).toEqual([
    { filename: '.._notes.txt', contentType: 'text/plain', contentId: null, content: 'notes' },
    { filename: 'attachment-2.png', contentType: 'image/png', contentId: 'logo@x', content: 'hi' },
    { filename: 'attachment-3.txt', contentType: 'text/plain', contentId: null, content: 'a footer' },
  ])
})

test('a mail of one part has no attachments and may have no text', () => {
  const plain = shownContent(packMime(Buffer.from('From: a@example.com\r\n\r\nHello\r\n')))
  expect(plain).toEqual({ subject: '', html: null, text: 'Hello\n', headers: [], attachments: [] })
  const html = packMime(Buffer.from('Content-Type: text/html\r\n\r\n<p>'))
  expect([shownContent(html).html, shownContent(html).text]).toEqual(['<p>', null])
})

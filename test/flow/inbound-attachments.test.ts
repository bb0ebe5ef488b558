import { afterAll, beforeAll, expect, test } from 'bun:test'
import { RECEIVING, receive } from '../compat/receive.ts'
import { type RemoteMx, startRemoteMx } from '../support/remote-mx.ts'
import { startTestServer, type TestServer } from '../support/server.ts'

/** Attachments of mail that came over SMTP, each cut from the raw mail by a confined reader. */

let remote: RemoteMx
let server: TestServer
beforeAll(async () => {
  remote = await startRemoteMx()
  server = await startTestServer({ remote, config: RECEIVING })
})
afterAll(async () => {
  await server.close()
  await remote.stop()
})

/** Every attachment of a message as the record lists it, with its bytes as text. */
async function attachmentsOf(id: string) {
  const { attachments } = await server.read(`/v1/inbound-messages/${id}`)
  const found = []
  for (const [at, { filename, size }] of attachments.entries()) {
    const { status, text, headers } = await server.ask('GET', `/v1/inbound-messages/${id}/attachments/${at + 1}`)
    expect([status, headers.get('x-content-type-options')]).toEqual([200, 'nosniff'])
    expect(Buffer.byteLength(text)).toBe(size)
    found.push([filename, text])
  }
  return found
}

test('a simple multipart gives each of its attachments', async () => {
  const attachments = [
    { filename: 'a.txt', content: 'first' },
    { filename: 'b.html', content: '<script>alert(1)</script>' },
  ]
  expect(await attachmentsOf(await receive(server, { html: undefined, attachments }))).toEqual([
    ['a.txt', 'first'],
    ['b.html', '<script>alert(1)</script>'],
  ])
})

test('a nested multipart gives its attachments in the order of the record, and an attached mail whole', async () => {
  const inner = [
    'From: Cy <cy@author.example>',
    'Subject: inner',
    'Content-Type: multipart/mixed; boundary=i',
    '',
    '--i',
    '',
    'Hello',
    '--i',
    'Content-Disposition: attachment; filename=deep.txt',
    '',
    'deep',
    '--i--',
  ]
  const raw = [
    'From: Bob <bob@author.example>',
    'Subject: nested',
    'MIME-Version: 1.0',
    'Content-Type: multipart/mixed; boundary=a',
    '',
    '--a',
    'Content-Type: multipart/related; boundary=b',
    '',
    '--b',
    'Content-Type: multipart/alternative; boundary=c',
    '',
    '--c',
    '',
    'text',
    '--c',
    'Content-Type: text/html',
    '',
    '<img src="cid:logo">',
    '--c--',
    '--b',
    'Content-Type: image/png; name="../../logo\u202e.png"',
    'Content-ID: <logo>',
    'Content-Transfer-Encoding: base64',
    '',
    'aGVsbG8=',
    '--b--',
    '--a',
    'Content-Type: message/rfc822',
    '',
    ...inner,
    '--a',
    'Content-Disposition: attachment; filename="last.txt"',
    '',
    'last',
    '--a--',
    '',
  ].join('\r\n')
  expect(await attachmentsOf(await receive(server, { raw }))).toEqual([
    ['.._.._logo.png', 'hello'],
    ['attachment-2.eml', inner.join('\r\n')],
    ['last.txt', 'last'],
  ])
})

import { afterAll, beforeAll, expect, test } from 'bun:test'
import { describeWithPeers, dkimpyResultsOfAll, mailDkimResultsOfAll, swaks } from '../support/real-peers.ts'
import { type RemoteMx, startRemoteMx } from '../support/remote-mx.ts'
import { DOMAIN, startTestServer, type TestServer } from '../support/server.ts'

/** A header field added on top of a mail that we signed: two other verifiers must detect it, since mail readers show
 *  the first of two. RFC 6376 §8.15. */

const ADDED: Record<string, string> = {
  From: 'Eve <eve@evil.example>',
  Sender: 'eve@evil.example',
  'Reply-To': 'eve@evil.example',
  To: 'eve@evil.example',
  Cc: 'eve@evil.example',
  Subject: 'Your invoice has a new account number',
  Date: 'Thu, 01 Jan 2026 00:00:00 +0000',
  'Message-ID': '<other@evil.example>',
  'In-Reply-To': '<other@evil.example>',
  References: '<other@evil.example>',
  'MIME-Version': '1.0',
  'Content-Type': 'multipart/mixed; boundary=hidden',
  'Content-Transfer-Encoding': 'base64',
  'Content-Disposition': 'attachment; filename=invoice.html',
  'Disposition-Notification-To': 'eve@evil.example',
  'List-Id': '<evil.example>',
  'List-Post': '<mailto:eve@evil.example>',
  'List-Unsubscribe': '<https://evil.example/u>',
  'List-Unsubscribe-Post': 'List-Unsubscribe=One-Click',
  'Feedback-ID': 'a:b:c:evil',
}
/** What forwarders may add. */
const HARMLESS: Record<string, string> = {
  Received: 'from a by b; Thu, 01 Jan 2026 00:00:00 +0000',
  'Resent-From': 'ann@other.example',
  'Resent-Date': 'Thu, 01 Jan 2026 00:00:00 +0000',
  'X-Forwarded-To': 'bob@other.example',
}
const BOTH = (result: string) => [`ed25519-sha256 ${DOMAIN} ${result}`, `rsa-sha256 ${DOMAIN} ${result}`]
const RSA = (result: string) => [`rsa-sha256 ${DOMAIN} ${result}`]

describeWithPeers('a signed mail', () => {
  let server: TestServer
  let remote: RemoteMx
  const mails: Record<string, Buffer> = {}

  beforeAll(async () => {
    remote = await startRemoteMx()
    const submission = { listen: '127.0.0.1:0' }
    server = await startTestServer({ remote, config: { smtp: { inbound: { listen: 'off' }, submission } } })
    const take = async (name: string, handIn: () => Promise<unknown>) => {
      const before = remote.mails.length
      await handIn()
      mails[name] = Buffer.from((await remote.received(before + 1))[before]!.raw)
    }
    const to = 'ann@one.remote.example'
    await take('composed', () => server.send({ to, subject: 'Hello', html: '<p>Hi</p>', unsubscribe: true }))
    await take('plain', () => server.send({ to, subject: 'Hello', text: 'Hi' }))
    await take('finished', () =>
      swaks(
        server.running().listening.smtpSubmission!,
        ...['--tls', '--auth', 'PLAIN', '--auth-user', 'x', '--auth-password', server.keys.live],
        ...['--from', `shop@${DOMAIN}`, '--to', to, '--header', 'Subject: Hello', '--body', 'Hi'],
      ),
    )
  })
  afterAll(async () => {
    await server?.close()
    await remote?.stop()
  })

  // threat: dkim-added-header
  for (const name of ['composed', 'plain', 'finished']) {
    test(`are broken for dkimpy and Mail::DKIM by an added copy of any header that readers use: ${name}`, async () => {
      const mail = mails[name]!
      const fields = Object.entries({ ...ADDED, ...HARMLESS })
      const changed = fields.map(([field, value]) => Buffer.concat([Buffer.from(`${field}: ${value}\r\n`), mail]))
      const all = [mail, ...changed]
      const [dkimpy, perl] = await Promise.all([
        dkimpyResultsOfAll(all, server.zone),
        mailDkimResultsOfAll(all, server.zone),
      ])
      const seen = Object.fromEntries(
        ['unchanged', ...fields.map(([field]) => field)].map((field, at) => [field, [dkimpy[at], perl[at]]]),
      )
      const expected = Object.fromEntries([
        ['unchanged', [BOTH('pass'), RSA('pass')]],
        ...Object.keys(ADDED).map((field) => [field, [BOTH('fail'), RSA('fail')]]),
        ...Object.keys(HARMLESS).map((field) => [field, [BOTH('pass'), RSA('pass')]]),
      ])
      expect(seen).toEqual(expected)
    })
  }
})

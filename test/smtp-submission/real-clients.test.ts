import { afterAll, beforeAll, expect, test } from 'bun:test'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { simpleParser } from 'mailparser'
import { createTransport } from 'nodemailer'
import { describeWithPeers, dkimpyResults, swaks } from '../support/real-peers.ts'
import { type ReceivedMail, type RemoteMx, startRemoteMx } from '../support/remote-mx.ts'
import { DOMAIN, startTestServer, type TestServer } from '../support/server.ts'
import { dkimResults } from '../support/verify.ts'
import { clientOptions } from './setup.ts'

/** Third-party mail clients submit mail; a third-party verifier checks what the recipient's MX got. */

const BOTH_PASS = [`ed25519-sha256 ${DOMAIN} pass`, `rsa-sha256 ${DOMAIN} pass`]
const CONTENT = Buffer.from(Array.from({ length: 60_000 }, (_, i) => (i * 7 + (i >> 8)) & 255))

describeWithPeers('submission', () => {
  let server: TestServer
  let remote: RemoteMx
  let folder: string

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'postrider-peers-'))
    remote = await startRemoteMx()
    const submission = { listen: '127.0.0.1:0', listen_tls: '127.0.0.1:0' }
    server = await startTestServer({ remote, config: { smtp: { inbound: { listen: 'off' }, submission } } })
  })
  afterAll(async () => {
    await server?.close()
    await remote?.stop()
    rmSync(folder, { recursive: true, force: true })
  })

  const addressFor = (tls: 'starttls' | 'implicit'): string => {
    const { smtpSubmission, smtpSubmissionTls } = server.running().listening
    return (tls === 'starttls' ? smtpSubmission : smtpSubmissionTls)!
  }
  const credentials = (mechanism: string, password = server.keys.live) => [
    ...['--auth', mechanism, '--auth-user', 'anybody', '--auth-password', password],
  ]
  /** What the remote MX gets of the next submitted mail. */
  async function arrivedBy(handingIn: () => Promise<unknown>): Promise<ReceivedMail> {
    const before = remote.mails.length
    await handingIn()
    return (await remote.received(before + 1))[before]!
  }

  for (const mechanism of ['PLAIN', 'LOGIN'] as const) {
    for (const tls of ['starttls', 'implicit'] as const) {
      const mail = { from: `shop@${DOMAIN}`, to: 'ann@one.remote.example', subject: `${mechanism} ${tls}` }

      test(`swaks with AUTH ${mechanism}, TLS ${tls}: the mail arrives with two signatures that dkimpy verifies`, async () => {
        const { raw, rcptTo, mailFrom } = await arrivedBy(async () => {
          const said = await swaks(
            addressFor(tls),
            ...[tls === 'starttls' ? '--tls' : '--tls-on-connect', ...credentials(mechanism)],
            ...['--from', mail.from, '--to', mail.to, '--header', `Subject: ${mail.subject}`, '--body', '.\n..\nHi\n'],
          )
          expect(said).toMatchObject({ exitCode: 0, output: expect.stringMatching(/250 2\.0\.0 queued as msg_/) })
        })
        expect(rcptTo).toEqual([mail.to])
        expect(mailFrom).toEndWith(`@bounces.${DOMAIN}`)
        expect(await dkimpyResults(raw, server.zone)).toEqual(BOTH_PASS)
        const { subject, text } = await simpleParser(raw)
        expect([subject, text!.trimEnd().split(/\r?\n/)]).toEqual([mail.subject, ['.', '..', 'Hi']])
      })

      test(`nodemailer with AUTH ${mechanism}, TLS ${tls}: the mail arrives with two signatures that dkimpy verifies`, async () => {
        const port = Number(addressFor(tls).split(':').at(-1))
        const { raw } = await arrivedBy(async () => {
          const transport = createTransport({
            ...clientOptions(port, server.keys.live),
            ...(tls === 'implicit' && { secure: true, requireTLS: false }),
            authMethod: mechanism,
          })
          await transport.sendMail({ ...mail, to: 'Ännchen <ann@one.remote.example>', text: 'Grüße 🎁' })
          transport.close()
        })
        expect(await dkimpyResults(raw, server.zone)).toEqual(BOTH_PASS)
      })
    }
  }

  test('an attachment arrives byte for byte, and the signatures verify with it', async () => {
    writeFileSync(join(folder, 'data.bin'), CONTENT)
    const { raw } = await arrivedBy(() =>
      swaks(
        addressFor('starttls'),
        ...[
          '--tls',
          '--pipeline',
          ...credentials('PLAIN'),
          '--from',
          `shop@${DOMAIN}`,
          '--to',
          'ann@one.remote.example',
        ],
        ...['--body', 'See the file.', '--attach-name', 'data.bin', '--attach', `@${join(folder, 'data.bin')}`],
      ),
    )
    expect((await simpleParser(raw)).attachments[0]!.content.equals(CONTENT)).toBe(true)
    expect(await dkimpyResults(raw, server.zone)).toEqual(BOTH_PASS)
  })

  test('both verifiers detect a mail that was changed in transit', async () => {
    const mail = remote.mails[0]!.raw.toString('latin1')
    const changed = Buffer.from(mail.replace(/^Subject: .*$/m, 'Subject: other'), 'latin1')
    const fail = BOTH_PASS.map((pass) => pass.replace('pass', 'fail'))
    expect(await dkimpyResults(changed, server.zone)).toEqual(fail)
    expect(await dkimResults(changed, server.zone)).toEqual(fail)
  })

  test('swaks gets errors for a wrong password and a foreign author, and may log in in cleartext on this machine', async () => {
    const mail = ['--from', `shop@${DOMAIN}`, '--to', 'ann@one.remote.example']
    const wrong = await swaks(addressFor('starttls'), '--tls', ...credentials('PLAIN', 'svc_live_wrong'), ...mail)
    expect(wrong).toMatchObject({ exitCode: 28, output: expect.stringMatching(/<~\* 535 5\.7\.8 /) })
    const clear = await swaks(addressFor('starttls'), ...credentials('LOGIN'), ...mail, '--quit-after', 'AUTH')
    expect(clear).toMatchObject({ exitCode: 0, output: expect.stringMatching(/<- {2}235 2\.7\.0 /) })
    const before = remote.mails.length
    const silent = await swaks(addressFor('starttls'), '--tls', ...mail)
    expect(silent.output).toMatch(/<~\* 530 5\.7\.0 /)
    const foreign = ['--from', 'shop@elsewhere.example', '--to', 'ann@one.remote.example']
    const refused = await swaks(addressFor('implicit'), '--tls-on-connect', ...credentials('PLAIN'), ...foreign)
    expect(refused.output).toMatch(/<~\* 55\d 5\.7\.1 /)
    expect(remote.mails.length).toBe(before)
  })
})

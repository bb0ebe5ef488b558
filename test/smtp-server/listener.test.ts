import { afterAll, expect, test } from 'bun:test'
import { CERTIFICATE, startListener } from './setup.ts'

const smtp = await startListener()
afterAll(() => smtp.stop())

test('passes a mail on as sent and answers with the handler’s text', async () => {
  const client = await smtp.connect()
  expect(await client.reply()).toBe('220 mx.test.example ESMTP')
  expect(await client.say('EHLO client.example')).toBe(
    [
      '250-mx.test.example',
      '250-PIPELINING',
      '250-8BITMIME',
      '250-SMTPUTF8',
      '250-ENHANCEDSTATUSCODES',
      '250-SIZE 26214400',
      '250 STARTTLS',
    ].join('\n'),
  )
  expect(await client.say('MAIL FROM:<s@Sender.Example> SIZE=100 BODY=8BITMIME')).toBe('250 2.1.0 sender ok')
  expect(await client.say('RCPT TO:<Anna@TEST.example>')).toBe('250 2.1.5 recipient ok')
  expect(await client.say('DATA')).toBe('354 end data with <CRLF>.<CRLF>')
  expect(await client.say('Subject: hi\r\n\r\n..dots\r\n.')).toBe('250 2.0.0 taken as 1')
  expect(smtp.taken[0]).toEqual({
    from: 's@sender.example',
    to: ['Anna@test.example'],
    raw: 'Subject: hi\r\n\r\n.dots\r\n',
    sizeBytes: 22,
    protocol: 'ESMTP',
    tls: null,
    helo: 'client.example',
  })
  expect(await client.say('QUIT')).toBe('221 2.0.0 closing connection')
})

test('STARTTLS resets the session, and TLS is reported in it', async () => {
  const client = await (await smtp.connect()).hello()
  await client.say('MAIL FROM:<clear@sender.example>')
  expect(await client.say('STARTTLS')).toBe('220 2.0.0 Ready to start TLS')
  await client.startTls()
  expect(await client.say('RCPT TO:<a@test.example>')).toBe('503 5.5.1 send EHLO first')
  expect(await client.say('EHLO secret.example')).not.toContain('STARTTLS')
  expect(await client.say('STARTTLS')).toBe('503 5.5.1 TLS already active')
  expect(await client.mail('Subject: x\r\n\r\nx\r\n')).toStartWith('250 2.0.0 ')
  expect(smtp.taken.at(-1)).toMatchObject({ helo: 'secret.example', protocol: 'ESMTPS', from: 's@sender.example' })
  expect(smtp.taken.at(-1)!.tls).toMatch(/^TLSv1\.3 TLS_\w+$/)
})

test('the protocol names TLS, login and UTF-8 where used', async () => {
  const logins: string[] = []
  const submission = await startListener({
    settings: { tls: 'implicit' },
    handler: {
      onLogin: async (session, { user, password }) => void logins.push(`${session.protocol} ${user} ${password}`),
    },
  })
  const client = await submission.connect()
  await client.reply()
  expect(await client.say('EHLO client.example')).toEndWith('250 AUTH PLAIN LOGIN')
  expect(await client.say(`AUTH PLAIN ${Buffer.from('\0änna\0pässword').toString('base64')}`)).toStartWith('235 2.7.0')
  expect(logins).toEqual(['ESMTPS änna pässword'])
  await client.mail('Subject: x\r\n')
  await client.say('MAIL FROM:<ö@sender.example> SMTPUTF8')
  await client.say('RCPT TO:<ä@test.example>')
  await client.say('DATA')
  await client.say('.')
  expect(submission.taken.map(({ protocol, from, to }) => [protocol, from, to])).toEqual([
    ['ESMTPSA', null, ['a@test.example']],
    ['UTF8SMTPSA', null, ['ä@test.example']],
  ])
  await submission.stop()
})

test('HELO is SMTP, and a used address is an error of listen', async () => {
  const client = await smtp.connect()
  await client.reply()
  await client.say('HELO old.example')
  await client.mail('Subject: x\r\n')
  expect(smtp.taken.at(-1)).toMatchObject({ protocol: 'SMTP', helo: 'old.example' })
  const { createSmtpListener } = await import('../../src/receiving/smtp-server/listener.ts')
  const { LIMITS } = await import('../../src/receiving/smtp-server/settings.ts')
  const { createLog } = await import('../../src/os/log.ts')
  const log = createLog({ clock: smtp.clock, level: 'error', format: 'json', write: () => {} })
  const limits = { messageBytes: 1, connections: 1, connectionsPerAddress: 1, ...LIMITS }
  const other = createSmtpListener(
    { hostname: 'x', tls: 'starttls', certificate: CERTIFICATE, loginNeedsTls: true, spoolDir: smtp.spoolDir, limits },
    { onRecipient: async () => null, onMail: async () => '' },
    { name: 'other', clock: smtp.clock, log },
  )
  expect(other.listen({ host: '127.0.0.1', port: smtp.port })).rejects.toThrow('EADDRINUSE')
})

import { afterAll, expect, test } from 'bun:test'
import { startListener } from './setup.ts'

const house = await startListener()
afterAll(() => house.stop())

test('a mail is handed over as it was sent, and the answer is what the door said', async () => {
  const client = await house.connect()
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
  expect(await client.say('MAIL FROM:<s@Sender.Example> SIZE=100 BODY=8BITMIME')).toBe('250 2.1.0 sender taken')
  expect(await client.say('RCPT TO:<Anna@TEST.example>')).toBe('250 2.1.5 recipient taken')
  expect(await client.say('DATA')).toBe('354 end with CR LF . CR LF')
  expect(await client.say('Subject: hi\r\n\r\n..dots\r\n.')).toBe('250 2.0.0 taken as 1')
  expect(house.taken[0]).toEqual({
    from: 's@sender.example',
    to: ['Anna@test.example'],
    raw: 'Subject: hi\r\n\r\n.dots\r\n',
    sizeBytes: 22,
    protocol: 'ESMTP',
    tls: null,
    helo: 'client.example',
  })
  expect(await client.say('QUIT')).toBe('221 2.0.0 goodbye')
})

test('after STARTTLS everything begins anew, and the session says so', async () => {
  const client = await (await house.connect()).hello()
  await client.say('MAIL FROM:<clear@sender.example>')
  expect(await client.say('STARTTLS')).toBe('220 2.0.0 Ready to start TLS')
  await client.startTls()
  expect(await client.say('RCPT TO:<a@test.example>')).toBe('503 5.5.1 say EHLO first')
  expect(await client.say('EHLO secret.example')).not.toContain('STARTTLS')
  expect(await client.say('STARTTLS')).toBe('503 5.5.1 TLS is on already')
  expect(await client.mail('Subject: x\r\n\r\nx\r\n')).toStartWith('250 2.0.0 ')
  expect(house.taken.at(-1)).toMatchObject({ helo: 'secret.example', protocol: 'ESMTPS', from: 's@sender.example' })
  expect(house.taken.at(-1)!.tls).toMatch(/^TLSv1\.3 TLS_\w+$/)
})

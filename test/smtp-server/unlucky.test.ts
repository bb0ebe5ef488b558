import { afterAll, expect, test } from 'bun:test'
import { readdirSync } from 'node:fs'
import { connect } from 'node:net'
import { SmtpReply } from '../../src/receiving/smtp-server/reply.ts'
import { until } from '../support/patience.ts'
import { startListener } from './setup.ts'

const smtp = await startListener()
afterAll(() => smtp.stop())

test('a client that resets, closes or half-closes its connection during DATA leaves no mail and no connection', async () => {
  for (const leave of ['reset', 'destroy', 'end'] as const) {
    const client = await (await smtp.connect()).hello()
    await client.envelope()
    client.write(`Subject: half\r\n\r\n${'x'.repeat(2 ** 20)}\r\n.`) // up to the dot, which does not end the mail yet
    if (leave === 'end') client.socket.end()
    else client[leave]()
    await smtp.nobodyLeft()
  }
  expect(smtp.taken).toEqual([])
  await until('its file to go', () => readdirSync(smtp.spoolDir).length === 0)
  expect(smtp.logged).toEqual([])
})

// threat: smtp-listener-limits
test('immediate resets, port scans and garbage instead of TLS end only their own connection', async () => {
  const secure = await startListener({ settings: { tls: 'implicit' } })
  for (const at of [smtp, secure]) {
    const scans = Array.from({ length: 20 }, (_, index) => {
      return new Promise<void>((resolve) => {
        const socket = connect(at.port, '127.0.0.1', () => {
          if (index % 4 === 1) socket.write('\x16\x03\x01\xff\xff garbage\r\n\r\n')
          if (index % 4 === 2) socket.write('GET / HTTP/1.0\r\n\r\n')
          if (index % 4 === 3) socket.write(new Uint8Array(70_000))
          setImmediate(() => (index % 2 ? socket.end() : socket.resetAndDestroy()))
        })
        socket.on('error', () => {})
        socket.on('close', () => resolve())
        socket.resume()
      })
    })
    await Promise.all(scans)
    await at.nobodyLeft()
    expect(at.logged).toEqual([])
  }
  const client = await secure.connect()
  expect(await client.reply()).toBe('220 mx.test.example ESMTP')
  await client.say('EHLO client.example')
  expect(await client.mail('Subject: x\r\n')).toBe('250 2.0.0 taken as 1')
  expect(secure.taken[0]).toMatchObject({ protocol: 'ESMTPS', tls: expect.stringContaining('TLSv1.3') })
  await secure.stop()
})

test('garbage instead of the handshake after STARTTLS ends that connection', async () => {
  const client = await (await smtp.connect()).hello()
  await client.say('STARTTLS')
  client.write('MAIL FROM:<s@sender.example>\r\nthis is no handshake\r\n'.repeat(50))
  await client.closed()
  await smtp.nobodyLeft()
  expect(smtp.logged).toEqual([])
})

// threat: smtp-listener-limits
test('refuses TLS 1.1', async () => {
  const client = await (await smtp.connect()).hello()
  await client.say('STARTTLS')
  // a ClientHello of TLS 1.1 that offers one old suite
  const body = Buffer.concat([Buffer.from('0302', 'hex'), Buffer.alloc(32, 7), Buffer.from('000002002f0100', 'hex')])
  const hello = Buffer.concat([Buffer.from([1, 0, 0, body.length]), body])
  client.write(Buffer.concat([Buffer.from([22, 3, 1, 0, hello.length]), hello]))
  await client.closed()
  await smtp.nobodyLeft()
  expect(smtp.logged).toEqual([])
})

test('a handler’s reply replaces the greeting; a handler’s error gives 421 and one log line', async () => {
  let first = true
  const strict = await startListener({
    handler: {
      onConnect: () => {
        if (!first) throw new Error('the handler is broken')
        first = false
        throw new SmtpReply(554, '5.7.1', 'not from there')
      },
    },
  })
  expect(await (await strict.connect()).reply()).toBe('554 5.7.1 not from there')
  expect(await (await strict.connect()).reply()).toBe('421 4.3.0 internal error, try again later')
  expect(strict.logged.length).toBe(1)
  expect(strict.logged[0]).toContain('the handler is broken')
  expect(strict.logged[0]).toContain('unlucky.test.ts') // its stack
  await strict.stop()
})

test('logs refusals with listener, address and reply', async () => {
  const strict = await startListener({
    handler: {
      onRecipient: async (_session, { local }) => {
        if (local !== 'a') throw new SmtpReply(550, '5.1.1', 'no such mailbox')
        return local
      },
      onMail: async () => {
        throw new SmtpReply(554, '5.7.1', 'bad\r\n250 2.0.0 ünd good')
      },
    },
  })
  const client = await (await strict.connect()).hello()
  await client.say('MAIL FROM:<s@sender.example>')
  await client.say('RCPT TO:<b@test.example>')
  await client.say('RCPT TO:<a@test.example>')
  await client.say('DATA')
  expect(await client.say('.')).toBe('554 5.7.1 bad 250 2.0.0 ?nd good')
  expect(strict.refused).toEqual([
    { listener: 'mx', address: '127.0.0.1', reply: '550 5.1.1 no such mailbox' },
    { listener: 'mx', address: '127.0.0.1', reply: '554 5.7.1 bad 250 2.0.0 ?nd good' },
  ])
  await strict.stop()
})

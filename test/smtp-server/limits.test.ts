import { expect, test } from 'bun:test'
import { connect } from 'node:net'
import { ampleMemory } from '../../src/os/memory.ts'
import { SmtpReply } from '../../src/receiving/smtp-server/reply.ts'
import { NOW, startListener } from './setup.ts'

// threat: slow-clients-and-floods
// threat: smtp-listener-limits
test('answers 421 to one connection too many from an address and accepts the next when one has closed', async () => {
  const smtp = await startListener({ limits: { connectionsPerAddress: 2 } })
  const first = await smtp.connect()
  const second = await smtp.connect()
  const third = await smtp.connect()
  expect(await third.reply()).toBe('421 4.7.0 too many connections, try again later')
  expect(await third.reply()).toBe('(closed)')
  expect(await first.reply()).toStartWith('220')
  expect(await second.reply()).toStartWith('220')
  expect(smtp.listener.connections()).toBe(2)
  first.destroy()
  await smtp.nobodyLeft(1)
  expect(await (await smtp.connect()).reply()).toStartWith('220')
  await smtp.stop()
})

// threat: memory-exhaustion
test('starts no mail and accepts no connection while memory is short, and recovers', async () => {
  let isShort = false
  const memory = { ...ampleMemory, isShort: () => isShort, mayHold: (_use: string, bytes: number) => bytes < 1e6 }
  const smtp = await startListener({ memory })
  const client = await (await smtp.connect()).hello()
  const tooMuch = '452 4.3.1 insufficient memory for a message of this size, try again later'
  expect(await client.say('MAIL FROM:<a@b.example> SIZE=1000000')).toBe(tooMuch)
  expect(await client.say('MAIL FROM:<a@b.example> SIZE=999999')).toStartWith('250')
  expect(await client.say('RCPT TO:<c@d.example>')).toStartWith('250')
  isShort = true
  expect(await client.say('DATA')).toBe(tooMuch)
  const second = await smtp.connect()
  expect(await second.reply()).toBe('421 4.3.2 server busy, try again later')
  expect(await second.reply()).toBe('(closed)')
  isShort = false
  expect(await client.say('DATA')).toStartWith('354')
  expect(await client.say('.')).toStartWith('250')
  expect(await (await smtp.connect()).reply()).toStartWith('220')
  await smtp.stop()
})

test('a rejected client holds no descriptor for long; further ones are closed without a reply', async () => {
  const smtp = await startListener({ limits: { connections: 1 } })
  const first = await smtp.connect()
  expect(await first.reply()).toStartWith('220')
  const heard = await Promise.all(Array.from({ length: 60 }, () => heardBy(smtp.port)))
  expect(heard.filter((reply) => reply.startsWith('421')).length).toBe(16)
  expect(heard.filter((reply) => reply === '').length).toBe(44)
  await smtp.stop()
})

test('closes a client that never completes a command after the idle time', async () => {
  const smtp = await startListener({ limits: { idleMs: 60_000 } })
  const silent = await (await smtp.connect()).hello()
  const dripping = await (await smtp.connect()).hello()
  const talking = await (await smtp.connect()).hello()
  for (let second = 0; second < 59; second++) {
    dripping.write('N')
    await smtp.clock.advance(1_000)
    if (second % 20 === 0) expect(await talking.say('NOOP')).toStartWith('250')
  }
  await smtp.clock.advance(1_100)
  expect(await silent.reply()).toBe('421 4.4.2 idle timeout')
  expect(await dripping.reply()).toBe('421 4.4.2 idle timeout')
  expect(await dripping.reply()).toBe('(closed)')
  expect(await talking.say('NOOP')).toStartWith('250')
  await smtp.nobodyLeft(1)
  await smtp.stop()
})

// threat: slow-clients-and-floods
// threat: smtp-listener-limits
test('a mail that drips or stops is cut at the idle time, and a steady one at its own deadline', async () => {
  const smtp = await startListener({ limits: { idleMs: 60_000, dataMs: 150_000, messageBytes: 10_000_000 } })
  const start = async () => {
    const client = await (await smtp.connect()).hello()
    await client.envelope()
    return client
  }
  const dripping = await start()
  const stopped = await start()
  const steady = await start()
  stopped.write('Subject: and')
  const line = `${'x'.repeat(998)}\r\n`
  for (let passedMs = 0; passedMs < 150_000; passedMs += 30_000) {
    if (passedMs < 60_000) dripping.write('Subject: drip\r\n')
    steady.write(line.repeat(500))
    await smtp.hasRead(...(passedMs < 60_000 ? [dripping, steady] : [steady]))
    await smtp.clock.advance(30_000)
    if (passedMs < 60_000) continue
    await smtp.nobodyLeft(1) // the steady one
  }
  await smtp.clock.advance(200)
  expect(await stopped.reply()).toBe('421 4.4.2 idle timeout')
  expect(await dripping.reply()).toBe('421 4.4.2 message transfer timed out')
  expect(await steady.reply()).toBe('421 4.4.2 message transfer timed out')
  await smtp.nobodyLeft()
  expect(smtp.taken).toEqual([])
  await smtp.stop()
})

test('a client that never begins its handshake after STARTTLS is cut too', async () => {
  const smtp = await startListener({ limits: { idleMs: 60_000 } })
  const client = await (await smtp.connect()).hello()
  await client.say('STARTTLS')
  await smtp.clock.advance(60_200)
  expect(await client.reply()).toBe('(closed)') // in cleartext nothing more can be said
  await smtp.nobodyLeft()
  await smtp.stop()
})

test('the handler’s time does not count as the client’s idle time', async () => {
  const asked = Promise.withResolvers<(as: string) => void>()
  const smtp = await startListener({
    handler: { onRecipient: () => new Promise(asked.resolve) },
    limits: { idleMs: 1_000 },
  })
  const client = await (await smtp.connect()).hello()
  await client.say('MAIL FROM:<s@sender.example>')
  const reply = client.say('RCPT TO:<a@test.example>')
  const answer = await asked.promise
  await smtp.clock.advance(5_000)
  answer('a')
  expect(await reply).toBe('250 2.1.5 recipient ok')
  await smtp.stop()
})

test('wrong passwords delay further wrong ones on all connections of the address, and no correct one', async () => {
  const smtp = await startListener({
    handler: {
      onLogin: async (_session, { password }) => {
        if (password !== 'right') throw new SmtpReply(535, '5.7.8', 'wrong user or password')
      },
    },
    settings: { loginNeedsTls: false },
  })
  const token = (password: string) => `AUTH PLAIN ${Buffer.from(`\0anna\0${password}`).toString('base64')}`
  const one = await (await smtp.connect()).hello()
  const two = await (await smtp.connect()).hello()
  /** Milliseconds until the reply. */
  const waited = async (client: typeof one, password: string, expected: string) => {
    const from = smtp.clock.now()
    const sleeps = smtp.clock.sleeps().length
    const reply = client.say(token(password))
    await smtp.clock.untilSleeping(sleeps + 1)
    const until = smtp.clock.sleeps().find((sleeper) => sleeper > from)!
    await smtp.clock.advance(until - from)
    expect(await reply).toBe(expected)
    return until - from
  }
  expect(await one.say(token('x'))).toBe('535 5.7.8 wrong user or password')
  expect(await waited(two, 'x', '535 5.7.8 wrong user or password')).toBe(1_000)
  expect(await waited(one, 'x', '535 5.7.8 wrong user or password')).toBe(2_000)
  expect(await two.say(token('right'))).toBe('235 2.7.0 Authentication successful')
  // the third wrong one on one connection
  expect(await waited(one, 'x', '421 4.7.0 too many failed logins')).toBe(4_000)
  expect(await one.reply()).toBe('(closed)')
  await smtp.clock.advance(600_000) // more than the idle time: all entries have expired
  const later = await (await smtp.connect()).hello()
  expect(await later.say(token('x'))).toBe('535 5.7.8 wrong user or password')
  expect(await waited(later, 'x', '535 5.7.8 wrong user or password')).toBe(1_000)
  expect(smtp.refused.map(({ reply }) => reply)).toContain('535 5.7.8 wrong user or password')
  await smtp.stop()
})

test('stopping lets a mail end with its 250 and closes idle connections at once', async () => {
  const smtp = await startListener()
  const idle = await (await smtp.connect()).hello()
  const sending = await (await smtp.connect()).hello()
  await sending.envelope()
  sending.write('Subject: under way\r\n')
  const stopped = smtp.listener.stop(10_000)
  expect(await idle.reply()).toBe('421 4.3.2 server shutting down, try again later')
  expect(await idle.reply()).toBe('(closed)')
  expect(await sending.say('\r\nx\r\n.')).toBe('250 2.0.0 taken as 1')
  expect(await sending.reply()).toBe('421 4.3.2 server shutting down, try again later')
  await stopped
  expect(smtp.clock.now()).toBe(NOW) // no grace period was needed
  expect(smtp.taken.length).toBe(1)
  expect(smtp.connect()).rejects.toThrow()
  await smtp.stop()
})

test('stopping waits for an unfinished mail no longer than its limit', async () => {
  const smtp = await startListener()
  const sending = await (await smtp.connect()).hello()
  await sending.envelope()
  const stopped = smtp.listener.stop(10_000)
  await smtp.clock.advance(10_000)
  await stopped
  expect(await sending.reply()).toBe('421 4.3.2 server shutting down, try again later')
  expect(await sending.reply()).toBe('(closed)')
  expect(smtp.taken).toEqual([])
  await smtp.stop()
})

test('the next client gets a changed certificate without a pause', async () => {
  const { selfSignedCertificate } = await import('../../src/net/tls/certificate.ts')
  const smtp = await startListener({ settings: { tls: 'implicit' } })
  const nameShown = async () => {
    const client = await smtp.connect()
    await client.reply()
    return (client.socket as import('node:tls').TLSSocket).getPeerCertificate().subject.CN
  }
  expect(await nameShown()).toBe('mx.test.example')
  smtp.listener.useCertificate(await selfSignedCertificate({ names: ['other.test.example'], now: Date.now() }))
  expect(await nameShown()).toBe('other.test.example')
  await smtp.stop()
})

/** What a client receives that keeps its side open. */
function heardBy(port: number): Promise<string> {
  return new Promise((resolve) => {
    const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true })
    let text = ''
    socket.on('data', (piece) => (text += piece))
    socket.on('error', () => {})
    socket.on('end', () => resolve(text))
    socket.on('close', () => resolve(text))
  })
}

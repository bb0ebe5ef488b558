import { expect, test } from 'bun:test'
import { type Client, type ListenerAtTest, startListener } from './setup.ts'

/** A listener short of connections. Each client has a separate address in 127.0.0.0/8. */

const connectMany = (smtp: ListenerAtTest, count: number, address: (n: number) => string) =>
  Promise.all(Array.from({ length: count }, async (_, n) => (await smtp.connect(address(n))).hello()))

// threat: smtp-connections-of-one-network
test('limits a network that opens connection after connection while others get in', async () => {
  const smtp = await startListener({ limits: { connections: 100, connectionsPerNetwork: 5 } })
  await connectMany(smtp, 5, (n) => `127.0.1.${n + 1}`)
  const sixth = await smtp.connect('127.0.1.77')
  expect(await sixth.reply()).toBe('421 4.7.0 too many connections from your network, try again later')
  expect(await (await smtp.connect('127.0.2.1')).reply()).toStartWith('220')
  await smtp.stop()
})

// threat: smtp-connection-flood
test('closes silent clients after ten seconds instead of five minutes when connections are short', async () => {
  const smtp = await startListener({ limits: { connections: 10 } })
  const silent = await connectMany(smtp, 7, (n) => `127.0.${n}.1`)
  await smtp.clock.advance(30_000)
  expect(smtp.listener.connections()).toBe(7)
  expect(smtp.listener.isStressed()).toBe(false)
  const late = await (await smtp.connect('127.0.50.1')).hello()
  expect(smtp.listener.isStressed()).toBe(true)
  await smtp.clock.advance(200)
  for (const client of silent) expect(await client.reply()).toBe('421 4.4.2 idle timeout')
  await smtp.nobodyLeft(1)
  expect(smtp.listener.isStressed()).toBe(false)
  expect(await late.say('NOOP')).toStartWith('250')
  expect(smtp.logged.length).toBe(1)
  expect(smtp.logged[0]).toContain('SMTP connections nearly exhausted')
  await smtp.stop()
})

test('mail in progress continues under stress, and fewer errors are allowed', async () => {
  const smtp = await startListener({ limits: { connections: 10 } })
  const sender = await (await smtp.connect('127.0.1.1')).hello()
  await sender.envelope()
  sender.write('Subject: x\r\n\r\n')
  await connectMany(smtp, 7, (n) => `127.0.${n + 10}.1`)
  expect(smtp.listener.isStressed()).toBe(true)
  for (let second = 0; second < 40; second += 5) {
    sender.write(`${'x'.repeat(990)}\r\n`.repeat(200))
    await smtp.hasRead(sender)
    await smtp.clock.advance(5_000)
  }
  expect(await sender.say('\r\n.')).toStartWith('250')
  await connectMany(smtp, 7, (n) => `127.0.${n + 20}.1`)
  const faulty = await (await smtp.connect('127.0.99.1')).hello()
  expect(smtp.listener.isStressed()).toBe(true)
  for (let n = 0; n < 3; n++) expect(await faulty.say('NONSENSE')).toStartWith('500')
  expect(await faulty.say('NOOP')).toBe('421 4.7.0 too many errors')
  await smtp.stop()
})

// threat: smtp-connection-flood
test('a network that holds all connections gives one to each newcomer, the longest idle first', async () => {
  const smtp = await startListener({ limits: { connections: 8 } })
  const [first, ...others] = await connectMany(smtp, 8, (n) => `127.0.1.${n + 1}`)
  await smtp.clock.advance(1_000)
  for (const each of others) await each.say('NOOP')
  const newcomer = await smtp.connect('127.0.2.1')
  expect(await newcomer.reply()).toStartWith('220')
  expect(await first!.reply()).toBe('421 4.3.2 too many connections, closing idle ones')
  expect(smtp.listener.connections()).toBe(8)
  const another = await smtp.connect('127.0.1.200') // of the network with the most connections
  expect(await another.reply()).toStartWith('421 4.7.0')
  await smtp.stop()
})

test('never evicts a connection in the middle of a mail', async () => {
  const smtp = await startListener({ limits: { connections: 2 } })
  const busy: Client[] = await connectMany(smtp, 2, (n) => `127.0.1.${n + 1}`)
  for (const client of busy) await client.envelope()
  const newcomer = await smtp.connect('127.0.2.1')
  expect(await newcomer.reply()).toStartWith('421 4.7.0')
  for (const client of busy) expect(await client.say('.')).toStartWith('250')
  await smtp.stop()
})

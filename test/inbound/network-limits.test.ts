import { afterEach, expect, test } from 'bun:test'
import { createNetworks } from '../../src/net/ip.ts'
import { createNetworkLimits, type NetworkRates } from '../../src/receiving/inbound/network-limits.ts'
import { startListener } from '../smtp-server/setup.ts'
import { createInboundSetup, type InboundSetup } from './setup.ts'

/** Limits of one network at port 25, over real sockets from several addresses of 127.0.0.0/8. */

let setup: InboundSetup
let stop: () => Promise<void>
afterEach(async () => {
  await stop()
  await setup.store.close()
})

async function open(rates: Partial<NetworkRates>) {
  let now = 0
  const limits = createNetworkLimits(
    {
      connectionsPerMinute: 1000,
      mailsPerMinute: 1000,
      unknownRecipientsPerHour: 1000,
      isUnlimited: createNetworks(['127.0.9.0/24']),
      ...rates,
    },
    () => now,
  )
  setup = await createInboundSetup({ networkLimits: limits })
  await setup.addRoute({ type: 'address', value: 'info@ours.test' })
  const listener = await startListener({ handler: setup.handler as never })
  stop = listener.stop
  const from = async (address: string) => (await listener.connect(address)).hello()
  return { listener, from, limits, pass: (ms: number) => (now += ms) }
}

// threat: smtp-connections-of-one-network
test('rapid connections of one network are answered 421, and others are accepted', async () => {
  const { listener, from, pass, limits } = await open({ connectionsPerMinute: 3 })
  for (let n = 1; n <= 3; n++) (await from(`127.0.1.${n}`)).destroy()
  const refused = await listener.connect('127.0.1.4')
  expect(await refused.reply()).toBe('421 4.7.0 too many connections from your network, try again later')
  expect(await refused.reply()).toBe('(closed)')
  expect(await (await from('127.0.2.1')).say('NOOP')).toStartWith('250')
  for (let n = 1; n <= 10; n++) expect(await (await from(`127.0.9.${n}`)).say('NOOP')).toStartWith('250')
  pass(20_000)
  expect(await (await from('127.0.1.5')).say('NOOP')).toStartWith('250')
  expect(limits.refusals().connections).toBe(1)
})

// threat: smtp-mail-flood
test('mail beyond the limit of a network gets 451, and is accepted later', async () => {
  const { from, pass } = await open({ mailsPerMinute: 2 })
  const sender = await from('127.0.1.1')
  const again = 'MAIL FROM:<a@theirs.test>'
  for (let n = 0; n < 2; n++) {
    expect(await sender.say(again)).toStartWith('250')
    await sender.say('RSET')
  }
  expect(await sender.say(again)).toBe('451 4.7.1 too many messages from your network, try again later')
  expect(await (await from('127.0.2.1')).say(again)).toStartWith('250')
  pass(30_000)
  expect(await sender.say(again)).toStartWith('250')
})

// threat: smtp-recipient-guessing
test('a network that guesses recipients gets the same answer for all of them after a while', async () => {
  const { from, pass } = await open({ unknownRecipientsPerHour: 3 })
  const guesser = await from('127.0.1.1')
  await guesser.say('MAIL FROM:<>')
  for (let n = 0; n < 3; n++) expect(await guesser.say(`RCPT TO:<guess${n}@ours.test>`)).toStartWith('550 5.1.1')
  const busy = '451 4.7.1 too many unknown recipients from your network, try again later'
  expect(await guesser.say('RCPT TO:<guess3@ours.test>')).toBe(busy)
  expect(await guesser.say('RCPT TO:<info@ours.test>')).toBe(busy)
  const neighbour = await from('127.0.1.2')
  await neighbour.say('MAIL FROM:<>')
  expect(await neighbour.say('RCPT TO:<info@ours.test>')).toBe(busy)
  const honest = await from('127.0.2.1')
  await honest.say('MAIL FROM:<>')
  expect(await honest.say('RCPT TO:<info@ours.test>')).toStartWith('250')
  pass(3_600_000)
  expect(await neighbour.say('RCPT TO:<info@ours.test>')).toStartWith('250')
})

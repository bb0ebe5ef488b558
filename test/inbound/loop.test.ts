import { afterAll, beforeAll, expect, test } from 'bun:test'
import type { Zone } from '../../src/cli/try/zone-server.ts'
import { unpackMime } from '../../src/mail/mime-content.ts'
import type { Readers } from '../../src/receiving/inbound/readers.ts'
import { claimDue } from '../support/claim.ts'
import { openReaders } from './reader-setup.ts'
import { createInboundSetup, type InboundSetup, LOOP_TAG, MAIL, START } from './setup.ts'
import { KEY_PEM, startMailZone } from './signed-mail.ts'

let zone: Zone
let readers: Readers
let setup: InboundSetup

beforeAll(async () => {
  zone = await startMailZone()
  readers = openReaders(zone, { hostname: 'mail.postrider.test' })
  setup = await createInboundSetup({ readers })
  const dkim = [setup.records.dkimKey({ state: 'active', privateKeyPem: KEY_PEM })]
  await setup.addDomain('sealing.test', { dkim })
  const action = { type: 'forward' as const, config: { to: ['bo@sealing.test'] } }
  await setup.addRoute({ type: 'address', value: 'ann@sealing.test' }, { action })
  await setup.addRoute({ type: 'address', value: 'bo@sealing.test' })
})
afterAll(async () => {
  await readers.stop()
  await zone.stop()
  await setup.store.close()
})

/** The only outgoing mail now. */
async function sentOn(): Promise<string> {
  const request = { now: START, limit: 10, worker: 'w', freeFor: () => 9 }
  const [claim] = await claimDue(setup.store.deliveries, request)
  return Buffer.from(unpackMime(claim!.content!)).toString()
}

test('a forwarded mail is not accepted again', async () => {
  await setup.send(['ann@sealing.test'])
  const forwarded = await sentOn()
  expect(forwarded).toEndWith(MAIL)
  expect(forwarded).toMatch(/^ARC-Seal:/m)
  expect(forwarded.match(/^X-Service-Loop: .*$/gm)).toEqual([`X-Service-Loop: ${LOOP_TAG}`])
  for (const to of ['ann@sealing.test', 'bo@sealing.test']) {
    await expect(setup.send([to], forwarded)).rejects.toThrow(
      '554 5.4.6 mail loop detected: this server has already forwarded this message',
    )
  }
})

test('a mail that another installation forwarded after us is not accepted again', async () => {
  await setup.send(['ann@sealing.test'], MAIL.replace('Subject: ', 'Subject: second '))
  const byUs = await sentOn()
  const byTheOther = `X-Service-Loop: of-another-server\r\nReceived: from a by b; ${new Date(START).toUTCString()}\r\n${byUs}`
  await expect(setup.send(['bo@sealing.test'], byTheOther)).rejects.toThrow('554 5.4.6')
})

test('a mail that loops among others is refused at the 51st host', async () => {
  const hops = (count: number) => `${'Received: from a by b; Sat, 21 Nov 2026 12:00:00 +0000\r\n'.repeat(count)}${MAIL}`
  expect(await setup.send(['bo@sealing.test'], hops(50))).toEndWith(' accepted')
  await expect(setup.send(['bo@sealing.test'], hops(51))).rejects.toThrow('554 5.4.6')
})

import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import type { Domain } from '../../src/model/domain.ts'
import type { InboundMessage } from '../../src/model/inbound-message.ts'
import type { InboundRoute } from '../../src/model/inbound-route.ts'
import { ALL_EVENTS, ALL_INBOUND, accept } from '../storage/records.ts'
import { createInboundSetup, type InboundSetup, MAIL, START, spoken } from './setup.ts'

let setup: InboundSetup
let route: InboundRoute
beforeEach(async () => {
  setup = await createInboundSetup()
  route = await setup.addRoute({ type: 'address', value: 'support@ours.test' })
})
afterEach(() => setup.store.close())

/** A message of the organization to two recipients, as it was sent, and the address for answers of each. */
async function sent(domain: Domain = setup.domain, change: { source?: 'smtp'; messageIdHeader?: string } = {}) {
  const accepted = setup.records.accepted({
    organizationId: domain.organizationId,
    domainId: domain.id,
    keyId: 'key_a',
    metadata: { order: 'o-17' },
    tags: ['orders'],
    deliveries: [{ email: 'ann@author.test' }, { email: 'bob@author.test' }],
    ...change,
  })
  const composed = `<${accepted.message.id.slice(4)}@${domain.name}>`
  accepted.message.messageIdHeader = change.messageIdHeader ?? composed
  await accept(setup.store, accepted)
  const addressOf = (at: number) =>
    `${setup.replyAddresses.encode(accepted.deliveries[at]!.id, route.id, domain.organizationId)}@${domain.name}`
  return { ...accepted, addresses: [addressOf(0), addressOf(1)] as const }
}

const answerTo = (messageId: string, more = '') =>
  MAIL.replace('\r\n\r\n', `\r\nIn-Reply-To: ${messageId}${more}\r\n\r\n`)

async function received(): Promise<InboundMessage[]> {
  const filter = { ...ALL_INBOUND, organizationId: setup.organization.id }
  return (await setup.store.inbound.list(filter, { limit: 50, after: null })).records
}

async function replied(): Promise<Record<string, unknown>[]> {
  const filter = { ...ALL_EVENTS, organizationId: setup.organization.id, type: 'message.replied' as const }
  const { records } = await setup.store.events.list(filter, { limit: 50, after: null })
  return records.map(({ body }) => JSON.parse(body).data)
}

describe('mail to a reply address', () => {
  test('goes to its route and names the message and the recipient', async () => {
    const { message, deliveries, addresses } = await sent()
    await setup.send([addresses[1]!.toUpperCase().replace('OURS.TEST', 'ours.test')])
    const [mail] = await received()
    expect([mail!.routeId, mail!.inReplyTo]).toEqual([route.id, deliveries[1]!.id])
    expect(await setup.store.inbound.answered(mail!.inReplyTo!, setup.organization.id)).toMatchObject({
      id: message.id,
      to: 'bob@author.test',
      metadata: { order: 'o-17' },
      tags: ['orders'],
    })
    expect(await replied()).toMatchObject([
      { message_id: message.id, to: 'bob@author.test', from: 'ann@author.test', inbound_message_id: mail!.id },
    ])
  })

  test('goes to its route whatever other routes match', async () => {
    const { addresses } = await sent()
    await setup.addRoute({ type: 'catch_all', value: 'ours.test' }, { priority: 1000 })
    await setup.send([addresses[0]!])
    expect((await received()).map(({ routeId }) => routeId)).toEqual([route.id])
  })

  test('is refused like any unknown address if the address is invalid or its route is disabled', async () => {
    const { addresses } = await sent()
    const refusal = async (address: string) =>
      setup.handler.onRecipient({ ...SESSION }, spoken(address), []).then(
        () => 'accepted',
        (reply) => `${reply.message}`.replaceAll(address, 'X'),
      )
    const unknown = await refusal('nobody@ours.test')
    const forged = addresses[0]!.replace(/.@/, (end) => (end === '0@' ? '1@' : '0@'))
    expect(await refusal(forged)).toBe(unknown)
    await setup.store.inboundRoutes.update(route.id, { ...route, enabled: false })
    expect(await refusal(addresses[0]!)).toBe(unknown)
  })

  test('goes to another route that matches once its own is gone, and still names what it answers', async () => {
    const { addresses, deliveries } = await sent()
    const second = await setup.addDomain('second.test', { organizationId: setup.organization.id })
    const all = await setup.addRoute({ type: 'catch_all', value: null })
    await setup.store.inboundRoutes.remove(route.id)
    await setup.send([addresses[0]!])
    expect(await received()).toMatchObject([{ routeId: all.id, inReplyTo: deliveries[0]!.id }])
    expect(await replied()).toMatchObject([{ to: 'ann@author.test' }])
    // At another domain of the organization, whose keys may not read the message, it names nothing.
    await setup.send([addresses[0]!.replace('ours.test', second.name)])
    expect((await received())[0]).toMatchObject({ domainId: second.id, inReplyTo: null })
    expect(await replied()).toHaveLength(1)
  })

  test('is no reply address at the domain of another organization', async () => {
    const other = { ...setup.organization, id: 'org_other', name: 'Other' }
    await setup.store.organizations.create(other)
    const domain = await setup.addDomain('other.test', { organizationId: other.id })
    const { addresses } = await sent()
    const elsewhere = addresses[0]!.replace('ours.test', domain.name)
    await expect(setup.handler.onRecipient({ ...SESSION }, spoken(elsewhere), [])).rejects.toMatchObject({ code: 550 })
  })
})

describe('an answer without a reply address', () => {
  test('is found by a Message-ID that the organization sent, with the recipient who answers', async () => {
    const composed = await sent()
    const finished = await sent(setup.domain, { source: 'smtp', messageIdHeader: '<own-id@shop.test>' })
    for (const { message, deliveries } of [composed, finished]) {
      const answer = answerTo('<unknown@elsewhere.test>', `\r\nReferences: ${message.messageIdHeader}`)
      await setup.send(['support@ours.test'], answer)
      expect((await received())[0]!.inReplyTo).toBe(deliveries[0]!.id)
      await setup.send(['support@ours.test'], answer.replace('ann@author.test', 'bob@author.test'))
      expect((await received())[0]!.inReplyTo).toBe(deliveries[1]!.id)
    }
  })

  test('names no message of another domain of the organization, whose keys may not read it', async () => {
    const domain = await setup.addDomain('other.test', { organizationId: setup.organization.id })
    await sent(domain, { source: 'smtp', messageIdHeader: '<secret@other.test>' })
    await setup.send(['support@ours.test'], answerTo('<secret@other.test>'))
    expect((await received())[0]!.inReplyTo).toBeNull()
  })

  test('names no message of another organization', async () => {
    const other = { ...setup.organization, id: 'org_other', name: 'Other' }
    await setup.store.organizations.create(other)
    const domain = await setup.addDomain('other.test', { organizationId: other.id })
    await sent(domain, { source: 'smtp', messageIdHeader: '<secret@other.test>' })
    await setup.send(['support@ours.test'], answerTo('<secret@other.test>'))
    expect((await received())[0]!.inReplyTo).toBeNull()
    expect(await replied()).toEqual([])
  })
})

test('automatic mail answers a message, but is no reply of a person', async () => {
  const { addresses, deliveries } = await sent()
  await setup.send([addresses[0]!], MAIL.replace('\r\n\r\n', '\r\nAuto-Submitted: auto-replied\r\n\r\n'))
  await setup.send([addresses[0]!], MAIL, { returnPath: null })
  const mails = await received()
  expect(mails.map(({ autoSubmitted, inReplyTo }) => [autoSubmitted, inReplyTo])).toEqual([
    [true, deliveries[0]!.id],
    [true, deliveries[0]!.id],
  ])
  expect(await replied()).toEqual([])
})

test('one answer to two routes is one event and counts once; a second answer counts again', async () => {
  const { addresses } = await sent()
  await setup.addRoute({ type: 'address', value: 'copy@ours.test' })
  await setup.send([addresses[0]!, 'copy@ours.test'], answerTo('<x@y>'))
  expect([(await received()).length, (await replied()).length]).toEqual([2, 1])
  await setup.send([addresses[0]!])
  expect(await replied()).toHaveLength(2)
  const day = 86_400_000
  const from = START - (START % day)
  const filter = { organizationId: setup.organization.id, domainId: null, tag: 'orders', mode: 'live' as const }
  expect(await setup.store.stats.days(filter, [{ from, before: from + day }])).toMatchObject([{ replied: 2 }])
})

const SESSION = {
  id: 'session',
  remoteAddress: '192.0.2.7',
  helo: 'mx.author.test',
  tls: null,
  protocol: 'ESMTP' as const,
}

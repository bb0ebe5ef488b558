import { expect } from 'bun:test'
import { createHash } from 'node:crypto'
import type { Store } from '../../src/storage/store.ts'
import type { Holds } from './contract.ts'
import { erase } from './contract-erasures.ts'
import { ALL_EVENTS, accept, claim, DOMAIN, found, ORGANIZATION, type Records, recordOf, START } from './records.ts'

const DAY_MS = 86_400_000
const OWN = { id: DOMAIN, organizationId: ORGANIZATION }

export function answeredPromises(holds: Holds): void {
  holds('a Message-ID leads to the message, and to the recipient who answers', async (store, records) => {
    await found(store, records)
    const { message, deliveries } = await sent(store, records, { messageIdHeader: '<own@shop.example>' })
    const find = (from: string) => store.inbound.findAnswered(OWN, ['<x@y>', '<own@shop.example>'], from)
    expect(await find('BOB@dest.example')).toMatchObject({ id: message.id, deliveryId: deliveries[1]!.id })
    expect(await find('other@dest.example')).toMatchObject({ deliveryId: deliveries[0]!.id })
    expect(
      await store.inbound.findAnswered({ ...OWN, organizationId: 'org_other' }, ['<own@shop.example>'], ''),
    ).toBeNull()
    expect(await store.inbound.answered(deliveries[1]!.id, ORGANIZATION)).toMatchObject({ to: 'bob@dest.example' })
    expect(await store.inbound.answered(deliveries[1]!.id, 'org_other')).toBeNull()
  })

  holds('a Message-ID leads to the message of the domain, whoever else has used it since', async (store, records) => {
    await found(store, records)
    const { message } = await sent(store, records, { messageIdHeader: '<own@shop.example>' })
    const domainId = 'dom_second'
    await sent(store, records, { domainId, messageIdHeader: '<own@shop.example>' })
    const composed = records.accepted({ domainId, keyId: 'key_a' })
    composed.message.messageIdHeader = `<${composed.message.id.slice('msg_'.length)}@second.example>`
    await accept(store, composed)
    const ids = [composed.message.messageIdHeader, '<own@shop.example>']
    expect(await store.inbound.findAnswered(OWN, ids, '')).toMatchObject({ id: message.id })
  })

  holds('test mail, which nobody receives, has no answers', async (store, records) => {
    await found(store, records)
    const own = await sent(store, records, { mode: 'test', messageIdHeader: '<own@shop.example>' })
    const id = own.message.id.slice('msg_'.length)
    const composed = await sent(store, records, { mode: 'test', source: 'api', messageIdHeader: `<${id}@d.example>` })
    for (const { message, deliveries } of [own, composed]) {
      expect(await store.inbound.findAnswered(OWN, [message.messageIdHeader], '')).toBeNull()
      expect(await store.inbound.answered(deliveries[0]!.id, ORGANIZATION)).toBeNull()
    }
  })

  holds('an answer to somebody who was erased since it was found is no event', async (store, records) => {
    await found(store, records)
    const over = { status: 'delivered' as const, nextAttemptAt: null }
    const deliveries = ['ann', 'bob'].map((name) => ({ ...over, email: `${name}@dest.example` }))
    const { message, deliveries: sentTo } = await sent(store, records, { status: 'delivered', deliveries })
    const answer = (to: number) => {
      const mail = records.acceptedInbound([records.inboundRoute()], { inReplyTo: sentTo[to]!.id })
      const event = records.event({ type: 'message.replied', messageId: message.id, createdAt: START })
      mail.taken[0]!.replied = { event, templateId: null }
      return mail
    }
    await erase(store, records, 'ann@dest.example')
    const [toErased, toOther] = [answer(0), answer(1)]
    await Promise.all([toErased, toOther].map((mail) => store.inbound.accept(mail)))
    const { records: events } = await store.events.list(ALL_EVENTS, { limit: 9, after: null })
    expect(events.map(({ id }) => id)).toEqual([toOther.taken[0]!.replied!.event.id])
    expect(await store.inbound.get(toErased.taken[0]!.message.id)).not.toBeNull()
  })

  holds('an answer counts for the template and the provider of the message', async (store, records) => {
    await found(store, records)
    await sent(store, records, { templateId: 'tpl_a' })
    const [first] = await claim(store)
    const { attempt, ...record } = recordOf(first!)
    await store.deliveries.record({ ...record, attempt: { ...attempt, mxHost: 'gmail-smtp-in.l.google.com' } })
    const mail = records.acceptedInbound([records.inboundRoute()], { inReplyTo: first!.delivery.id })
    const event = records.event({ type: 'message.replied', body: '{"data":{}}', createdAt: START })
    mail.taken[0]!.replied = { event, templateId: 'tpl_a' }
    await store.inbound.accept(mail)
    const day = { from: START - (START % DAY_MS), before: START - (START % DAY_MS) + DAY_MS, unit: 'day' } as const
    const filter = { organizationId: ORGANIZATION, domainId: null, tag: null, mode: 'live' } as const
    for (const [by, group] of [
      ['template', 'tpl_a'],
      ['provider', 'google'],
    ] as const)
      expect((await store.stats.groups(filter, by, day)).get(group)).toMatchObject({ replied: 1 })
  })

  holds('mail is accepted whatever the length of its Message-ID', async (store, records) => {
    await found(store, records)
    // Digits that do not compress, more than an entry of an index holds.
    const digits = Array.from({ length: 100 }, (_, at) => createHash('sha256').update(`${at}`).digest('hex')).join('')
    const messageIdHeader = `<${digits}@shop.example>`
    for (const keyId of ['key_a', null]) await sent(store, records, { keyId, messageIdHeader })
    expect(await store.inbound.findAnswered(OWN, [messageIdHeader], '')).toBeNull()
  })

  holds('a Message-ID of any characters can be looked up', async (store, records) => {
    await found(store, records)
    const { message } = await sent(store, records, { messageIdHeader: '<own@shop.example>' })
    const odd = ['<\0@x>', '<\ud800@x>', '<"{}\\\'@x>', '<01jd5xk3m9q8r7t6v5w4z3y2x1@\0>', '<own@shop.example>']
    expect(await store.inbound.findAnswered(OWN, odd, '\0@x')).toMatchObject({ id: message.id })
  })
}

/** A message over SMTP to two recipients. */
async function sent(store: Store, records: Records, change: Parameters<Records['accepted']>[0]) {
  const deliveries = [{ email: 'ann@dest.example' }, { email: 'bob@dest.example' }]
  const accepted = records.accepted({ source: 'smtp', keyId: 'key_a', deliveries, ...change })
  await accept(store, accepted)
  return accepted
}

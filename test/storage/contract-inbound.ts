import { expect } from 'bun:test'
import type { InboundMessage } from '../../src/model/inbound-message.ts'
import type { InboundFilter, Store } from '../../src/storage/store.ts'
import { ANY, claimDue } from '../support/claim.ts'
import type { Holds } from './contract.ts'
import {
  ALL_EVENTS,
  ALL_INBOUND,
  ALL_MESSAGES,
  claim,
  contentOf,
  found,
  idsByPage,
  ORGANIZATION,
  type Records,
  START,
  WORKER,
} from './records.ts'

export function inboundPromises(holds: Holds): void {
  holds('a mail reads as it was accepted, also after a restart', async (store, records, { reopen }) => {
    await found(store, records)
    const route = records.inboundRoute()
    await store.inboundRoutes.create(route, 'secret')
    const mail = records.acceptedInbound([route, route], {
      tls: 'TLSv1.3 TLS_AES_256_GCM_SHA384',
      to: ['In@a.example'],
    })
    const odd = { from: '', returnPath: '', parseError: 'took too long', forwardedAs: 'msg_x', subject: '🎉\u0000' }
    Object.assign(mail.taken[1]!.message, odd, {
      verdicts: { spf: 'softfail', dkim: 'none', dmarc: 'fail', arc: 'pass' },
    })
    await store.inbound.accept(mail)
    const again = await reopen()
    for (const { message } of mail.taken) {
      expect(await again.inbound.get(message.id)).toEqual(message)
      expect(mail.raw).toEqual(new Uint8Array((await again.inbound.raw(message.id))!))
      expect(mail.parsed).toEqual(new Uint8Array((await again.inbound.parsed(message.id))!))
    }
    expect(await again.inbound.get('inb_none')).toBeNull()
    expect(await again.inbound.raw('inb_none')).toBeNull()
    expect(await again.inbound.parsed('inb_none')).toBeNull()
  })

  holds('a mail without a route reads without one', async (store, records, { reopen }) => {
    await found(store, records)
    const mail = records.acceptedInbound([records.inboundRoute({ action: { type: 'store', config: {} } })])
    Object.assign(mail.taken[0]!.message, { routeId: null })
    await store.inbound.accept(mail)
    const again = await reopen()
    const { message } = mail.taken[0]!
    expect(await again.inbound.get(message.id)).toEqual({ ...message, routeId: null })
    const { records: listed } = await again.inbound.list(ALL_INBOUND, { limit: 5, after: null })
    expect(listed).toEqual([message])
  })

  holds('each route gets the delivery or message of its action', async (store, records) => {
    await found(store, records)
    const hooked = [records.inboundRoute(), records.inboundRoute()]
    const kept = records.inboundRoute({ action: { type: 'store', config: {} } })
    for (const route of [...hooked, kept]) await store.inboundRoutes.create(route, 'secret')
    const mail = records.acceptedInbound([hooked[0]!, kept, hooked[1]!], { receivedAt: START + 5 })
    await store.inbound.accept(mail)
    expect(await store.inboundDeliveries.nextDueAt(ANY)).toBe(START + 5)
    const request = { now: START + 5, limit: 9, worker: WORKER, freeFor: () => 9 }
    const claims = await claimDue(store.inboundDeliveries, request)
    expect(claims.map(({ message }) => message.id).sort()).toEqual(
      [mail.taken[0]!, mail.taken[2]!].map(({ message }) => message.id).sort(),
    )
    expect(await store.inboundDeliveries.ofMessage(mail.taken[1]!.message.id)).toEqual([])
  })

  holds('a forwarded mail is an outbound message that counts like any other', async (store, records) => {
    const { mail, forward } = await forwarded(store, records)
    await store.inbound.accept(mail)
    expect(await store.messages.get(forward.message.id)).toEqual(forward.message)
    const [claimed] = await claim(store)
    expect(claimed!.delivery.email).toBe('ann@out.example')
    expect(forward.content).toEqual(new Uint8Array(await contentOf(store, claimed!)))
    expect((await store.events.list(ALL_EVENTS, { limit: 9, after: null })).records).toEqual(forward.events)
    expect(await store.messages.volume(ORGANIZATION, '2026-11')).toBe(1)
    expect((await store.usage.of(ORGANIZATION, START)).forwards).toBe(1)
    expect((await store.inbound.get(mail.taken[0]!.message.id))!.forwardedAs).toBe(forward.message.id)
  })

  holds('a large mail reads as it was accepted, and so does its forward', async (store, records) => {
    const { mail, forward } = await forwarded(store, records)
    const bytes = (size: number) => new Uint8Array(size).map((_, at) => at % 251)
    Object.assign(mail, { raw: bytes(3_000_000), parsed: bytes(300_000) })
    forward.content = bytes(2_000_000)
    expect(await store.inbound.accept(mail)).toBe('accepted')
    const { id } = mail.taken[0]!.message
    expect(Buffer.compare((await store.inbound.raw(id))!, mail.raw)).toBe(0)
    expect(Buffer.compare((await store.inbound.parsed(id))!, mail.parsed)).toBe(0)
    expect(Buffer.compare((await store.messages.content(forward.message.id))!, forward.content)).toBe(0)
  })

  holds('a mail that cannot be written completely leaves nothing of it', async (store, records) => {
    const { mail, forward, hook } = await forwarded(store, records)
    const twice = records.acceptedInbound([hook]).taken[0]!
    mail.taken.unshift(twice)
    // The last write fails: the delivery of the forwarded message.
    forward.deliveries.push({ ...forward.deliveries[0]!, position: 1 })
    expect(store.inbound.accept(mail)).rejects.toThrow(/unique/i)
    await store.checkWritable()
    expect((await store.inbound.list(ALL_INBOUND, { limit: 9, after: null })).records).toEqual([])
    expect(await store.inbound.raw(twice.message.id)).toBeNull()
    expect(await store.inboundDeliveries.ofMessage(twice.message.id)).toEqual([])
    const request = { now: START, limit: 9, worker: WORKER, freeFor: () => 9 }
    expect(await claimDue(store.inboundDeliveries, request)).toEqual([])
    expect((await store.messages.list(ALL_MESSAGES, { limit: 9, after: null })).records).toEqual([])
    expect((await store.events.list(ALL_EVENTS, { limit: 9, after: null })).records).toEqual([])
    expect(await claim(store)).toEqual([])
    forward.deliveries.pop()
    await store.inbound.accept(mail)
    expect(await claimDue(store.inboundDeliveries, request)).toHaveLength(1)
    expect(await claim(store)).toHaveLength(1)
  })

  holds('mail is listed newest first and by each filter', async (store, records) => {
    await found(store, records)
    const [a, b] = [records.inboundRoute(), records.inboundRoute({ action: { type: 'store', config: {} } })]
    for (const route of [a, b]) await store.inboundRoutes.create(route, 'secret')
    const take = async (change: Partial<InboundMessage>, route = a) => {
      const mail = records.acceptedInbound([route], change)
      await store.inbound.accept(mail)
      return mail.taken[0]!.message.id
    }
    const all = [
      await take({ from: 'Bob@out.example', to: ['one@a.example', 'TWO@a.example'] }),
      await take({ from: 'bob@out.example', to: ['two@a.example', 'two@a.example'], receivedAt: START + 5 }),
      await take({ from: 'carl@out.example', to: ['one@a.example'], domainId: 'dom_b' }, b),
      await take({ from: '', to: ['bob@out.example'], receivedAt: START + 9 }, b),
    ]
    await take({ organizationId: 'org_b', from: 'bob@out.example', to: ['one@a.example'] })
    const only = async (filter: Partial<InboundFilter>) =>
      (await idsByPage((page) => store.inbound.list({ ...ALL_INBOUND, ...filter }, page))).map((id) => all.indexOf(id))
    expect(await only({})).toEqual([3, 2, 1, 0])
    expect(await only({ from: 'BOB@out.example' })).toEqual([1, 0])
    expect(await only({ to: 'two@A.example' })).toEqual([1, 0])
    expect(await only({ to: 'one@a.example' })).toEqual([2, 0])
    expect(await only({ to: 'one@a.example', from: 'bob@out.example' })).toEqual([0])
    expect(await only({ to: 'one@a.example', routeId: b.id, domainId: 'dom_b' })).toEqual([2])
    expect(await only({ from: 'nobody@out.example' })).toEqual([])
    expect(await only({ routeId: b.id })).toEqual([3, 2])
    expect(await only({ domainId: 'dom_b' })).toEqual([2])
    expect(await only({ status: 'pending' })).toEqual([1, 0])
    expect(await only({ status: 'pending', routeId: a.id, from: 'bob@out.example' })).toEqual([1, 0])
    expect(await only({ status: 'failed' })).toEqual([])
    expect(await only({ part: 'B@OUT' })).toEqual([3, 1, 0])
    expect(await only({ part: 'two@', routeId: a.id })).toEqual([1, 0])
    expect(await only({ part: 'one@a', from: 'bob@out.example' })).toEqual([0])
    expect(await only({ part: '%' })).toEqual([])
    expect(await only({ createdAfter: START + 5 })).toEqual([3, 1])
    expect(await only({ createdAfter: START + 5, createdBefore: START + 9 })).toEqual([1])
  })
}

/** A mail that a forwarding route accepted, not yet written, and a webhook route beside it. */
async function forwarded(store: Store, records: Records) {
  await found(store, records)
  const hook = records.inboundRoute()
  const route = records.inboundRoute({ action: { type: 'forward', config: { to: ['ann@out.example'] } } })
  for (const each of [hook, route]) await store.inboundRoutes.create(each, 'secret')
  const forward = records.accepted({ deliveries: [{ email: 'ann@out.example' }] })
  forward.events = [records.event({ messageId: forward.message.id })]
  const mail = records.acceptedInbound([route], { forwardedAs: forward.message.id })
  mail.taken[0]!.forward = forward
  return { mail, forward, hook }
}

import { expect } from 'bun:test'
import { queueOf } from '../../src/model/delivery.ts'
import { ANY } from '../support/claim.ts'
import type { Holds } from './contract.ts'
import {
  ALL_EVENTS,
  ALL_MESSAGES,
  accept,
  attempt,
  BOUNCED,
  claim,
  DEFERRED,
  found,
  ORGANIZATION,
  recordOf,
  START,
  WORKER,
} from './records.ts'

const VOLUME = { organizationId: ORGANIZATION, month: '2026-11' }

export function messagePromises(holds: Holds): void {
  holds('which of some IDs messages and inbound messages have is known', async (store, records) => {
    await found(store, records)
    const { message } = await accept(store, records.accepted())
    const route = records.inboundRoute()
    await store.inboundRoutes.create(route, 'secret')
    const mail = records.acceptedInbound([route, route])
    await store.inbound.accept(mail)
    const inboundIds = mail.taken.map(({ message: { id } }) => id)
    const asked = ['msg_none', message.id, ...inboundIds]
    expect(await store.messages.existing(asked)).toEqual(new Set([message.id]))
    expect(await store.inbound.existing(asked)).toEqual(new Set(inboundIds))
    expect(await store.messages.existing([])).toEqual(new Set())
    expect(await store.inbound.existing([])).toEqual(new Set())
  })

  holds('a message reads as it was accepted', async (store, records) => {
    await found(store, records)
    const accepted = records.accepted({
      from: 'ann@a.example',
      to: 'Bob <bob@dest.example>',
      cc: ['c@dest.example', 'Dörte <d@dest.example>'],
      bcc: 'e@dest.example',
      replyTo: [],
      subject: 'Grüße 🎉',
      tags: ['b', 'a', 'b'],
      metadata: { text: 'x', number: 1.5, yes: true, 'quo"te': '' },
      templateId: 'tpl_1',
      keyId: 'key_1',
      source: 'smtp',
      mode: 'test',
      scheduledAt: START + 1,
      expiresAt: START + 2,
      requireTls: true,
      unsubscribe: true,
      replies: null,
      trackOpens: true,
      trackClicks: true,
      deliveries: [
        { email: 'bob@dest.example' },
        { type: 'cc' },
        { type: 'bcc', status: 'suppressed', nextAttemptAt: null },
      ],
    })
    await accept(store, accepted)
    const { id } = accepted.message
    expect(await store.messages.get(id)).toEqual(accepted.message)
    expect([...(await store.messages.content(id))!]).toEqual([...accepted.content])
    const deliveries = await store.messages.deliveries(id)
    const fresh = {
      messageId: id,
      mxHost: null,
      tls: null,
      isSoftBounceReported: false,
      machineOpens: 0,
      machineClicks: 0,
    }
    const queue = queueOf('dest.example', accepted.message.organizationId)
    expect(deliveries).toEqual(accepted.deliveries.map(({ destination: _, ...part }) => ({ ...part, ...fresh, queue })))
  })

  holds('an unknown id returns nothing', async (store) => {
    expect(await store.messages.get('msg_none')).toBeNull()
    expect(await store.messages.content('msg_none')).toBeNull()
    expect(await store.messages.deliveries('msg_none')).toEqual([])
    expect(await store.messages.attempts('msg_none')).toEqual([])
    expect(await store.messages.cancel('msg_none', START)).toBe('invalid_state')
    expect(await store.messages.reschedule('msg_none', START, START)).toBe('invalid_state')
    expect(await store.messages.volume(ORGANIZATION, '2026-11')).toBe(0)
  })

  holds('sandbox mail is accepted with its outcome', async (store, records) => {
    await found(store, records)
    const part = {
      status: 'bounced' as const,
      nextAttemptAt: null,
      attempts: 1,
      opens: 1,
      clicks: 2,
      bounceType: 'hard' as const,
      bounceCode: '5.1.1',
    }
    const accepted = records.accepted({ status: 'bounced', mode: 'test', deliveries: [part] })
    const event = records.event({ type: 'message.bounced', messageId: accepted.message.id, mode: 'test' })
    accepted.attempts = [{ deliveryId: accepted.deliveries[0]!.id, attempt: attempt({ outcome: 'bounced' }) }]
    accepted.events = [event]
    accepted.suppressions = [records.suppression()]
    await accept(store, accepted)
    const { id } = accepted.message
    expect(await store.messages.attempts(id)).toEqual([
      { email: 'r0@dest.example', attempt: attempt({ outcome: 'bounced' }) },
    ])
    expect((await store.messages.deliveries(id))[0]).toMatchObject(part)
    expect(await store.events.get(event.id)).toEqual(event)
    expect(await store.suppressions.find(ORGANIZATION, 'bob@dest.example')).toHaveLength(1)
    expect(await claim(store)).toEqual([])
  })

  holds('volume counts recipients of a month up to its limit', async (store, records) => {
    await found(store, records)
    const send = (count: number, limit: number, month = '2026-11') =>
      store.messages.accept([records.accepted()], { organizationId: ORGANIZATION, month, count, limit })
    expect(await send(3, 5)).toEqual({ kind: 'accepted' })
    expect(await send(3, 5)).toEqual({ kind: 'volume_exceeded', used: 3 })
    expect(await send(2, 5)).toEqual({ kind: 'accepted' })
    expect(await send(0, 5)).toEqual({ kind: 'accepted' })
    expect(await send(1, 5)).toEqual({ kind: 'volume_exceeded', used: 5 })
    expect(await send(100, -1)).toEqual({ kind: 'accepted' })
    expect(await send(1, 5, '2026-12')).toEqual({ kind: 'accepted' })
    expect(await store.messages.volume(ORGANIZATION, '2026-11')).toBe(105)
    expect(await store.messages.volume(ORGANIZATION, '2026-12')).toBe(1)
    expect(await store.messages.volume('org_b', '2026-11')).toBe(0)
    expect((await store.messages.list(ALL_MESSAGES, { limit: 9, after: null })).records).toHaveLength(5)
    expect(await store.messages.accept([], { ...VOLUME, count: 1, limit: 0 })).toEqual({
      kind: 'volume_exceeded',
      used: 105,
    })
  })

  holds('attempts of all recipients are listed oldest first', async (store, records) => {
    await found(store, records)
    const { message } = await accept(store, records.accepted({ deliveries: [{}, {}] }))
    const [first, second] = await claim(store)
    const at = (startedAt: number) => ({ attempt: attempt({ startedAt, outcome: 'deferred' }) })
    await store.deliveries.record(recordOf(second!, DEFERRED, at(START + 1)))
    await store.deliveries.record(recordOf(first!, DEFERRED, at(START + 2)))
    const [again] = await claim(store, { now: START + 60_000, limit: 1 })
    await store.deliveries.record(recordOf(again!, DEFERRED, { attempt: attempt({ number: 2, startedAt: START + 3 }) }))
    const attempts = await store.messages.attempts(message.id)
    expect(attempts.map((each) => each.attempt.startedAt - START)).toEqual([1, 2, 3])
    expect(attempts[0]!.email).toBe(second!.delivery.email)
  })

  holds('an open message can be cancelled, and is then never tried', async (store, records) => {
    await found(store, records)
    const { message } = await accept(
      store,
      records.accepted({ deliveries: [{}, { status: 'suppressed', nextAttemptAt: null }] }),
    )
    expect(await store.messages.cancel(message.id, START)).toBe('cancelled')
    expect((await store.messages.deliveries(message.id)).map(({ status }) => status)).toEqual([
      'cancelled',
      'suppressed',
    ])
    expect((await store.messages.get(message.id))!.status).toBe('partial')
    expect(await claim(store)).toEqual([])
    expect(await store.messages.cancel(message.id, START)).toBe('invalid_state')
  })

  holds('a deferred message can be cancelled between attempts', async (store, records) => {
    await found(store, records)
    const { message } = await accept(store, records.accepted())
    const [claimed] = await claim(store)
    await store.deliveries.record(recordOf(claimed!, DEFERRED))
    expect(await store.messages.cancel(message.id, START)).toBe('cancelled')
    expect((await store.messages.get(message.id))!.status).toBe('cancelled')
    expect(await claim(store, { now: START + 1e9 })).toEqual([])
  })

  holds('a message that is under way or final cannot be cancelled', async (store, records) => {
    await found(store, records)
    for (const outcome of [undefined, BOUNCED]) {
      const { message } = await accept(store, records.accepted({ deliveries: [{}, { nextAttemptAt: START + 1 }] }))
      const [claimed] = await claim(store)
      expect(await store.messages.cancel(message.id, START)).toBe('invalid_state')
      await store.deliveries.record(recordOf(claimed!, outcome))
      expect(await store.messages.cancel(message.id, START)).toBe('invalid_state')
      const open = (await store.messages.deliveries(message.id))[1]!
      expect(open).toMatchObject({ status: 'queued', nextAttemptAt: START + 1 })
      const rest = await claim(store, { now: START + 1 })
      for (const each of rest) await store.deliveries.record(recordOf(each))
    }
  })

  holds('a scheduled message can be moved earlier, later and into the past', async (store, records) => {
    await found(store, records)
    const at = START + 1000
    const { message } = await accept(
      store,
      records.accepted({
        status: 'scheduled',
        scheduledAt: at,
        deliveries: [{ status: 'scheduled', nextAttemptAt: at }],
      }),
    )
    expect(await claim(store, { now: at - 1 })).toEqual([])
    expect(await store.messages.reschedule(message.id, at + 500, START)).toBe('rescheduled')
    expect(await claim(store, { now: at })).toEqual([])
    expect((await store.messages.get(message.id))!.scheduledAt).toBe(at + 500)
    expect(await store.messages.reschedule(message.id, START + 10, START)).toBe('rescheduled')
    expect(await store.deliveries.nextDueAt(ANY)).toBe(START + 10)
    expect(await store.messages.reschedule(message.id, START - 10, START)).toBe('rescheduled')
    const [claimed] = await claim(store)
    expect(claimed!.message.id).toBe(message.id)
    expect(await store.messages.reschedule(message.id, at, START)).toBe('invalid_state')
  })

  holds('the maximum age of a message moves with its start', async (store, records) => {
    await found(store, records)
    const at = START + 1000
    const due = { status: 'scheduled' as const, nextAttemptAt: at }
    const times = { status: 'scheduled' as const, scheduledAt: at, expiresAt: at + 60 }
    const { message } = await accept(store, records.accepted({ ...times, deliveries: [due] }))
    const { message: patient } = await accept(store, records.accepted({ ...times, expiresAt: null, deliveries: [due] }))
    await store.messages.reschedule(message.id, at + 500, START)
    await store.messages.reschedule(patient.id, at + 500, START)
    expect(await store.messages.get(message.id)).toMatchObject({ scheduledAt: at + 500, expiresAt: at + 560 })
    expect(await store.messages.get(patient.id)).toMatchObject({ scheduledAt: at + 500, expiresAt: null })
  })

  holds('only a message that waits for its time can be moved', async (store, records) => {
    await found(store, records)
    const { message: queued } = await accept(store, records.accepted())
    expect(await store.messages.reschedule(queued.id, START + 9, START)).toBe('invalid_state')
    const scheduled = { status: 'scheduled' as const, nextAttemptAt: START + 9 }
    const { message } = await accept(
      store,
      records.accepted({ deliveries: [scheduled, { ...scheduled, status: 'queued' }] }),
    )
    expect(await store.messages.reschedule(message.id, START + 99, START)).toBe('invalid_state')
    const { message: cancelled } = await accept(store, records.accepted({ deliveries: [scheduled] }))
    await store.messages.cancel(cancelled.id, START)
    expect(await store.messages.reschedule(cancelled.id, START + 99, START)).toBe('invalid_state')
  })

  holds('concurrent cancelling and claiming have one winner', async (store, records) => {
    await found(store, records)
    const { message } = await accept(store, records.accepted())
    const [cancelled, claims] = await Promise.all([store.messages.cancel(message.id, START), claim(store)])
    expect([cancelled, claims.length]).toEqual(['cancelled', 0])
    const { message: other } = await accept(store, records.accepted())
    const request = { now: START, limit: 9 }
    const plan = await store.deliveries.planClaims({ ...request, look: ANY })
    const claiming = store.deliveries.claimDue({ ...request, worker: WORKER, plan })
    const [taken, late] = await Promise.all([claiming, store.messages.cancel(other.id, START)])
    expect([taken.length, late]).toEqual([1, 'invalid_state'])
    expect(taken[0]!.worker).toBe(WORKER)
    expect((await store.events.list(ALL_EVENTS, { limit: 9, after: null })).records).toEqual([])
  })
}

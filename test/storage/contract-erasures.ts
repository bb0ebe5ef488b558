import { expect } from 'bun:test'
import { ERASED_ADDRESS, ERASURES_TOGETHER } from '../../src/model/erasure.ts'
import { TRANSACTIONAL } from '../../src/model/message.ts'
import { firstId } from '../../src/os/ids.ts'
import type { Store } from '../../src/storage/store.ts'
import { claimDue } from '../support/claim.ts'
import { VERIFIED } from '../support/verified.ts'
import type { Holds } from './contract.ts'
import {
  ALL_EVENTS,
  ALL_INBOUND,
  ALL_MESSAGES,
  accept,
  claim,
  found,
  idsByPage,
  lateBounce,
  ORGANIZATION,
  postAttempt,
  type Records,
  recordOf,
  START,
  WORKER,
} from './records.ts'

const DAY = 86_400_000
const ASKED_AT = START + DAY
const ANN = 'ann+news@dest.example'
const BEN = 'ben@dest.example'
/** Of a step whose time is never up. */
const NEVER = () => false
const OVER = { status: 'delivered' as const, nextAttemptAt: null }

/** Begins an erasure and runs it until nothing is due → the number of steps. */
export async function erase(store: Store, records: Records, email = ANN, now = ASKED_AT) {
  const id = `era_${records.event().id.slice(4)}`
  const erasure = await store.erasures.begin({ id, organizationId: ORGANIZATION, email, now })
  return { id: erasure!.id, steps: await runAll(store, now) }
}

async function runAll(store: Store, now: number): Promise<number> {
  let steps = 0
  while (await store.erasures.step(now, NEVER)) steps++
  return steps
}

const idsOf = (store: Store, filter: Partial<typeof ALL_MESSAGES> = {}) =>
  idsByPage((page) => store.messages.list({ ...ALL_MESSAGES, ...filter }, page))

export function erasurePromises(holds: Holds): void {
  holds('messages to nobody else are removed with their events, in live and test mode', async (store, records) => {
    await found(store, records)
    const live = records.accepted({ status: 'delivered', deliveries: [{ ...OVER, email: ANN }] })
    const test = records.accepted({
      status: 'delivered',
      mode: 'test',
      deliveries: [{ ...OVER, email: 'Ann+News@dest.example' }],
    })
    const other = records.accepted({ status: 'delivered', deliveries: [{ ...OVER, email: `x.${ANN}` }] })
    const events = [live, test, other].map(({ message, deliveries }) =>
      records.event({ messageId: message.id, body: JSON.stringify({ data: { to: deliveries[0]!.email } }) }),
    )
    for (const [at, each] of [live, test, other].entries()) await accept(store, { ...each, events: [events[at]!] })
    await store.maintain('recent', () => true)
    const { id } = await erase(store, records)

    expect(await idsOf(store)).toEqual([other.message.id])
    expect(await idsOf(store, { to: ANN })).toEqual([])
    expect(await store.messages.content(live.message.id)).toBeNull()
    expect(await idsByPage((page) => store.events.list(ALL_EVENTS, page))).toEqual([events[2]!.id])
    const erasure = await store.erasures.get(id)
    expect(erasure).toMatchObject({ finishedAt: ASKED_AT, removed: { messages: 2, sharedMessages: 0 } })
  })

  holds(
    'a message with other recipients loses the address and its content, and keeps its status',
    async (store, records) => {
      await found(store, records)
      const accepted = records.accepted({
        status: 'delivered',
        to: [`Ann <${ANN}>`, BEN],
        subject: `For ${ANN.toUpperCase()} and ben`,
        metadata: { who: ANN, city: 'İstanbul' },
        deliveries: [
          { ...OVER, email: ANN, smtpResponse: `250 ${ANN} ok` },
          { ...OVER, email: BEN },
        ],
      })
      await accept(store, accepted)
      const { id } = accepted.message
      await store.maintain('recent', () => true)
      await erase(store, records)

      const message = await store.messages.get(id)
      expect(message).toMatchObject({
        status: 'delivered',
        to: [ERASED_ADDRESS, BEN],
        metadata: { who: ERASED_ADDRESS, city: 'İstanbul' },
      })
      expect(message!.subject).toBe(`For ${ERASED_ADDRESS} and ben`)
      expect((await store.messages.deliveries(id)).map(({ email }) => email)).toEqual([ERASED_ADDRESS, BEN])
      expect(JSON.stringify(await store.messages.deliveries(id))).not.toContain(ANN)
      expect(await store.messages.content(id)).toBeNull()
      expect(await store.messages.contentRemoval(id)).toEqual({ removedAt: ASKED_AT, reason: 'erasure' })
      expect(await idsOf(store, { text: 'news' })).toEqual([])
      expect(await idsOf(store, { text: 'ben' })).toEqual([id])
      expect(await idsOf(store, { to: BEN })).toEqual([id])
    },
  )

  holds('queued mail is cancelled, and an attempt in progress ends first', async (store, records) => {
    await found(store, records)
    await store.webhooks.create(records.webhook({ events: ['message.cancelled'] }), 'whsec_a')
    const waiting = await accept(
      store,
      records.accepted({ deliveries: [{ email: ANN, nextAttemptAt: START + 9 * DAY }] }),
    )
    const shared = await accept(
      store,
      records.accepted({
        to: [ANN, BEN],
        deliveries: [
          { email: ANN, nextAttemptAt: START + 9 * DAY },
          { email: BEN, ...OVER },
        ],
      }),
    )
    const sent = await accept(store, records.accepted({ deliveries: [{ email: ANN }] }))
    const [claimed] = await claim(store)
    expect(claimed!.message.id).toBe(sent.message.id)
    const { id } = await erase(store, records)
    expect(await store.messages.get(waiting.message.id)).toBeNull()
    expect(await store.messages.get(sent.message.id)).not.toBeNull()
    expect((await store.messages.deliveries(shared.message.id))[0]!.status).toBe('cancelled')
    expect(await idsByPage((page) => store.events.list(ALL_EVENTS, page))).toEqual([])
    expect(await store.erasures.get(id)).toMatchObject({ finishedAt: null })
    expect(await claim(store, { now: START + 10 * DAY })).toEqual([])

    expect(await store.deliveries.record(recordOf(claimed!))).toBe('recorded')
    expect(await store.erasures.step(ASKED_AT + 29_000, NEVER)).toBe(false)
    await runAll(store, ASKED_AT + 30_000)
    expect(await idsOf(store)).toEqual([shared.message.id])
    expect((await store.messages.deliveries(shared.message.id))[0]!.email).toBe(ERASED_ADDRESS)
    expect(await store.erasures.get(id)).toMatchObject({ finishedAt: ASKED_AT + 30_000 })
  })

  holds(
    'a suppressed address stays suppressed without being readable, and twice is harmless',
    async (store, records) => {
      await found(store, records)
      const suppression = records.suppression({ email: ANN, reason: 'complaint', evidence: `from ${ANN}` })
      await store.suppressions.add(suppression)
      await erase(store, records)
      const filter = {
        organizationId: ORGANIZATION,
        email: null,
        reason: null,
        createdAfter: null,
        createdBefore: null,
      }
      const list = async () => (await store.suppressions.list(filter, { limit: 9, after: null })).records
      const [kept] = await list()
      expect(kept).toMatchObject({ id: suppression.id, reason: 'complaint', evidence: null, messageId: null })
      expect(kept!.email).toMatch(/^[0-9a-f]{64}@erased\.invalid$/)
      const mail = { ...suppression, domainId: suppression.domainId ?? 'dom_x', stream: TRANSACTIONAL }
      const among = () => store.suppressions.among(mail, [ANN, BEN])
      expect([...(await among())]).toEqual([[ANN, { reason: 'complaint', stream: null }]])
      expect((await store.suppressions.find(ORGANIZATION, ANN)).map(({ id }) => id)).toEqual([suppression.id])
      expect((await store.suppressions.among({ ...mail, organizationId: 'org_b' }, [ANN])).size).toBe(0)

      await store.suppressions.add(records.suppression({ email: ANN, reason: 'manual' }))
      await erase(store, records, ANN, ASKED_AT + 1)
      expect(await list()).toEqual([kept!])
      expect(await store.suppressions.remove([suppression.id], START)).toBe(1)
      expect((await among()).size).toBe(0)
    },
  )

  holds('each stream that an erased address opted out of stays suppressed', async (store, records) => {
    await found(store, records)
    const ofStream = (stream: string, reason: 'unsubscribe' | 'complaint') =>
      store.suppressions.add(records.suppression({ email: ANN, stream, reason }))
    for (const at of [ASKED_AT, ASKED_AT + 1]) {
      await ofStream('bulk', 'unsubscribe')
      await ofStream('bulk', 'complaint')
      await ofStream('news', 'unsubscribe')
      await erase(store, records, ANN, at)
    }
    const left = await store.suppressions.find(ORGANIZATION, ANN)
    expect(left.map(({ stream, reason }) => `${stream} ${reason}`).sort()).toEqual([
      'bulk complaint',
      'bulk unsubscribe',
      'news unsubscribe',
    ])
    expect((await store.usage.of(ORGANIZATION, START)).suppressions).toBe(3)
    const { organizationId, domainId, mode } = records.suppression()
    const why = async (stream: string) =>
      (await store.suppressions.among({ organizationId, domainId: domainId ?? '', mode, stream }, [ANN])).get(ANN)
    expect([await why('news'), await why('transactional')]).toEqual([
      { reason: 'complaint', stream: 'bulk' },
      undefined,
    ])
  })

  holds('inbound messages from and to the address are removed', async (store, records) => {
    await found(store, records)
    const route = records.inboundRoute()
    await store.inboundRoutes.create(route, 'whsec_a')
    const notForwarded = [{ email: ANN, reason: 'stopped' as const }]
    const mails = [{ from: ANN }, { to: [ANN] }, { from: BEN, to: [BEN], notForwarded }].map((change) => {
      const mail = records.acceptedInbound([route])
      Object.assign(mail.taken[0]!.message, change)
      return mail
    })
    for (const mail of mails) await store.inbound.accept(mail)
    await erase(store, records)
    const left = await idsByPage((page) => store.inbound.list(ALL_INBOUND, page))
    expect(left).toEqual([mails[2]!.taken[0]!.message.id])
    expect((await store.inbound.get(left[0]!))!.notForwarded).toEqual([{ email: ERASED_ADDRESS, reason: 'stopped' }])
    expect(await store.inbound.raw(mails[0]!.taken[0]!.message.id)).toBeNull()
  })

  holds('another organization keeps its records, and so does mail that is accepted later', async (store, records) => {
    await found(store, records)
    const over = { status: 'delivered' as const, deliveries: [{ ...OVER, email: ANN }] }
    const theirs = await accept(store, records.accepted({ ...over, organizationId: 'org_b' }))
    const later = await accept(store, records.accepted({ ...over, createdAt: ASKED_AT + 1 }))
    const event = records.event({ messageId: firstId('msg', ASKED_AT + 5), body: JSON.stringify({ to: ANN }) })
    await store.events.append([event])
    await erase(store, records)
    expect(await store.messages.get(theirs.message.id)).not.toBeNull()
    expect(await store.messages.content(theirs.message.id)).not.toBeNull()
    expect(await idsOf(store)).toEqual([later.message.id])
    expect(await store.events.get(event.id)).not.toBeNull()
  })

  // threat: erasures-without-end
  holds('an organization has a limited number of erasures running, others are not held up', async (store, records) => {
    await found(store, records)
    const begin = (at: number, organizationId: string = ORGANIZATION) =>
      store.erasures.begin({
        id: `era_${at}`.padEnd(30, '0'),
        organizationId,
        email: `r${at}@dest.example`,
        now: ASKED_AT,
      })
    for (let at = 100; at < 100 + ERASURES_TOGETHER; at++) expect(await begin(at)).not.toBeNull()
    expect(await begin(200)).toBeNull()
    expect(await begin(100)).not.toBeNull() // it runs already
    expect(await begin(201, 'org_another00000000000000000000')).not.toBeNull()
    await runAll(store, ASKED_AT)
    expect(await begin(202)).not.toBeNull()
  })

  holds('an erasure continues after a restart, in steps of ten messages', async (store, records, { reopen }) => {
    await found(store, records)
    for (let at = 0; at < 35; at++) {
      await accept(store, records.accepted({ status: 'delivered', deliveries: [{ ...OVER, email: ANN }] }))
    }
    const asked = { organizationId: ORGANIZATION, email: ANN, now: ASKED_AT }
    const { id } = (await store.erasures.begin({ ...asked, id: 'era_00000000000000000000000001' }))!
    expect(await store.erasures.step(ASKED_AT, NEVER)).toBe(true)
    expect((await idsOf(store)).length).toBe(25)
    const opened = await reopen()
    const again = await opened.erasures.begin({ ...asked, id: 'era_00000000000000000000000002' })
    expect(again?.id).toBe(id)
    await runAll(opened, ASKED_AT)
    expect(await idsOf(opened)).toEqual([])
    expect(await opened.erasures.get(id)).toMatchObject({ finishedAt: ASKED_AT, removed: { messages: 35 } })
  })

  // threat: erased-data-read-back
  holds('what happens to an erased delivery later is not recorded', async (store, records) => {
    await found(store, records)
    const { deliveries } = await accept(
      store,
      records.accepted({
        status: 'delivered',
        deliveries: [
          { ...OVER, email: ANN },
          { ...OVER, email: BEN },
        ],
      }),
    )
    const [ann, ben] = deliveries.map(({ id }) => id) as [string, string]
    await erase(store, records)
    expect(await store.deliveries.get(ann)).toBeNull()
    const late = (id: string) =>
      store.deliveries.recordLate(lateBounce(id, records.report({ diagnostic: `550 ${ANN}` }), 'delivered'))
    expect([await late(ann), await late(ben)]).toEqual(['unknown', 'recorded'])
    for (const kind of ['opened', 'unsubscribed'] as const) {
      const suppression = records.suppression({ email: ERASED_ADDRESS, reason: 'unsubscribe' })
      const engaged = { deliveryId: ann, kind, machine: false, event: records.event(), suppression, now: ASKED_AT }
      expect(await store.deliveries.recordEngagement(engaged)).toBe('unknown')
    }
    expect(await idsByPage((page) => store.events.list(ALL_EVENTS, page))).toEqual([])
    expect(await store.suppressions.find(ORGANIZATION, ERASED_ADDRESS)).toEqual([])
  })

  holds('mail from the address goes with what a route forwarded of it; later mail stays', async (store, records) => {
    await found(store, records)
    const route = records.inboundRoute({ action: { type: 'forward', config: { to: [BEN] } } })
    await store.inboundRoutes.create(route, 'whsec_a')
    const mailAt = (receivedAt: number) => {
      const mail = records.acceptedInbound([route], { from: ANN, receivedAt })
      const forward = records.accepted({ createdAt: receivedAt, deliveries: [{ email: BEN }] })
      Object.assign(mail.taken[0]!, { forward })
      mail.taken[0]!.message.forwardedAs = forward.message.id
      return { mail, id: mail.taken[0]!.message.id, forwarded: forward.message.id }
    }
    const [early, late] = [mailAt(START), mailAt(ASKED_AT + 1)]
    for (const { mail, forwarded } of [early, late]) {
      await store.inbound.accept(mail)
      await store.events.append([records.event({ messageId: forwarded })])
    }
    const [claimed] = await claim(store)
    const { id } = await erase(store, records)
    expect(await store.erasures.get(id)).toMatchObject({ finishedAt: null, removed: { inboundMessages: 0 } })
    await store.deliveries.record(recordOf(claimed!))
    await runAll(store, ASKED_AT + 30_000)

    expect(await idsByPage((page) => store.inbound.list(ALL_INBOUND, page))).toEqual([late.id])
    expect(await idsOf(store)).toEqual([late.forwarded])
    expect(await store.messages.content(early.forwarded)).toBeNull()
    expect((await idsByPage((page) => store.events.list(ALL_EVENTS, page))).length).toBe(1)
    const erasure = await store.erasures.get(id)
    expect(erasure).toMatchObject({ finishedAt: ASKED_AT + 30_000, removed: { inboundMessages: 1, messages: 1 } })
  })

  holds('an event goes although it is being posted, and the post is recorded nowhere', async (store, records) => {
    await found(store, records)
    await store.webhooks.create(records.webhook(), 'whsec_a')
    for (let at = 0; at < 2; at++) await store.events.append([records.event({ body: JSON.stringify({ to: ANN }) })])
    const request = { now: START, limit: 1, worker: WORKER, freeFor: () => 1 }
    const [posted] = await claimDue(store.webhookDeliveries, request)
    expect(posted!.body).toContain(ANN)
    const { id } = await erase(store, records)
    expect(await store.erasures.get(id)).toMatchObject({ finishedAt: ASKED_AT, removed: { events: 2 } })
    const record = {
      ...{ deliveryId: posted!.id, worker: WORKER, attempt: postAttempt({ number: 1 }), status: 'failed' as const },
      ...{ nextAttemptAt: null, pauseReason: 'it failed', now: ASKED_AT },
    }
    expect(await store.webhookDeliveries.record(record)).toBe('lease_lost')
    expect(await claimDue(store.webhookDeliveries, { ...request, now: ASKED_AT })).toEqual([])
    expect((await store.webhooks.get(posted!.webhookId))?.status).toBe('active')
  })

  // threat: erasures-without-end
  holds('events are read a hundred at a time, and those that keep coming do not hold it up', async (store, records) => {
    await found(store, records)
    const events = (count: number, to: string) =>
      Array.from({ length: count }, () => records.event({ messageId: null, body: JSON.stringify({ to }) }))
    await store.events.append([...events(150, ANN), ...events(100, BEN)])
    const { id } = (await store.erasures.begin({
      ...{ id: 'era_00000000000000000000000004', organizationId: ORGANIZATION, email: ANN, now: ASKED_AT },
    }))!
    let steps = 0
    for (; steps < 30 && (await store.erasures.step(ASKED_AT, NEVER)); steps++) {
      await store.events.append(events(100, BEN))
    }
    expect(steps).toBeLessThan(20)
    expect(await store.erasures.get(id)).toMatchObject({ finishedAt: ASKED_AT, removed: { events: 150 } })
  })

  holds('a slice ends when its time is up, wherever it is', async (store, records) => {
    await found(store, records)
    const route = records.inboundRoute()
    await store.inboundRoutes.create(route, 'whsec_a')
    for (let at = 0; at < 3; at++) {
      await accept(store, records.accepted({ status: 'delivered', deliveries: [{ ...OVER, email: ANN }] }))
      await store.inbound.accept(records.acceptedInbound([route], { from: ANN }))
    }
    const asked = { organizationId: ORGANIZATION, email: ANN, now: ASKED_AT }
    const { id } = (await store.erasures.begin({ ...asked, id: 'era_00000000000000000000000003' }))!
    const counts: [number, number][] = []
    while (await store.erasures.step(ASKED_AT, () => true)) {
      const { messages, inboundMessages } = (await store.erasures.get(id))!.removed
      counts.push([messages, inboundMessages])
    }
    const steps = counts.filter(([messages, inbound], at) => {
      const [before, inboundBefore] = counts[at - 1] ?? [0, 0]
      expect(messages - before + inbound - inboundBefore).toBeLessThanOrEqual(1)
      return messages + inbound > before + inboundBefore
    })
    expect([steps.length, counts.at(-1)]).toEqual([6, [3, 3]])
  })

  holds('while something waits, the events are not read again', async (store, records) => {
    await found(store, records)
    await accept(store, records.accepted({ deliveries: [{ email: ANN }] }))
    const [claimed] = await claim(store)
    const { id, steps } = await erase(store, records)
    expect(steps).toBeGreaterThan(7)
    for (const later of [30_000, 60_000]) expect(await runAll(store, ASKED_AT + later)).toBe(1)
    await store.deliveries.record(recordOf(claimed!))
    expect(await runAll(store, ASKED_AT + 90_000)).toBeGreaterThan(7)
    expect(await store.erasures.get(id)).toMatchObject({ finishedAt: ASKED_AT + 90_000, removed: { messages: 1 } })
  })

  holds('the record lists who and what still names the address', async (store, records) => {
    await found(store, records)
    const user = { id: records.event().id.replace('evt', 'usr'), email: ANN, name: 'Ann', isOperator: false }
    const times = { createdAt: START, disabledAt: null, lastSeenAt: null, ...VERIFIED }
    await store.users.create({ ...user, ...times, roles: { [ORGANIZATION]: 'viewer' } }, null)
    const invitation = {
      ...{ id: 'ivt_00000000000000000000000001', organizationId: ORGANIZATION, email: ANN, role: 'viewer' as const },
      ...{ invitedBy: user.id, createdAt: START, expiresAt: ASKED_AT + DAY },
    }
    await store.invitations.create(invitation, { shown: records.hash(), mailed: records.hash() })
    const route = records.inboundRoute({ action: { type: 'forward', config: { to: [ANN] } } })
    const other = records.inboundRoute({ action: { type: 'forward', config: { to: [BEN] } } })
    for (const each of [route, other]) await store.inboundRoutes.create(each, 'whsec_a')
    await store.forwardTargets.set(ORGANIZATION, ANN, 'confirmed', START)
    const target = { type: 'forward_target' as const, id: null }
    const people = [
      { type: 'user' as const, id: user.id },
      { type: 'invitation' as const, id: invitation.id },
    ]
    const remaining = async (now: number, organizationId: string = ORGANIZATION) => {
      const id = `era_${now}`.padEnd(30, '0')
      expect(await store.erasures.begin({ id, organizationId, email: ANN, now })).toMatchObject({ remaining: [] })
      await runAll(store, now)
      return (await store.erasures.get(id))!.remaining
    }
    expect(await remaining(ASKED_AT)).toEqual([...people, target, { type: 'inbound_route', id: route.id }])
    expect(await remaining(ASKED_AT + 1, 'org_b')).toEqual([])

    // Without the route nothing needs the confirmation. That the owner stopped the mail must hold for the next one.
    await store.inboundRoutes.remove(route.id)
    expect(await remaining(ASKED_AT + 2)).toEqual(people)
    expect(await store.forwardTargets.status(ORGANIZATION, ANN)).toBe('pending')
    await store.forwardTargets.set(ORGANIZATION, ANN, 'stopped', ASKED_AT)
    expect(await remaining(ASKED_AT + 3)).toEqual([...people, target])
    expect(await store.forwardTargets.status(ORGANIZATION, ANN)).toBe('stopped')
  })

  holds('stored responses that contain the address are removed', async (store, records) => {
    await found(store, records)
    const remembered = (name: number, text: string) => ({
      organizationId: ORGANIZATION,
      keyHash: Buffer.alloc(32, name),
      requestHash: Buffer.alloc(32, name),
      status: 202,
      body: Buffer.from(text),
      createdAt: START,
    })
    const volume = { organizationId: ORGANIZATION, month: '2026-11', count: 1, limit: -1 }
    for (const [name, text] of [`{"to":"${ANN}"}`, `{"to":"${BEN}"}`].entries()) {
      await store.messages.accept([records.accepted()], volume, remembered(name, text))
    }
    await erase(store, records)
    expect(await store.idempotency.find(ORGANIZATION, Buffer.alloc(32, 0), 0)).toBeNull()
    expect(await store.idempotency.find(ORGANIZATION, Buffer.alloc(32, 1), 0)).not.toBeNull()
  })

  holds('a list has those of the organization, newest first, page by page', async (store, records) => {
    await found(store, records)
    const begun = async (email: string, at: number, organizationId = ORGANIZATION) => {
      const id = `era_${String(at).padStart(26, '0')}`
      return (await store.erasures.begin({ id, organizationId, email, now: ASKED_AT + at }))!.id
    }
    const ids = [await begun(ANN, 1), await begun(BEN, 2), await begun('c@dest.example', 3)]
    await begun(ANN, 4, 'org_other')
    const list = (page: Parameters<Store['erasures']['list']>[1]) => store.erasures.list(ORGANIZATION, page)
    expect(await idsByPage(list)).toEqual(ids.toReversed())
    const times = { createdAfter: ASKED_AT + 2, createdBefore: ASKED_AT + 3 }
    const { records: between } = await list({ limit: 9, after: null, ...times })
    expect(between).toEqual([(await store.erasures.get(ids[1]!))!])
  })
}

export function contentRemovalPromises(holds: Holds): void {
  holds(
    'removing content needs closed deliveries, gives back its bytes and keeps the message',
    async (store, records) => {
      await found(store, records)
      // Three deliveries of one message, so that numbers of messages and deliveries differ.
      const closed = ['a', 'b', 'c'].map((name) => ({ ...OVER, email: `${name}@dest.example` }))
      await accept(store, records.accepted({ status: 'delivered', deliveries: closed }))
      const { message } = await accept(store, records.accepted())
      const used = async () => (await store.usage.of(ORGANIZATION, START)).storedBytes
      const before = await used()
      expect(await store.messages.removeContent(message.id, 'request', START)).toBe('invalid_state')
      const [claimed] = await claim(store)
      await store.deliveries.record(recordOf(claimed!))
      expect(await store.messages.contentRemoval(message.id)).toBeNull()
      expect(await store.messages.removeContent(message.id, 'request', START + 5)).toBe('removed')
      expect(await store.messages.removeContent(message.id, 'request', START + 6)).toBe('gone')
      expect(await store.messages.content(message.id)).toBeNull()
      expect(await store.messages.contentRemoval(message.id)).toEqual({ removedAt: START + 5, reason: 'request' })
      expect(await store.messages.get(message.id)).not.toBeNull()
      expect(before - (await used())).toBe(message.sizeBytes)
      expect(await store.messages.existing([message.id])).toEqual(new Set())
    },
  )

  holds(
    'a stream removes content its time after the last attempt, and waits for open deliveries',
    async (store, records) => {
      await found(store, records)
      const { message } = await accept(store, { ...records.accepted(), redactAfterMs: 60_000 })
      expect(await store.messages.redactDue(START + 59_999, 9)).toBe(0)
      expect(await store.messages.redactDue(START + 60_000, 9)).toBe(1)
      expect(await store.messages.content(message.id)).not.toBeNull()
      const [claimed] = await claim(store)
      await store.deliveries.record(recordOf(claimed!))
      expect(await store.messages.redactDue(START + 61_000, 9)).toBe(0)
      expect(await store.messages.redactDue(START + 60_000 + 600_000, 9)).toBe(1)
      expect(await store.messages.content(message.id)).toBeNull()
      expect(await store.messages.contentRemoval(message.id)).toMatchObject({ reason: 'stream' })
      expect(await store.messages.redactDue(START + DAY, 9)).toBe(0)
    },
  )
}

import { expect } from 'bun:test'
import { ERASED_ADDRESS, ERASURES_TOGETHER } from '../../src/model/erasure.ts'
import { firstId } from '../../src/os/ids.ts'
import type { Store } from '../../src/storage/store.ts'
import type { Holds } from './contract.ts'
import {
  ALL_EVENTS,
  ALL_INBOUND,
  ALL_MESSAGES,
  accept,
  claim,
  found,
  idsByPage,
  ORGANIZATION,
  type Records,
  recordOf,
  START,
} from './records.ts'

const DAY = 86_400_000
const ASKED_AT = START + DAY
const ANN = 'ann+news@dest.example'
const BEN = 'ben@dest.example'
const OVER = { status: 'delivered' as const, nextAttemptAt: null }

/** Begins an erasure and runs it until nothing is due → the number of steps. */
export async function erase(store: Store, records: Records, email = ANN, now = ASKED_AT) {
  const id = `era_${records.event().id.slice(4)}`
  const erasure = await store.erasures.begin({ id, organizationId: ORGANIZATION, email, now })
  return { id: erasure!.id, steps: await runAll(store, now) }
}

async function runAll(store: Store, now: number): Promise<number> {
  let steps = 0
  while (await store.erasures.step(now)) steps++
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
        metadata: { who: ANN },
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
        metadata: { who: ERASED_ADDRESS },
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
    expect(await store.erasures.get(id)).toMatchObject({ finishedAt: null })
    expect(await claim(store, { now: START + 10 * DAY })).toEqual([])

    expect(await store.deliveries.record(recordOf(claimed!))).toBe('recorded')
    expect(await store.erasures.step(ASKED_AT + 29_000)).toBe(false)
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
      const among = () => store.suppressions.among(ORGANIZATION, suppression.domainId ?? 'dom_x', [ANN, BEN])
      expect([...(await among())]).toEqual([[ANN, 'complaint']])
      expect((await store.suppressions.find(ORGANIZATION, ANN)).map(({ id }) => id)).toEqual([suppression.id])
      expect((await store.suppressions.among('org_b', suppression.domainId ?? 'dom_x', [ANN])).size).toBe(0)

      await store.suppressions.add(records.suppression({ email: ANN, reason: 'manual' }))
      await erase(store, records, ANN, ASKED_AT + 1)
      expect(await list()).toEqual([kept!])
      expect(await store.suppressions.remove([suppression.id], START)).toBe(1)
      expect((await among()).size).toBe(0)
    },
  )

  holds('inbound messages from and to the address are removed', async (store, records) => {
    await found(store, records)
    const route = records.inboundRoute()
    await store.inboundRoutes.create(route, 'whsec_a')
    const mails = [{ from: ANN }, { to: [ANN] }, { from: BEN, to: [BEN] }].map((change) => {
      const mail = records.acceptedInbound([route])
      Object.assign(mail.taken[0]!.message, change)
      return mail
    })
    for (const mail of mails) await store.inbound.accept(mail)
    await erase(store, records)
    const left = await idsByPage((page) => store.inbound.list(ALL_INBOUND, page))
    expect(left).toEqual([mails[2]!.taken[0]!.message.id])
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
    expect(await store.erasures.step(ASKED_AT)).toBe(true)
    expect((await idsOf(store)).length).toBe(25)
    const opened = await reopen()
    const again = await opened.erasures.begin({ ...asked, id: 'era_00000000000000000000000002' })
    expect(again?.id).toBe(id)
    await runAll(opened, ASKED_AT)
    expect(await idsOf(opened)).toEqual([])
    expect(await opened.erasures.get(id)).toMatchObject({ finishedAt: ASKED_AT, removed: { messages: 35 } })
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

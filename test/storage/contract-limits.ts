import { expect } from 'bun:test'
import { destinationOf } from '../../src/model/delivery.ts'
import type { AskResult } from '../../src/model/forward-target.ts'
import type { Plan } from '../../src/model/organization.ts'
import { inboundStoredBytes, templateStoredBytes } from '../../src/model/stored-bytes.ts'
import type { Template } from '../../src/model/template.ts'
import type { ClaimedDelivery, HeldClaim, Store } from '../../src/storage/store.ts'
import type { Holds } from './contract.ts'
import { claim, DEFERRED, DELIVERED, idsByPage, ORGANIZATION, type Records, recordOf, START } from './records.ts'

/** Limits of a plan are checked inside the transactions that create: parallel creates end at exactly the limit. */
export function limitPromises(holds: Holds): void {
  for (const { name, key, create, count } of CREATES) {
    for (const limit of [1, 7]) {
      // threat: tenant-object-limits
      holds(
        `50 parallel creates of ${name} end at exactly the limit of ${limit}`,
        async (store, records) => {
          await found(store, records)
          const results = await Promise.all(Array.from({ length: 50 }, (_, n) => create(store, records, n)))
          expect(results.filter(isDone)).toHaveLength(limit)
          expect(await count(store)).toBe(limit)
          expect(results.find((each) => !isDone(each))).toEqual({ kind: 'limit', name, limit, used: limit })
        },
        { [key]: limit },
      )
    }
  }

  // threat: tenant-stored-bytes
  holds(
    '50 parallel messages end within the storage limit',
    async (store, records) => {
      await found(store, records)
      const results = await Promise.all(Array.from({ length: 50 }, () => accept(store, records)))
      const each = (await used(store)).storedBytes / results.filter(isDone).length
      expect(results.filter(isDone)).toHaveLength(Math.floor(20_000 / each))
      expect((await used(store)).storedBytes).toBeLessThanOrEqual(20_000)
    },
    { storedBytes: 20_000 },
  )

  // threat: tenant-stored-bytes
  holds(
    'templates end within the storage limit, and their bytes are free again when they are removed or shorter',
    async (store, records) => {
      await found(store, records)
      const each = templateStoredBytes(template(1))
      const fitting = Math.floor(1_000 / each)
      for (let n = 0; n < fitting; n++) expect(await store.templates.create(template(n))).toBe('created')
      const full = { kind: 'limit', name: 'stored_bytes', limit: 1_000, used: fitting * each } as const
      expect(await store.templates.create(template(fitting))).toEqual(full)
      const longer = { ...template(0), html: 'x'.repeat(500) }
      expect(await store.templates.update(longer.id, 1, { content: longer }, START)).toEqual(full)
      await store.templates.remove(template(1).id)
      expect(await store.templates.create(template(fitting))).toBe('created')
    },
    { storedBytes: 1_000, templateVersions: 1 },
  )

  holds(
    'the limit of one organization does not affect another one',
    async (store, records) => {
      await found(store, records)
      await store.webhooks.create(records.webhook(), 'whsec_a')
      expect(await store.webhooks.create(records.webhook({ organizationId: 'org_b' }), 'whsec_a')).toBe('created')
      expect(await store.webhooks.create(records.webhook(), 'whsec_a')).toMatchObject({ kind: 'limit' })
    },
    { webhooks: 1 },
  )

  holds(
    'removal frees capacity',
    async (store, records) => {
      await found(store, records)
      const hook = records.webhook()
      await store.webhooks.create(hook, 'whsec_a')
      await store.webhooks.remove(hook.id)
      expect(await store.webhooks.create(records.webhook(), 'whsec_a')).toBe('created')
      const one = records.suppression()
      await store.suppressions.add(one)
      expect(await store.suppressions.remove([one.id, one.id], START)).toBe(1)
      expect(await store.suppressions.add(records.suppression({ email: 'b@x.example' }))).toEqual({ kind: 'added' })
    },
    { webhooks: 1, suppressions: 1 },
  )

  holds(
    'an import ends at the limit; existing addresses do not count',
    async (store, records) => {
      await found(store, records)
      const of = (email: string) => records.suppression({ email })
      const list = ['a@x.example', 'b@x.example', 'a@x.example', 'c@x.example', 'd@x.example'].map(of)
      expect(await store.suppressions.addAll(list, START)).toEqual({
        added: 2,
        limit: { kind: 'limit', name: 'suppressions', limit: 2, used: 2 },
      })
      expect(await store.suppressions.addAll(['b@x.example', 'a@x.example'].map(of), START)).toEqual({
        added: 0,
        limit: null,
      })
      expect(await store.suppressions.add(of('a@x.example'))).toMatchObject({ kind: 'exists' })
    },
    { suppressions: 2 },
  )

  holds(
    'all keys in use can still be rotated at the maximum number of keys',
    async (store, records) => {
      await found(store, records)
      const keys = [records.apiKey(), records.apiKey()]
      for (const key of keys) await store.apiKeys.create(key, records.hash())
      const rotate = async (old: string, fresh = records.apiKey()) => {
        const result = await store.apiKeys.rotate(old, fresh, records.hash(), START + 60_000, START)
        return { result, fresh }
      }
      const first = await rotate(keys[0]!.id)
      const second = await rotate(keys[1]!.id)
      expect([first.result, second.result]).toEqual(['rotated', 'rotated'])
      // A chain of rotations cannot create any number of keys.
      expect((await rotate(first.fresh.id)).result).toMatchObject({ kind: 'limit', name: 'api_keys', used: 2 })
      const now = START + 60_001
      expect(await store.apiKeys.rotate(first.fresh.id, records.apiKey(), records.hash(), now, now)).toBe('rotated')
    },
    { apiKeys: 2 },
  )

  // threat: tenant-dead-keys
  holds(
    'the newest thousand revoked keys are kept',
    async (store, records) => {
      await found(store, records)
      const first = records.apiKey()
      for (let n = 0; n < 1010; n++) {
        const key = n === 0 ? first : records.apiKey()
        await store.apiKeys.create(key, records.hash())
        await store.apiKeys.revoke(key.id, START)
      }
      expect(await store.apiKeys.get(first.id)).toBeNull()
      const kept = await idsByPage((page) => store.apiKeys.list(ORGANIZATION, { ...page, limit: 100 }))
      expect(kept).toHaveLength(1001)
    },
    { apiKeys: 1 },
  )

  holds(
    'as many versions of a template are kept as the plan says, with the current one',
    async (store, records) => {
      await found(store, records)
      const made = template(1)
      await store.templates.create(made)
      for (let version = 1; version <= 9; version++) {
        const content = { subject: null, html: `<p>${version}</p>`, text: null, variables: [], ...NO_PARTS }
        expect(await store.templates.update(made.id, version, { content }, START)).toMatchObject({ kind: 'updated' })
      }
      const { records: kept } = await store.templates.versions(made.id, { limit: 100, before: null })
      expect(kept.map(({ version }) => version)).toEqual([10, 9, 8])
      expect((await store.templates.get(made.id))?.html).toBe('<p>9</p>')
    },
    { templateVersions: 3 },
  )

  holds(
    'a scheduled message counts until it is cancelled, tried or removed',
    async (store, records) => {
      await found(store, records)
      const scheduled = { status: 'scheduled' as const, scheduledAt: START + 60_000 }
      const one = records.accepted(scheduled)
      await store.messages.accept([one], SPACE)
      await accept(store, records, scheduled)
      expect(await accept(store, records, scheduled)).toMatchObject({ kind: 'limit', name: 'scheduled_messages' })
      expect(await accept(store, records)).toEqual({ kind: 'accepted' })
      expect(await store.messages.cancel(one.message.id, START)).toBe('cancelled')
      expect((await used(store)).scheduledMessages).toBe(1)
    },
    { scheduledMessages: 2 },
  )

  holds('a message counts as scheduled as often as its status is, whichever change sets it', async (store, records) => {
    await found(store, records)
    const later = { status: 'scheduled' as const, scheduledAt: START }
    const emails = ['a@one.example', 'b@two.example', 'c@three.example', 'd@four.example']
    const ended = async (email: string, change: 'tried' | 'suppressed' | 'deferred') => {
      const [claimed] = await claim(store, { freeFor: (queue) => Number(destinationOf(queue) === email.slice(2)) })
      if (change === 'suppressed') return store.deliveries.recordSuppressed(heldOf(claimed!), records.event())
      return store.deliveries.record(recordOf(claimed!, change === 'deferred' ? DEFERRED : DELIVERED))
    }
    const counts: number[] = []
    const count = async () => counts.push((await used(store)).scheduledMessages)
    const one = records.accepted({ ...later, deliveries: [{ email: 'a@one.example' }] })
    await store.messages.accept([one], UNCOUNTED)
    await count()
    await ended('a@one.example', 'deferred')
    await count()
    // While the first recipient waits for a retry the message is deferred, and then scheduled again.
    const several = records.accepted({ ...later, deliveries: emails.map((email) => ({ email })) })
    await store.messages.accept([several], UNCOUNTED)
    await ended(emails[0]!, 'deferred')
    await count()
    const late = { deliveryId: several.deliveries[0]!.id, report: records.report(), expected: 'deferred' as const }
    const bounced = {
      status: 'bounced' as const,
      smtpResponse: '550',
      bounceType: 'hard' as const,
      bounceCode: '5.1.1',
    }
    await store.deliveries.recordLate({ ...late, change: bounced, events: [], suppression: null, now: START })
    await count()
    await ended(emails[1]!, 'tried')
    await count()
    await ended(emails[2]!, 'suppressed')
    await ended(emails[3]!, 'tried')
    await count()
    expect(counts).toEqual([1, 0, 0, 1, 1, 0])
  })

  holds(
    'of calls written together, one that is refused stores no answer and no bytes, and takes none of the volume',
    async (store, records) => {
      await found(store, records)
      const month = { organizationId: ORGANIZATION, month: '2026-11', count: 2, limit: 5 }
      const calls = Array.from({ length: 4 }, () => ({ mail: records.accepted(), answer: records.remember() }))
      const results = await Promise.all(calls.map(({ mail, answer }) => store.messages.accept([mail], month, answer)))
      const isTaken = results.map(({ kind }) => kind === 'accepted')
      expect(isTaken.filter(Boolean)).toHaveLength(2)
      for (const [at, { mail, answer }] of calls.entries()) {
        expect((await store.idempotency.find(ORGANIZATION, answer.keyHash, 0)) !== null).toBe(isTaken[at]!)
        expect((await store.messages.get(mail.message.id)) !== null).toBe(isTaken[at]!)
      }
      expect(await store.messages.volume(ORGANIZATION, '2026-11')).toBe(4)
      const bytes = (await used(store)).storedBytes
      await store.usage.beginCount()
      while (await store.usage.countSome());
      expect((await used(store)).storedBytes).toBe(bytes)
    },
  )

  // threat: inbound-storage-full
  holds(
    'inbound mail is refused at the storage limit of an organization, and accepted for another one',
    async (store, records) => {
      await found(store, records)
      const route = records.inboundRoute()
      const other = records.inboundRoute({ organizationId: 'org_b' })
      for (const each of [route, other]) await store.inboundRoutes.create(each, 'secret')
      const burst = Array.from({ length: 5 }, () => store.inbound.accept(records.acceptedInbound([route])))
      const elsewhere = await store.inbound.accept(records.acceptedInbound([other]))
      // The last one that starts within the limit may exceed it; otherwise one large mail would be refused forever.
      const full = { kind: 'limit', name: 'stored_bytes', limit: 5000, used: 3 * inboundStoredBytes(100) } as const
      expect(await Promise.all(burst)).toEqual(['accepted', 'accepted', 'accepted', full, full])
      expect(elsewhere).toBe('accepted')
      expect([await store.usage.isStorageFull(ORGANIZATION), await store.usage.isStorageFull('org_b')]).toEqual([
        true,
        false,
      ])
      expect(await store.inbound.accept(records.acceptedInbound([other, route]))).toEqual(full)
      const large = { ...records.acceptedInbound([route]), raw: new Uint8Array(300_000) }
      expect(await store.inbound.accept(large)).toEqual(full)
    },
    { storedBytes: 5000 },
  )

  holds('stored bytes return to zero when everything is removed', async (store, records) => {
    await found(store, records)
    for (let n = 0; n < 5; n++) {
      await accept(store, records, { status: 'delivered', deliveries: [{ status: 'delivered', nextAttemptAt: null }] })
    }
    const route = records.inboundRoute({ action: { type: 'store', config: {} } })
    await store.inboundRoutes.create(route, 'secret')
    await store.inbound.accept(records.acceptedInbound([route]))
    const made = template(1)
    await store.templates.create(made)
    const content = { subject: 'x', html: '<p>y</p>', text: null, variables: [], ...NO_PARTS }
    await store.templates.update(made.id, 1, { content }, START)
    const remember = records.remember({ body: new Uint8Array(1000) })
    await store.messages.accept([], SPACE, remember)
    const before = (await used(store)).storedBytes
    await store.idempotency.replace({ ...remember, body: new Uint8Array(10) })
    expect((await used(store)).storedBytes).toBe(before - 990)
    expect(before).toBeGreaterThan(10_000)

    await store.templates.remove(made.id)
    await store.idempotency.prune(START + 1_000_000, 100)
    const until = { before: START + 10_000_000, unsubscribableSince: 0, timeIsUp: () => false }
    while (await store.retention.remove({ organizationId: ORGANIZATION, ...until }));
    expect((await used(store)).storedBytes).toBe(0)
  })

  holds(
    'forwards count against the day and the month, and end at exactly the limit',
    async (store, records) => {
      await found(store, records)
      const route = records.inboundRoute({ action: { type: 'forward', config: { to: ['a@x.example'] } } })
      await store.inboundRoutes.create(route, 'secret')
      const forward = (deliveries: object[], receivedAt = START) => {
        const mail = records.acceptedInbound([route], { receivedAt })
        mail.taken[0]!.forward = records.accepted({ deliveries })
        return store.inbound.accept(mail)
      }
      expect(await forward([{}, {}])).toBe('accepted')
      const results = await Promise.all(Array.from({ length: 50 }, () => forward([{}])))
      expect(results.filter(isDone)).toHaveLength(3)
      expect(results.at(-1)).toEqual({ kind: 'limit', name: 'forwards_per_day', limit: 5, used: 5 })
      expect((await used(store)).forwards).toBe(5)
      expect(await store.messages.volume(ORGANIZATION, '2026-11')).toBe(5)
      const tomorrow = START + 86_400_000
      const over = { kind: 'limit', name: 'messages_per_month', limit: 7, used: 5 } as const
      expect(await forward([{}, {}, {}], tomorrow)).toEqual(over)
      expect(await forward([{}, {}], tomorrow)).toBe('accepted')
    },
    { forwardsPerDay: 5, messagesPerMonth: 7 },
  )

  holds(
    'a sample event counts as a test message',
    async (store, records) => {
      await found(store, records)
      const hook = records.webhook()
      await store.webhooks.create(hook, 'whsec_a')
      const sample = () => store.events.appendSample(records.event({ mode: 'test' }), hook.id, '2026-11')
      const results = await Promise.all([sample(), sample(), sample()])
      expect(results).toMatchObject(['appended', 'appended', { kind: 'limit' }])
    },
    { testMessagesPerMonth: 2 },
  )

  holds(
    'forward targets get a few confirmation mails a day, over all organizations, and none after they declined',
    async (store, records) => {
      await found(store, records)
      const ask = (organization: string, email = 'Ann@x.example', at = START) =>
        store.forwardTargets.ask(organization, email, at)
      expect([await ask(ORGANIZATION), await ask('org_b'), await ask(ORGANIZATION, 'ann@X.example')]).toEqual([
        'asked',
        'asked',
        'asked',
      ])
      expect([await ask('org_b'), await ask('org_c')]).toEqual(['too_many', 'too_many'])
      const tomorrow = START + 86_400_000
      expect(await ask('org_b', 'ann@x.example', tomorrow)).toBe('asked')
      await store.forwardTargets.set('org_b', 'ANN@x.example', 'confirmed', tomorrow)
      expect([
        await store.forwardTargets.status('org_b', 'ann@x.example'),
        await ask('org_b', 'ann@x.example', tomorrow),
      ]).toEqual(['confirmed', 'confirmed'])
      await store.forwardTargets.set('org_b', 'ann@x.example', 'stopped', tomorrow)
      expect(await ask('org_b', 'ann@x.example', tomorrow)).toBe('stopped')
      expect(await store.forwardTargets.status(ORGANIZATION, 'ann@x.example')).toBe('pending')

      // Ten at once: each is a transaction of seven statements, and a store on PostgreSQL refuses what waited for 5 s.
      const many: AskResult[] = []
      for (let first = 0; first < 120; first += 10)
        many.push(...(await Promise.all(Array.from({ length: 10 }, (_, n) => ask('org_d', `v${first + n}@x.example`)))))
      expect(many.filter((result) => result === 'asked')).toHaveLength(100)
      expect(await store.forwardTargets.prune(tomorrow + 1, 1000)).toBe(101)
    },
  )
}

const found = async (store: Store, records: Records) => {
  await store.organizations.create(records.organization({ id: ORGANIZATION }))
  await store.organizations.create(records.organization({ id: 'org_b' }))
}

const SPACE = { organizationId: ORGANIZATION, month: '2026-11', count: 0, limit: -1 }
const accept = (store: Store, records: Records, change: Parameters<Records['accepted']>[0] = {}) =>
  store.messages.accept([records.accepted(change)], SPACE)
const UNCOUNTED = { organizationId: ORGANIZATION, month: '2026-11', count: 0, limit: -1 }
const heldOf = ({ delivery, worker }: ClaimedDelivery): HeldClaim => ({
  id: delivery.id,
  attempt: delivery.attempts,
  worker,
})
const used = (store: Store) => store.usage.of(ORGANIZATION, START)
const isDone = (result: unknown) => typeof result === 'string' || (result as { kind: string }).kind !== 'limit'

export const template = (n: number): Template => ({
  id: `tpl_${String(n).padStart(26, '0')}`,
  organizationId: ORGANIZATION,
  mode: 'live',
  kind: 'message',
  alias: null,
  name: 'A template',
  sample: {},
  subject: 'Hello',
  html: '<p>Hello</p>',
  text: null,
  variables: [],
  layout: null,
  mjml: null,
  uses: [],
  locales: {},
  version: 1,
  createdAt: START,
  updatedAt: START,
})

/** Each creates the n-th of its kind. */
const CREATES: {
  name: string
  key: keyof Plan
  create(store: Store, records: Records, n: number): Promise<unknown>
  count(store: Store): Promise<number>
}[] = [
  {
    name: 'webhooks',
    key: 'webhooks',
    create: (store, records) => store.webhooks.create(records.webhook(), 'whsec_a'),
    count: (store) => store.webhooks.count(ORGANIZATION),
  },
  {
    name: 'inbound_routes',
    key: 'inboundRoutes',
    create: (store, records) => store.inboundRoutes.create(records.inboundRoute(), 'whsec_a'),
    count: (store) => store.inboundRoutes.count(ORGANIZATION),
  },
  {
    name: 'templates',
    key: 'templates',
    create: (store, _, n) => store.templates.create(template(n)),
    count: (store) => store.templates.count(ORGANIZATION),
  },
  {
    name: 'api_keys',
    key: 'apiKeys',
    create: (store, records) => store.apiKeys.create(records.apiKey(), records.hash()),
    count: (store) => store.apiKeys.count(ORGANIZATION, START),
  },
  {
    name: 'suppressions',
    key: 'suppressions',
    create: (store, records, n) => store.suppressions.add(records.suppression({ email: `${n}@x.example` })),
    count: (store) => suppressed(store),
  },
  {
    name: 'scheduled_messages',
    key: 'scheduledMessages',
    create: (store, records) => accept(store, records, { status: 'scheduled', scheduledAt: START + 60_000 }),
    count: async (store) => (await used(store)).scheduledMessages,
  },
  {
    name: 'test_messages_per_month',
    key: 'testMessagesPerMonth',
    create: (store, records) => accept(store, records, { mode: 'test' }),
    count: async (store) => (await used(store)).testMessages,
  },
]

async function suppressed(store: Store): Promise<number> {
  const all = { organizationId: ORGANIZATION, email: null, reason: null, createdAfter: null, createdBefore: null }
  return (await store.suppressions.list(all, { limit: 100, after: null })).records.length
}

const NO_PARTS = { mjml: null, layout: null, uses: [], locales: {} }

import { afterEach, describe, expect, test } from 'bun:test'
import { createHash } from 'node:crypto'
import { unpackRaw } from '../../src/mail/inbound-content.ts'
import type { Verdicts } from '../../src/model/inbound-message.ts'
import type { RouteAuthentication } from '../../src/model/inbound-route.ts'
import { SmtpReply } from '../../src/receiving/smtp-server/reply.ts'
import { type AcceptedInbound, type Store, StoreUnavailable } from '../../src/storage/store.ts'
import { createInboundSetup, type InboundSetup, LOOP_TAG, MAIL, PASSED, SESSION, START } from './setup.ts'

const DELIVERY = 'dlv_01kams0000abcdefghjkmnpqrs'
const WEBHOOK = {
  type: 'webhook',
  config: { url: 'https://app.test/in', includeAttachments: false, headerNames: [] as string[] },
} as const

const open: InboundSetup[] = []
afterEach(async () => {
  for (const setup of open.splice(0)) await setup.store.close()
})

async function openSetup(options?: Parameters<typeof createInboundSetup>[0]): Promise<InboundSetup> {
  const setup = await createInboundSetup(options)
  open.push(setup)
  return setup
}

/** The reply: the text after 250, or the refusal. An internal error is thrown. */
async function answer(sending: Promise<string>): Promise<string> {
  try {
    return `250 2.0.0 ${await sending}`
  } catch (error) {
    if (error instanceof SmtpReply) return error.message
    throw error
  }
}

async function messages({ store, organization }: InboundSetup) {
  const all = { organizationId: organization.id, routeId: null, domainId: null, from: null, to: null, status: null }
  const range = { createdAfter: null, createdBefore: null }
  return (await store.inbound.list({ ...all, ...range }, { limit: 100, after: null })).records
}

describe('a mail', () => {
  test('to one route is stored with all its data, and owed to the endpoint', async () => {
    const setup = await openSetup()
    const route = await setup.addRoute({ type: 'address', value: 'info@ours.test' }, { action: WEBHOOK })
    const text = await setup.send(['Info+tag@ours.test'])

    const [message] = await messages(setup)
    expect(text).toBe(`${message!.id} accepted`)
    expect(message).toEqual({
      id: message!.id,
      organizationId: setup.organization.id,
      domainId: setup.domain.id,
      routeId: route.id,
      action: 'webhook',
      receivedAt: START,
      returnPath: 'ann@author.test',
      from: 'ann@author.test',
      to: ['Info+tag@ours.test'],
      subject: 'hello',
      messageIdHeader: '<1@author.test>',
      sizeBytes: MAIL.length,
      senderIp: '192.0.2.7',
      helo: 'mx.author.test',
      tls: 'TLSv1.3 TLS_AES_256_GCM_SHA384',
      verdicts: PASSED,
      parseError: null,
      forwardedAs: null,
      notForwarded: [],
      inReplyTo: null,
      autoSubmitted: false,
    })
    expect(Buffer.from(unpackRaw((await setup.store.inbound.raw(message!.id))!)).toString()).toBe(MAIL)
    expect(await setup.store.inboundDeliveries.ofMessage(message!.id)).toMatchObject([
      { routeId: route.id, status: 'pending', nextAttemptAt: START, attempts: [] },
    ])
    expect(setup.reported).toEqual([
      'wake inbound',
      `received ${JSON.stringify({ inbound: message!.id, route: route.id, sizeBytes: MAIL.length, spf: 'pass', dkim: 'pass', dmarc: 'pass' })}`,
    ])
  })

  test('is read with its envelope', async () => {
    const setup = await openSetup()
    await setup.addRoute({ type: 'domain', value: 'ours.test' })
    await setup.send(['a@ours.test', 'b@ours.test'], MAIL, { returnPath: null })
    expect(setup.jobs).toMatchObject([
      {
        envelope: {
          remoteAddress: SESSION.remoteAddress,
          helo: SESSION.helo,
          returnPath: '',
          recipients: ['a@ours.test', 'b@ours.test'],
          protocol: 'ESMTPS',
          tls: SESSION.tls,
        },
        receivedAt: START,
        seals: [],
        forwardHeader: null,
      },
    ])
    expect((await messages(setup))[0]!.returnPath).toBe('')
  })

  test('to two routes becomes one message for each, with its recipients', async () => {
    const setup = await openSetup()
    const info = await setup.addRoute({ type: 'address', value: 'info@ours.test' }, { action: WEBHOOK })
    const rest = await setup.addRoute({ type: 'catch_all', value: null })
    const to = ['x@ours.test', 'info@ours.test', 'y@ours.test', 'info+1@ours.test', 'x@ours.test']
    const text = await setup.send(to)

    const byRoute = new Map((await messages(setup)).map((message) => [message.routeId, message]))
    expect(byRoute.size).toBe(2)
    expect(byRoute.get(rest.id)).toMatchObject({ to: ['x@ours.test', 'y@ours.test'], action: 'store' })
    expect(byRoute.get(info.id)).toMatchObject({ to: ['info@ours.test', 'info+1@ours.test'], action: 'webhook' })
    expect(text).toBe(`${byRoute.get(rest.id)!.id} and 1 more accepted`)
    expect(setup.jobs).toHaveLength(1)
    expect(await setup.store.inboundDeliveries.ofMessage(byRoute.get(rest.id)!.id)).toEqual([])
    expect(await setup.store.inboundDeliveries.ofMessage(byRoute.get(info.id)!.id)).toHaveLength(1)
  })

  test('to two domains by one route becomes one message for each, so that their keys see only their own', async () => {
    const setup = await openSetup()
    const second = await setup.addDomain('second.test')
    const all = await setup.addRoute({ type: 'catch_all', value: null }, { action: WEBHOOK })
    await setup.send(['a@ours.test', 'b@second.test', 'c@ours.test'])
    const found = (await messages(setup)).map(({ routeId, domainId, to }) => [routeId, domainId, to])
    expect(found).toContainEqual([all.id, setup.domain.id, ['a@ours.test', 'c@ours.test']])
    expect(found).toContainEqual([all.id, second.id, ['b@second.test']])
    expect(found).toHaveLength(2)
  })

  test('for a store-only route wakes no delivery loop', async () => {
    const setup = await openSetup()
    await setup.addRoute({ type: 'domain', value: 'ours.test' })
    await setup.send(['a@ours.test'])
    expect(setup.reported.map((line) => line.split(' ')[0])).toEqual(['received'])
  })

  test('for postmaster or abuse is stored where no route takes it, once for each domain', async () => {
    const setup = await openSetup()
    const other = await setup.addDomain('second.test')
    const info = await setup.addRoute({ type: 'address', value: 'info@ours.test' }, { action: WEBHOOK })
    await setup.addRoute({ type: 'address', value: 'x@second.test' })
    const to = ['Postmaster@ours.test', 'abuse@ours.test', 'info@ours.test', 'postmaster@second.test']
    await setup.send(to, MAIL, { returnPath: null })

    const stored = await messages(setup)
    const byDomain = new Map(stored.map((message) => [message.routeId ?? message.domainId, message]))
    expect(stored).toHaveLength(3)
    const facts = { routeId: null, action: 'store', organizationId: setup.organization.id, notForwarded: [] }
    const ours = { ...facts, to: ['Postmaster@ours.test', 'abuse@ours.test'] }
    expect(byDomain.get(setup.domain.id)).toMatchObject(ours)
    expect(byDomain.get(other.id)).toMatchObject({ ...facts, to: ['postmaster@second.test'] })
    expect(byDomain.get(info.id)).toMatchObject({ to: ['info@ours.test'], action: 'webhook' })
    expect(setup.reported[0]).toBe('wake inbound')
    expect(await setup.store.inboundDeliveries.ofMessage(byDomain.get(other.id)!.id)).toEqual([])
  })

  // threat: unreadable-mail
  // threat: parser-exhaustion
  test('that cannot be read is stored with the reason', async () => {
    const setup = await openSetup()
    await setup.addRoute({ type: 'domain', value: 'ours.test' }, { action: WEBHOOK })
    setup.findings.parseError = 'too many parts'
    setup.findings.head = { from: '', fromHeader: '', subject: '', messageId: '' }
    await setup.send(['a@ours.test'], 'no header at all\r\n')
    expect(await messages(setup)).toMatchObject([{ from: '', subject: '', parseError: 'too many parts' }])
  })
})

describe('a report to a return path', () => {
  test('goes to feedback and is not inbound mail', async () => {
    const setup = await openSetup()
    await setup.addRoute({ type: 'catch_all', value: null })
    const to = [`${setup.keyed(DELIVERY)}@bounces.ours.test`, 'complaints@bounces.ours.test']
    expect(await setup.send(to, MAIL, { returnPath: null })).toBe('report accepted')
    expect(setup.reports).toEqual([
      {
        content: { kind: 'notice', unclassified: { excerpt: expect.any(String), tagged: [] } },
        digest: createHash('sha256').update(MAIL).digest(),
        remoteAddress: '192.0.2.7',
        receivedAt: START,
        recipients: [{ kind: 'bounce', deliveryId: DELIVERY }, { kind: 'complaints' }],
        reporter: expect.any(Function),
      },
    ])
    expect(await messages(setup)).toEqual([])
    expect(setup.jobs).toEqual([])
  })

  test('is answered only when feedback has stored it', async () => {
    const setup = await openSetup({ take: () => Promise.reject(new StoreUnavailable('disk full')) })
    await expect(setup.send(['complaints@bounces.ours.test'])).rejects.toThrow(StoreUnavailable)
  })
})

// threat: mail-loops
describe('a mail loop', () => {
  const cases: [head: { loop?: string; hops?: number }, answer: string][] = [
    [{ loop: LOOP_TAG }, '554 5.4.6 mail loop detected: this server has already forwarded this message'],
    [{ loop: `other\n${LOOP_TAG}` }, '554 5.4.6 mail loop detected: this server has already forwarded this message'],
    [{ hops: 51 }, '554 5.4.6 mail loop detected: 51 hops'],
    [{ loop: 'of-another-server' }, '250'],
    [{ loop: `${LOOP_TAG}x` }, '250'],
    [{ hops: 50 }, '250'],
  ]
  test.each(cases)('%j: %s', async (head, expected) => {
    const setup = await openSetup()
    await setup.addRoute({ type: 'domain', value: 'ours.test' }, { action: WEBHOOK })
    setup.findings.head = head
    expect(await answer(setup.send(['a@ours.test']))).toStartWith(expected)
    expect(await messages(setup)).toHaveLength(expected === '250' ? 1 : 0)
    expect(setup.reported.length > 0).toBe(expected === '250')
  })
})

describe('the authentication that a route requires', () => {
  type Dmarc = Verdicts['dmarc']
  const REFUSED = '550 5.7.1 message rejected: '
  const LATER = '451 4.7.0 '
  const cases: [RouteAuthentication, Dmarc, policy: 'none' | 'quarantine' | 'reject', answer: string][] = [
    ['none', 'fail', 'reject', '250'],
    ['none', 'temperror', 'reject', '250'],
    ['none', 'permerror', 'reject', '250'],
    ['dmarc', 'pass', 'reject', '250'],
    ['dmarc', 'none', 'none', '250'],
    ['dmarc', 'fail', 'none', '250'],
    ['dmarc', 'fail', 'quarantine', '250'],
    ['dmarc', 'fail', 'reject', REFUSED],
    ['dmarc', 'temperror', 'none', LATER],
    ['require_pass', 'pass', 'none', '250'],
    ['require_pass', 'none', 'none', REFUSED],
    ['require_pass', 'fail', 'none', REFUSED],
    ['require_pass', 'permerror', 'none', REFUSED],
    ['require_pass', 'temperror', 'none', LATER],
  ]
  test.each(cases)('under %s, with DMARC %s and p=%s: %s', async (authentication, dmarc, dmarcPolicy, expected) => {
    const setup = await openSetup()
    await setup.addRoute({ type: 'domain', value: 'ours.test' }, { authentication, action: WEBHOOK })
    Object.assign(setup.findings, { verdicts: { ...PASSED, dmarc }, dmarcPolicy })
    expect(await answer(setup.send(['a@ours.test']))).toStartWith(expected)
    expect(await messages(setup)).toHaveLength(expected === '250' ? 1 : 0)
  })

  test('is refused with the reason in one line', async () => {
    const setup = await openSetup()
    await setup.addRoute({ type: 'domain', value: 'ours.test' }, { authentication: 'require_pass' })
    setup.findings.verdicts = { ...PASSED, dmarc: 'none' }
    expect(await answer(setup.send(['a@ours.test']))).toEndWith(': DMARC result of the author domain is none')
    setup.findings.dmarcReason = `author.test wants\r\n250 ok`
    expect(await answer(setup.send(['a@ours.test']))).toBe('550 5.7.1 message rejected: author.test wants?250 ok')
  })
})

describe('the reply', () => {
  const withAccept =
    (accept: (given: AcceptedInbound, store: Store) => ReturnType<Store['inbound']['accept']>) => (store: Store) => ({
      ...store,
      inbound: { ...store.inbound, accept: (given: AcceptedInbound) => accept(given, store) },
    })

  test('waits for the commit', async () => {
    const { promise: gate, resolve: release } = Promise.withResolvers<void>()
    const { promise: asked, resolve: ask } = Promise.withResolvers<void>()
    const setup = await openSetup({
      wrapStore: withAccept(async (given, store) => {
        ask()
        await gate
        return store.inbound.accept(given)
      }),
    })
    await setup.addRoute({ type: 'domain', value: 'ours.test' }, { action: WEBHOOK })
    const sending = setup.send(['a@ours.test']).then((text) => setup.reported.push(text))
    await asked
    for (let turn = 0; turn < 10; turn++) await new Promise(setImmediate)
    expect(setup.reported).toEqual([])
    expect(await messages(setup)).toEqual([])

    release()
    await sending
    expect(setup.reported.map((line) => line.replace(/(inb|received)\S* .*/, '$1'))).toEqual([
      'wake inbound',
      'received',
      'inb',
    ])
    expect(await messages(setup)).toHaveLength(1)
  })

  const faults: [string, () => Error][] = [
    ['a disk that is full', () => new StoreUnavailable('disk full')],
    ['a bug', () => new Error('a bug')],
  ]
  test.each(faults)("is the listener's when there is %s: nothing is kept and nothing is woken", async (_, make) => {
    const fault = make()
    const setup = await openSetup({ wrapStore: withAccept(() => Promise.reject(fault)) })
    await setup.addRoute({ type: 'domain', value: 'ours.test' }, { action: WEBHOOK })
    const thrown = await setup.send(['a@ours.test']).catch((error: unknown) => error)
    expect(thrown === fault).toBe(true)
    expect(setup.reported).toEqual([])
    expect(await messages(setup)).toEqual([])
  })

  test('is 250 for a route that was removed since RCPT: the mail is kept and nothing is owed', async () => {
    const setup = await openSetup()
    const route = await setup.addRoute({ type: 'domain', value: 'ours.test' }, { action: WEBHOOK })
    const open = async () => {
      await setup.store.inboundRoutes.remove(route.id)
      return new Uint8Array(Buffer.from(MAIL))
    }
    expect(await answer(setup.send(['a@ours.test'], MAIL, { open }))).toStartWith('250')
    const [message] = await messages(setup)
    expect(await setup.store.inboundDeliveries.ofMessage(message!.id)).toMatchObject([{ status: 'failed' }])
  })
})

import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { unpackMime } from '../../src/mail/mime-content.ts'
import { queueOf } from '../../src/model/delivery.ts'
import type { InboundRoute } from '../../src/model/inbound-route.ts'
import { UNLIMITED_PLAN } from '../../src/model/organization.ts'
import { claimDue } from '../support/claim.ts'
import { createInboundSetup, type InboundSetup, LOOP_TAG, MAIL, SESSION, START, spoken } from './setup.ts'

let setup: InboundSetup
beforeEach(async () => {
  setup = await createInboundSetup()
})
afterEach(() => setup.store.close())

const forwardTo = (...to: string[]): Pick<InboundRoute, 'action'> => ({ action: { type: 'forward', config: { to } } })

/** The inbound messages and the result of each. */
async function sentOn() {
  const filter = { routeId: null, domainId: null, from: null, to: null, status: null }
  const range = { createdAfter: null, createdBefore: null }
  const all = { organizationId: setup.organization.id, ...filter, ...range }
  const { records } = await setup.store.inbound.list(all, { limit: 100, after: null })
  return await Promise.all(
    records.map(async (inbound) => {
      const id = inbound.forwardedAs ?? ''
      const { messages } = setup.store
      const content = await messages.content(id)
      return {
        inbound,
        message: (await messages.get(id))!,
        deliveries: await messages.deliveries(id),
        text: content === null ? null : Buffer.from(unpackMime(content)).toString(),
      }
    }),
  )
}

describe('a forwarded mail', () => {
  test('is an outbound message of the domain, due at once, with the sealed mail as its content', async () => {
    const match = { type: 'address', value: 'info@ours.test' } as const
    const route = await setup.addRoute(match, forwardTo('bo@b.test', 'Cy <cy@c.test>'))
    await setup.send(['info+x@ours.test'])

    const [{ inbound, message, deliveries, text }] = (await sentOn()) as [Awaited<ReturnType<typeof sentOn>>[number]]
    expect(message).toEqual({
      id: message.id,
      organizationId: setup.organization.id,
      domainId: setup.domain.id,
      keyId: null,
      mode: 'live',
      source: 'smtp',
      status: 'queued',
      from: 'Ann <ann@author.test>',
      to: ['bo@b.test', 'Cy <cy@c.test>'],
      cc: null,
      bcc: null,
      replyTo: null,
      subject: 'hello',
      tags: [],
      metadata: { inbound_id: inbound.id, inbound_route: route.id },
      templateId: null,
      sizeBytes: MAIL.length,
      messageIdHeader: '<1@author.test>',
      createdAt: START,
      scheduledAt: null,
      expiresAt: null,
      requireTls: false,
      stream: 'transactional',
      unsubscribe: false,
      replies: null,
      trackOpens: false,
      trackClicks: false,
    })
    expect(deliveries).toMatchObject([
      {
        email: 'bo@b.test',
        type: 'to',
        queue: queueOf('b.test', setup.organization.id),
        status: 'queued',
        nextAttemptAt: START,
      },
      {
        email: 'cy@c.test',
        type: 'to',
        queue: queueOf('c.test', setup.organization.id),
        status: 'queued',
        nextAttemptAt: START,
      },
    ])
    expect(text).toBe(`X-Sealed-By: sealing-ours\r\nX-Service-Loop: ${LOOP_TAG}\r\n${MAIL}`)
    expect(inbound).toMatchObject({ routeId: route.id, action: 'forward', to: ['info+x@ours.test'] })
    expect(setup.reported.map((line) => line.replace(/ \{.*/, ''))).toEqual(['wake outbound', 'received', 'accepted'])
  })

  test('goes out from the return path host of the domain', async () => {
    await setup.addRoute({ type: 'address', value: 'info@ours.test' }, forwardTo('bo@b.test'))
    await setup.send(['info@ours.test'])
    const claims = await claimDue(setup.store.deliveries, { now: START, limit: 10, worker: 'w', freeFor: () => 9 })
    expect(claims).toMatchObject([
      { returnPathHost: 'bounces.ours.test', domainName: 'ours.test', delivery: { email: 'bo@b.test' } },
    ])
  })

  test('of an author with thousands of characters names the address alone', async () => {
    await setup.addRoute({ type: 'address', value: 'info@ours.test' }, forwardTo('bo@b.test'))
    setup.findings.head = { from: 'ann@author.test', fromHeader: `${'Ann '.repeat(1_000)}<ann@author.test>` }
    await setup.send(['info@ours.test'])
    expect((await sentOn())[0]?.message.from).toBe('ann@author.test')
  })

  test('with the null return path is forwarded like any other', async () => {
    await setup.addRoute({ type: 'address', value: 'info@ours.test' }, forwardTo('bo@b.test'))
    await setup.send(['info@ours.test'], MAIL, { returnPath: null })
    expect(await sentOn()).toMatchObject([{ deliveries: [{ email: 'bo@b.test' }] }])
  })

  test('is not sent to a suppressed target, and to none when all are suppressed', async () => {
    await setup.addRoute({ type: 'address', value: 'one@ours.test' }, forwardTo('bo@b.test', 'Cy@c.test'))
    await setup.addRoute({ type: 'address', value: 'all@ours.test' }, forwardTo('cy@c.test'))
    const organizationId = setup.organization.id
    await setup.store.suppressions.add(
      setup.records.suppression({ organizationId, domainId: null, email: 'cy@c.test' }),
    )
    await setup.send(['one@ours.test'])
    expect(await sentOn()).toMatchObject([
      {
        message: { status: 'queued' },
        deliveries: [{ status: 'queued' }, { status: 'suppressed', nextAttemptAt: null }],
      },
    ])
    const filter = { type: 'message.suppressed' as const, messageId: null, domainId: null, mode: null }
    const { records } = await setup.store.events.list(
      { organizationId, ...filter, createdAfter: null, createdBefore: null },
      { limit: 10, after: null },
    )
    expect(records.map(({ body }) => JSON.parse(body).data)).toMatchObject([{ to: 'Cy@c.test', reason: 'hard_bounce' }])
    expect(setup.reported.map((line) => line.replace(/ \{.*/, ''))).toContain('suppressed')

    setup.reported.length = 0
    await setup.send(['all@ours.test'])
    expect((await sentOn())[0]).toMatchObject({ message: { status: 'suppressed' }, deliveries: [{ attempts: 0 }] })
    expect(setup.reported).not.toContain('wake outbound')
  })

  test('to equal targets is one delivery', async () => {
    await setup.addRoute({ type: 'address', value: 'info@ours.test' }, forwardTo('bo@b.test', 'Bo@b.test'))
    await setup.send(['info@ours.test'])
    expect(await sentOn()).toMatchObject([{ deliveries: [{ email: 'bo@b.test' }] }])
  })

  // threat: forward-counts-as-sending
  test('counts as sending: against the month and the forwards of the day', async () => {
    await setup.addRoute({ type: 'address', value: 'info@ours.test' }, forwardTo('bo@b.test', 'cy@c.test'))
    for (let n = 0; n < 3; n++) await setup.send(['info@ours.test'])
    expect(await setup.store.messages.volume(setup.organization.id, '2026-11')).toBe(6)
    expect((await setup.store.usage.of(setup.organization.id, START)).forwards).toBe(6)
  })
})

describe('mail from our own domain', () => {
  const REFUSED = '550 5.7.1 message rejected: DMARC policy of ours.test is '
  const cases: [
    from: string,
    dmarc: 'pass' | 'fail' | 'none' | 'temperror',
    policy: 'none' | 'reject',
    answer: string,
  ][] = [
    ['Boss <boss@ours.test>', 'fail', 'reject', `${REFUSED}reject`],
    ['boss@News.Ours.Test.', 'fail', 'reject', `${REFUSED}reject`],
    ['ann@author.test, boss@ours.test', 'fail', 'reject', `${REFUSED}reject`],
    ['boss@ours.test', 'temperror', 'none', '451 4.7.0 '],
    ['boss@ours.test', 'pass', 'reject', '250 '],
    ['boss@ours.test', 'fail', 'none', '250 '],
    ['boss@ours.test', 'none', 'none', '250 '],
    ['ann@author.test', 'fail', 'reject', '250 '],
    ['ann@notours.test', 'fail', 'reject', '250 '],
    ['ann@test', 'fail', 'reject', '250 '],
  ]
  test.each(cases)('as %s with DMARC %s under p=%s: %s', async (from, dmarc, dmarcPolicy, expected) => {
    await setup.addRoute({ type: 'address', value: 'info@ours.test' }, forwardTo('bo@b.test'))
    await setup.addRoute({ type: 'address', value: 'kept@ours.test' })
    Object.assign(setup.findings, { verdicts: { ...setup.findings.verdicts, dmarc }, dmarcPolicy })
    const mail = MAIL.replace('Ann <ann@author.test>', from)
    const answer = (to: string) =>
      setup.send([to], mail).then(
        (text) => `250 ${text}`,
        ({ code, enhanced, text }) => `${code} ${enhanced} ${text}`,
      )
    expect(await answer('info@ours.test')).toStartWith(expected)
    expect(await sentOn()).toHaveLength(expected === '250 ' ? 1 : 0)
    expect(await answer('kept@ours.test')).toStartWith('250 ')
  })
})

describe('several routes of one mail', () => {
  test('each forward what was sealed for them', async () => {
    await setup.addDomain('second.test')
    await setup.addRoute({ type: 'address', value: 'a@ours.test' }, forwardTo('bo@b.test'))
    await setup.addRoute({ type: 'address', value: 'b@ours.test' })
    await setup.addRoute({ type: 'address', value: 'c@second.test' }, forwardTo('cy@c.test'))
    await setup.send(['a@ours.test', 'b@ours.test', 'c@second.test'])

    const all = await sentOn()
    const sealer = (to: string) => all.find(({ inbound }) => inbound.to.includes(to))!.text?.split('\r\n')[0] ?? null
    expect([sealer('a@ours.test'), sealer('b@ours.test'), sealer('c@second.test')]).toEqual([
      'X-Sealed-By: sealing-ours',
      null,
      'X-Sealed-By: sealing-second',
    ])
    expect(setup.jobs[0]!.seals.map(({ domain }) => domain)).toEqual(['ours.test', 'second.test'])
  })
})

describe('a route that cannot forward', () => {
  const cases: [string, domain: string, to: string, fault: string][] = [
    ['a domain without keys', 'keyless.test', 'bo@b.test', 'keyless.test has no published RSA key'],
    ['an invalid target', 'ours.test', 'bo', 'invalid forwarding address: "bo"'],
  ]
  test.each(cases)('with %s accepts nothing', async (_, domain, to, fault) => {
    await setup.addDomain('keyless.test', { dkim: [] })
    await setup.addRoute({ type: 'domain', value: domain }, forwardTo(to))
    await expect(setup.send([`a@${domain}`])).rejects.toThrow(fault)
    expect(await sentOn()).toEqual([])
    expect(setup.reported).toEqual([])
  })
})

describe('mail that an organization may not forward or store', () => {
  const START_OVER = async (options: Parameters<typeof createInboundSetup>[0]) => {
    await setup.store.close()
    setup = await createInboundSetup(options)
  }
  const limited = (limits: object) => ({ plans: () => ({ ...UNLIMITED_PLAN, ...limits }) })
  const addresses = (count: number, at: string) => Array.from({ length: count }, (_, n) => `a${n}@${at}.test`)

  // threat: forward-target-confirmed
  test('is kept for unconfirmed targets, with the reason, and goes to the others', async () => {
    await START_OVER({ confirmed: [] })
    await setup.store.forwardTargets.set(setup.organization.id, 'bo@b.test', 'confirmed', START)
    await setup.store.forwardTargets.set(setup.organization.id, 'no@c.test', 'stopped', START)
    const targets = forwardTo('Bo@B.test', 'new@d.test', 'no@c.test', 'own@ours.test')
    await setup.addRoute({ type: 'address', value: 'info@ours.test' }, targets)
    await setup.send(['info@ours.test'])
    expect(await sentOn()).toMatchObject([
      {
        deliveries: [{ email: 'Bo@b.test' }, { email: 'own@ours.test' }],
        inbound: {
          notForwarded: [
            { email: 'new@d.test', reason: 'pending_confirmation' },
            { email: 'no@c.test', reason: 'stopped' },
          ],
        },
      },
    ])
  })

  test('of an unverified domain is kept, not forwarded', async () => {
    await setup.addDomain('claimed.test', { status: 'pending' })
    await setup.addRoute({ type: 'address', value: 'info@claimed.test' }, forwardTo('bo@b.test'))
    const answer = await setup.send(['info@claimed.test']).catch((error: Error) => error.message)
    // Where unproved domains receive nothing, it is refused at RCPT.
    const kept = answer.startsWith('550') ? [] : [{ inbound: { forwardedAs: null } }]
    expect(await sentOn()).toMatchObject(kept)
  })

  test('is deferred at RCPT when the day is used up, and the mail’s other recipients are accepted', async () => {
    await START_OVER(limited({ forwardsPerDay: 3 }))
    await setup.addRoute({ type: 'address', value: 'info@ours.test' }, forwardTo('bo@b.test', 'cy@c.test'))
    await setup.addRoute({ type: 'address', value: 'kept@ours.test' })
    await setup.send(['info@ours.test'])
    await expect(setup.send(['info@ours.test'])).rejects.toThrow('452 4.7.1')
    expect(await setup.send(['kept@ours.test'])).toContain('accepted')
    expect((await setup.store.usage.of(setup.organization.id, START)).forwards).toBe(2)
  })

  test('is deferred at RCPT when the mail’s other recipients use up the day, so that it is never all of the mail', async () => {
    await START_OVER(limited({ forwardsPerDay: 3 }))
    for (const name of ['a', 'b'])
      await setup.addRoute(
        { type: 'address', value: `${name}@ours.test` },
        forwardTo(`1@${name}.test`, `2@${name}.test`),
      )
    await expect(setup.send(['a@ours.test', 'b@ours.test'])).rejects.toThrow('452 4.7.1')
    const first = await setup.handler.onRecipient(SESSION, spoken('a@ours.test'), [])
    await expect(setup.handler.onRecipient(SESSION, spoken('b@ours.test'), [first])).rejects.toThrow('452 4.7.1')
  })

  test('is deferred at RCPT for a domain that cannot seal, so that it holds back no other recipient', async () => {
    await setup.addDomain('keyless.test', { dkim: [] })
    await setup.addRoute({ type: 'domain', value: 'keyless.test' }, forwardTo('bo@b.test'))
    await expect(setup.handler.onRecipient(SESSION, spoken('a@keyless.test'), [])).rejects.toThrow('451 4.7.1')
  })

  test('is deferred at RCPT at the storage limit', async () => {
    await START_OVER(limited({ storedBytes: 1 }))
    await setup.addRoute({ type: 'address', value: 'info@ours.test' })
    await setup.send(['info@ours.test'])
    await expect(setup.send(['info@ours.test'])).rejects.toThrow('452 4.3.1')
  })

  // threat: forward-obeys-quality-stop
  test('is deferred while an alert stops the domain; store-only mail is accepted', async () => {
    await START_OVER({ isStopped: () => true })
    await setup.addRoute({ type: 'address', value: 'info@ours.test' }, forwardTo('bo@b.test'))
    await setup.addRoute({ type: 'address', value: 'kept@ours.test' })
    await expect(setup.send(['info@ours.test'])).rejects.toThrow('451 4.7.1')
    expect(await setup.send(['kept@ours.test'])).toContain('accepted')
  })

  // threat: forward-amplification
  test('goes to at most 50 addresses, over all its routes', async () => {
    for (let n = 0; n < 6; n++) {
      const match = { type: 'address' as const, value: `info${n}@ours.test` }
      await setup.addRoute(match, forwardTo(...addresses(10, `t${n}`)))
    }
    const to = Array.from({ length: 6 }, (_, n) => `info${n}@ours.test`)
    await expect(setup.send(to)).rejects.toThrow('452 4.5.3')
    // Two recipients of one route are one forward.
    await setup.send([...to.slice(0, 5), 'info0+x@ours.test'])
    await setup.addDomain('second.test')
    await setup.addRoute({ type: 'catch_all', value: null }, forwardTo(...addresses(30, 'all')))
    await expect(setup.send(['x@ours.test', 'x@second.test'])).rejects.toThrow('452 4.5.3')
    const forwards = await sentOn()
    expect(forwards.reduce((sum, { deliveries }) => sum + deliveries.length, 0)).toBe(50)
  })

  // threat: forward-loop-through-list
  test('ends after a hundred mails of one Message-ID within an hour, as from a list that strips our header', async () => {
    await setup.addRoute({ type: 'address', value: 'info@ours.test' }, forwardTo('list@b.test'))
    const again = (n: number) => setup.send(['info@ours.test'], MAIL, { receivedAt: START + n })
    for (let n = 0; n < 100; n++) await again(n)
    await expect(again(100)).rejects.toThrow('554 5.4.6')
    const other = MAIL.replace('<1@author.test>', '<2@author.test>')
    expect(await setup.send(['info@ours.test'], other)).toContain('accepted')
    expect(await again(3_600_000)).toContain('accepted')
  })
})

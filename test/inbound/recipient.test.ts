import { beforeAll, describe, expect, test } from 'bun:test'
import type { RecipientTarget } from '../../src/receiving/inbound/recipient.ts'
import { createInboundSetup, HOSTNAME, type InboundSetup, SESSION, spoken } from './setup.ts'

const DELIVERY = 'dlv_01kams0000abcdefghjkmnpqrs'

let setup: InboundSetup

beforeAll(async () => {
  setup = await createInboundSetup()
  await setup.addRoute({ type: 'address', value: 'info@ours.test' }, { name: 'info' })
  await setup.addRoute({ type: 'pattern', value: 'order-*@ours.test' }, { name: 'orders' })
  await setup.addRoute({ type: 'address', value: 'off@ours.test' }, { name: 'off', enabled: false })
  await setup.addRoute({ type: 'address', value: 'a%b@ours.test' }, { name: 'percent' })
  await setup.addRoute(
    { type: 'address', value: 'strict@ours.test' },
    { name: 'strict', authentication: 'require_pass' },
  )
  await setup.addDomain('sends-only.test')
  await setup.addRoute({ type: 'address', value: 'off@sends-only.test' }, { name: 'off too', enabled: false })
  await setup.addDomain('xn--bcher-kva.test')
  await setup.addRoute({ type: 'domain', value: 'xn--bcher-kva.test' }, { name: 'books' })

  const other = setup.records.organization()
  await setup.store.organizations.create(other)
  await setup.addDomain('theirs.test', { organizationId: other.id })
  await setup.addRoute({ type: 'catch_all', value: null }, { name: 'theirs', organizationId: other.id })
})

/** Name of the route, kind of the feedback address, or the refusal. */
async function meaning(address: string, already: RecipientTarget[] = []): Promise<string> {
  try {
    const destination = await setup.handler.onRecipient(SESSION, spoken(address), already)
    if (destination.kind === 'reserved') return `stored for ${destination.domain.name}`
    if (destination.kind === 'policy_report') return `reports about ${destination.domain.name}`
    if (destination.kind === 'canary') return 'canary'
    return destination.kind === 'route' ? destination.route.name : `feedback ${destination.address.kind}`
  } catch (error) {
    return String((error as Error).message)
  }
}

async function destination(address: string): Promise<RecipientTarget> {
  return await setup.handler.onRecipient(SESSION, spoken(address), [])
}

describe('a recipient', () => {
  const taken: [address: string, by: string][] = [
    ['info@ours.test', 'info'],
    ['Info@ours.test', 'info'],
    ['info+invoices@ours.test', 'info'],
    ['order-17@ours.test', 'orders'],
    ['order-17+x@ours.test', 'orders'],
    ['a%b@ours.test', 'percent'],
    ['anybody@xn--bcher-kva.test', 'books'],
    ['whoever@theirs.test', 'theirs'],
    ['complaints@bounces.ours.test', 'feedback complaints'],
    ['Postmaster@bounces.ours.test', 'feedback complaints'],
    ['postmaster@ours.test', 'stored for ours.test'],
    ['Abuse@ours.test', 'stored for ours.test'],
    ['"postmaster"@ours.test', 'stored for ours.test'],
    ['postmaster@xn--bcher-kva.test', 'books'],
    ['postmaster@theirs.test', 'theirs'],
  ]
  test.each(taken)('%s is accepted by %s', async (address, by) => {
    expect(await meaning(address)).toBe(by)
  })

  test('that is a return path of ours is the delivery it was issued for, in any letter case', async () => {
    const address = `${setup.keyed(DELIVERY)}@bounces.ours.test`
    expect(await meaning(address)).toBe('feedback bounce')
    expect(await destination(address.replace(/^[^@]+/, (local) => local.toUpperCase()))).toMatchObject({
      kind: 'feedback',
      address: { deliveryId: DELIVERY },
      domain: { name: 'ours.test' },
    })
  })

  const unknown = [
    'nobody@ours.test',
    'off@ours.test',
    'postmaster+x@ours.test',
    'hostmaster@ours.test',
    'postmaster@sends-only.test',
    'abuse@sends-only.test',
    `Postmaster@${HOSTNAME}`,
    `abuse@${HOSTNAME}`,
    `info@${HOSTNAME}`,
    'inf@ours.test',
    'xinfo@ours.test',
    '"info @"@ours.test',
    'info@bounces.ours.test',
    'b-01kams0000abcdefghjkmnpqrs-000000000000@bounces.ours.test',
    'user%foreign.test@ours.test',
    'foreign.test!user@ours.test',
    '"user@foreign.test"@ours.test',
  ]
  test.each(unknown)('%s is unknown', async (address) => {
    expect(await meaning(address)).toBe(`550 5.1.1 <${address}>: no such recipient`)
  })

  const foreign = [
    'user@foreign.test',
    'info@sub.ours.test',
    `postmaster@sub.${HOSTNAME}`,
    'info@oursxtest',
    'info@notours.test',
    'info@ours.test.foreign.test',
    'info@ours.test.',
    'info%ours.test@foreign.test',
    'ours.test!info@foreign.test',
    '"info@ours.test"@foreign.test',
    'info@ours.test@foreign.test',
    'info@[127.0.0.1]',
    'info@[IPv6:::1]',
    'info@',
    'info@xn--ours-8na.test',
    `${'b-01kams0000abcdefghjkmnpqrs-000000000000'}@foreign.test`,
    'info@bounces.foreign.test',
    'info@x.bounces.ours.test',
  ]
  // threat: relay-address-forms
  test.each(foreign)('%s is not a local recipient', async (address) => {
    expect(await meaning(address)).toBe(`550 5.7.1 <${address}>: relaying denied`)
  })

  test('is answered in one line of ASCII, whatever it contains', async () => {
    const answer = await meaning(`j\u00f6rg\r\nhaus${'x'.repeat(600)}@foreign.test`)
    expect(answer).toMatch(/^550 5\.7\.1 <j\?rg\?hausx+$/)
    expect(answer.length).toBeLessThan(500)
  })
})

describe('our own name', () => {
  test('has the reserved mailboxes of the closest owned name above it, and no others of it', async () => {
    const parent = HOSTNAME.slice(HOSTNAME.indexOf('.') + 1)
    const names = ['postmaster', 'Abuse', 'info'].map((local) => `${local}@${HOSTNAME}`)
    const own = await createInboundSetup()
    const at = async (address: string) => {
      try {
        const target = await own.handler.onRecipient(SESSION, spoken(address), [])
        if (target.kind === 'canary') return 'canary'
        const { kind, domain, ...rest } = target
        return `${kind} ${domain.name} ${'route' in rest ? rest.route.name : ''}`.trim()
      } catch (error) {
        return String((error as Error).message).slice(0, 9)
      }
    }
    const all = () => Promise.all(names.map(at))

    await own.addDomain(parent)
    expect(await all()).toEqual(['550 5.1.1', '550 5.1.1', '550 5.1.1'])
    await own.addRoute({ type: 'address', value: `info@${parent}` }, { name: 'info' })
    expect(await all()).toEqual([`reserved ${parent}`, `reserved ${parent}`, '550 5.1.1'])
    await own.addRoute({ type: 'address', value: `abuse@${parent}` }, { name: 'abuse' })
    expect(await all()).toEqual([`reserved ${parent}`, `route ${parent} abuse`, '550 5.1.1'])
    expect(await at(`postmaster@sub.${HOSTNAME}`)).toBe('550 5.7.1')

    await own.addDomain(HOSTNAME)
    expect(await at(`abuse@${HOSTNAME}`)).toBe(`route ${parent} abuse`)
    await own.addRoute({ type: 'domain', value: HOSTNAME }, { name: 'ours' })
    expect(await all()).toEqual(Array(3).fill(`route ${HOSTNAME} ours`))
    await own.store.close()
  })

  test('has none while the name above it is unproved', async () => {
    const own = await createInboundSetup()
    const parent = HOSTNAME.slice(HOSTNAME.indexOf('.') + 1)
    const domain = await own.addDomain(parent)
    await own.addRoute({ type: 'domain', value: parent }, { name: 'all' })
    const failed = { status: 'failed' as const, verifiedAt: null, checkedAt: 0, findings: [] }
    await own.store.domains.recordCheck(domain.id, failed)
    const refused = own.handler.onRecipient(SESSION, spoken(`postmaster@${HOSTNAME}`), [])
    expect(Promise.resolve(refused)).rejects.toMatchObject({ code: 550, enhanced: '5.1.1' })
    await own.store.close()
  })
})

describe('a recipient that needs another answer at DATA', () => {
  const OWN = '452 4.5.3 recipient requires different handling, send in a separate transaction'

  test('than a return path is sent to a separate transaction', async () => {
    expect(await meaning('info@ours.test', [await destination('complaints@bounces.ours.test')])).toBe(OWN)
    expect(await meaning('complaints@bounces.ours.test', [await destination('info@ours.test')])).toBe(OWN)
  })

  test('because its route requires other authentication is sent to a separate transaction', async () => {
    expect(await meaning('strict@ours.test', [await destination('info@ours.test')])).toBe(OWN)
    expect(await meaning('info@ours.test', [await destination('strict@ours.test')])).toBe(OWN)
    expect(await meaning('abuse@ours.test', [await destination('strict@ours.test')])).toBe(OWN)
  })

  test('is unknown where any recipient would be unknown', async () => {
    expect(await meaning('nobody@ours.test', [await destination('strict@ours.test')])).toStartWith('550 5.1.1')
    expect(await meaning('a@foreign.test', [await destination('strict@ours.test')])).toStartWith('550 5.7.1')
  })

  test('is the exception: others share a transaction', async () => {
    const report = await destination('complaints@bounces.ours.test')
    expect(await meaning(`${setup.keyed(DELIVERY)}@bounces.ours.test`, [report])).toBe('feedback bounce')
    const info = await destination('info@ours.test')
    expect(await meaning('order-1@ours.test', [info, info])).toBe('orders')
    expect(await meaning('whoever@theirs.test', [info])).toBe('theirs')
    expect(await meaning('postmaster@ours.test', [info])).toBe('stored for ours.test')
  })
})

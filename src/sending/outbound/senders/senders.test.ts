import { describe, expect, test } from 'bun:test'
import { queueOf } from '../../../model/delivery.ts'
import { type ConfiguredAddress, createPools } from './pools.ts'
import { createRests } from './rests.ts'
import { createSenders } from './senders.ts'

const MINUTE = 60_000
const ORGANIZATION = 'org_aaaaaaaa11111111'
const OTHER = 'org_bbbbbbbb22222222'

const address = (text: string, change: Partial<ConfiguredAddress> = {}): ConfiguredAddress => ({
  address: text,
  hostname: null,
  pool: 'default',
  node: null,
  ...change,
})

const poolsOf = (addresses: ConfiguredAddress[], dedicated: Record<string, string[]> = {}) => {
  const poolOf = createPools({
    addresses,
    hostname: 'mail.example.com',
    node: 'one',
    streams: { transactional: { pool: '' }, bulk: { pool: 'bulk' }, news: { pool: '' } },
    dedicatedOf: (owner) => dedicated[owner] ?? [],
  })
  return (...queue: Parameters<typeof queueOf>) => poolOf(queueOf(...queue)).map((each) => each.address)
}

describe('the pool of a mail', () => {
  const all = [
    address('192.0.2.1'),
    address('192.0.2.2', { pool: 'bulk' }),
    address('192.0.2.3', { pool: 'acme' }),
    address('192.0.2.4', { pool: 'dedicated' }),
    address('192.0.2.5', { pool: 'dedicated' }),
  ]

  test('is the default one, unless its stream, an assignment or an own address decides, in this order', () => {
    const of = poolsOf(all, { '11111111': ['192.0.2.4'] })
    expect(of('a.test', OTHER)).toEqual(['192.0.2.1'])
    expect(of('a.test', ORGANIZATION)).toEqual(['192.0.2.4'])
    expect(of('a.test', ORGANIZATION, { pool: 'acme' })).toEqual(['192.0.2.3'])
    expect(of('a.test', ORGANIZATION, { pool: 'acme', stream: 'bulk' })).toEqual(['192.0.2.2'])
    expect(of('a.test', ORGANIZATION, { stream: 'news' })).toEqual(['192.0.2.4'])
  })

  // threat: dedicated-address-of-another-organization
  test('never has an address that belongs to another organization, or to none yet', () => {
    const of = poolsOf(all, { '11111111': ['192.0.2.4'] })
    for (const pool of ['dedicated', 'Dedicated', '', '192.0.2.4', '__proto__', 'constructor']) {
      for (const stream of ['dedicated', 'transactional', '__proto__', 'constructor']) {
        expect(of('a.test', OTHER, { pool, stream })).toEqual(['192.0.2.1'])
      }
    }
    // An address that is assigned but configured for another pool is not used either.
    expect(poolsOf(all, { '22222222': ['192.0.2.3'] })('a.test', OTHER)).toEqual(['192.0.2.1'])
  })

  test('that is no longer configured, or has no address on this node, does not hold mail up', () => {
    const of = poolsOf([address('192.0.2.1', { node: 'one' }), address('192.0.2.2', { pool: 'bulk', node: 'two' })])
    expect(of('a.test', OTHER, { pool: 'gone' })).toEqual(['192.0.2.1'])
    expect(of('a.test', OTHER, { stream: 'bulk' })).toEqual(['192.0.2.1'])
    expect(poolsOf([address('192.0.2.2', { node: 'two' })])('a.test', OTHER)).toEqual([])
  })
})

describe('an address that a destination blocks', () => {
  test('rests there, longer each time, up to a day, until it is accepted', () => {
    let now = 0
    const rests = createRests(() => now)
    const minutes = () => {
      rests.blocked('192.0.2.1', 'a.test', 'block-list', now)
      const rest = rests.of('192.0.2.1', 'a.test')
      const left = ((rest?.until ?? 0) - now) / MINUTE
      now = rest?.until ?? now
      return left
    }
    expect(Array.from({ length: 8 }, minutes)).toEqual([15, 30, 60, 120, 240, 480, 960, 1440])
    expect(rests.of('192.0.2.1', 'a.test')).toBeNull()
    rests.accepted('192.0.2.1', 'a.test', now)
    expect(minutes()).toBe(15)
  })

  test('counts attempts that were under way together once, and a late success of one does not wake it', () => {
    let now = 1_000
    const rests = createRests(() => now)
    rests.blocked('192.0.2.1', 'a.test', 'block-list', 0)
    now = 2_000
    rests.blocked('192.0.2.1', 'a.test', 'block-list', 500)
    rests.accepted('192.0.2.1', 'a.test', 500)
    expect(rests.all()).toEqual([
      { address: '192.0.2.1', destination: 'a.test', rule: 'block-list', until: 1_000 + 15 * MINUTE },
    ])
    expect(rests.of('192.0.2.1', 'b.test')).toBeNull()
    expect(rests.of('192.0.2.2', 'a.test')).toBeNull()
  })
})

describe('the choice of an address', () => {
  const open = (...addresses: string[]) => {
    const state = { now: 0 }
    const poolOf = createPools({
      addresses: addresses.map((each) => address(each)),
      hostname: 'mail.example.com',
      node: 'one',
      streams: {},
      dedicatedOf: () => [],
    })
    const senders = createSenders(poolOf, () => state.now)
    const choose = (organization = ORGANIZATION) =>
      senders.of(queueOf('a.test', organization), 'a.test').map((sender) => sender?.map((each) => each.address))
    const block = (source: string) => senders.learn(source, 'a.test', 'block-list', state.now)
    return { state, senders, choose, block }
  }

  test('without configured addresses is the system’s', () => {
    expect(open().choose()).toEqual([undefined])
  })

  test('stays the same for an organization, and spreads organizations over the pool', () => {
    const { choose } = open('192.0.2.1', '192.0.2.2', '192.0.2.3')
    expect(choose()).toEqual(choose())
    const first = new Set(Array.from({ length: 60 }, (_, n) => choose(`org_${n}`.padStart(16, 'x'))[0]![0]))
    expect(first.size).toBe(3)
  })

  test('leaves out what rests, and when all rest takes the one that wakes first', () => {
    const { state, senders, choose, block } = open('192.0.2.1', '192.0.2.2')
    const queue = queueOf('a.test', ORGANIZATION)
    block('192.0.2.1')
    expect(choose()).toEqual([['192.0.2.2']])
    expect(senders.hasOther(queue, 'a.test', '192.0.2.1')).toBe(true)
    state.now = MINUTE
    block('192.0.2.2')
    expect(senders.hasOther(queue, 'a.test', '192.0.2.2')).toBe(false)
    expect(choose()).toEqual([['192.0.2.1']])
    expect(senders.of(queue, 'b.test')).toHaveLength(2)
  })

  test('has one address of each family, and a block of one family does not count in the other', () => {
    const { senders, choose, block } = open('192.0.2.1', '2001:db8::1', '2001:db8::2')
    const [[v4, v6] = []] = choose() as string[][]
    expect(v4).toBe('192.0.2.1')
    const queue = queueOf('a.test', ORGANIZATION)
    block(v6!)
    expect(choose()[0]).not.toContain(v6)
    block('192.0.2.1')
    expect(senders.hasOther(queue, 'a.test', '192.0.2.1')).toBe(false)
    expect(open('2001:db8::1').choose()).toEqual([['2001:db8::1']])
  })
})

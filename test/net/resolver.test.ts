import { afterEach, beforeEach, describe, expect, spyOn, test } from 'bun:test'
import dgram from 'node:dgram'
import { once } from 'node:events'
import { join } from 'node:path'
import packet, { type Answer } from 'dns-packet'
import { startZone, type Zone } from '../../src/cli/try/zone-server.ts'
import {
  createResolver,
  mailauthResolver,
  type ResolverOptions,
  type SharedResolver,
  systemServers,
} from '../../src/net/dns/resolver.ts'
import type { Clock } from '../../src/os/clock.ts'
import { systemRandom } from '../../src/os/random.ts'
import { PATIENCE_MS, TEST_LIMIT_MS, until } from '../support/patience.ts'
import { describeWith, run } from '../support/real-tools.ts'

let zone: Zone
let now: number
const clock: Clock = { now: () => now, sleep: async () => {} }

beforeEach(async () => {
  now = Date.UTC(2026, 0, 1)
  zone = await startZone([
    { name: 'Example.test', type: 'A', data: '192.0.2.1', ttlSeconds: 60 },
    { name: 'example.test', type: 'A', data: '192.0.2.2', ttlSeconds: 60 },
    { name: 'example.test', type: 'AAAA', data: '2001:db8::1' },
    { name: 'example.test', type: 'MX', data: { preference: 10, exchange: 'MX1.Example.test' } },
    { name: 'example.test', type: 'NS', data: 'ns.example.test' },
    { name: 'example.test', type: 'SOA', data: { mname: 'ns.example.test', rname: 'root.example.test', minimum: 120 } },
    { name: 'null.test', type: 'MX', data: { preference: 0, exchange: '.' } },
  ])
})
afterEach(() => zone.stop())

function resolverFor(servers: string[], more: Partial<ResolverOptions> = {}): SharedResolver {
  return createResolver({ servers, clock, random: systemRandom, timeoutMs: TEST_LIMIT_MS, tries: 2, ...more })
}
/** For servers that do not answer. */
const HASTY = { timeoutMs: 50 }
const ours = (more: Partial<ResolverOptions> = {}) => resolverFor([zone.address], more)

describe('records', () => {
  test('addresses, mail exchangers and name servers are returned as published', async () => {
    const resolver = ours()
    expect(await resolver.a('EXAMPLE.test.')).toEqual({
      kind: 'records',
      records: ['192.0.2.1', '192.0.2.2'],
      ttlSeconds: 60,
      authentic: false,
    })
    expect(await resolver.aaaa('example.test')).toMatchObject({ records: ['2001:db8::1'] })
    expect(await resolver.mx('example.test')).toMatchObject({
      records: [{ preference: 10, exchange: 'mx1.example.test' }],
    })
    expect(await resolver.ns('example.test')).toMatchObject({ records: ['ns.example.test'] })
  })

  test('a null MX is the root name', async () => {
    expect(await ours().mx('null.test')).toMatchObject({ records: [{ preference: 0, exchange: '.' }] })
  })

  // threat: dns-verdict-errors
  test('a TXT record longer than 255 bytes stays one record', async () => {
    const key = `v=DKIM1; p=${'A'.repeat(700)}`
    zone.set('s._domainkey.example.test', 'TXT', [key, 'second record'])
    const resolver = ours()
    expect(await resolver.txt('s._domainkey.example.test')).toMatchObject({ records: [key, 'second record'] })
    const apart = await resolver.txtStrings('s._domainkey.example.test')
    expect(apart.kind === 'records' && apart.records.map((strings) => strings.map((text) => text.length))).toEqual([
      [255, 255, 201],
      [13],
    ])
  })

  test('a character split between the strings of a TXT record is joined again', async () => {
    const text = `${'x'.repeat(254)}ü€`
    zone.set('utf8.test', 'TXT', [text, ['v=spf1 ', '-all'], ['']])
    expect(await ours().txt('utf8.test')).toMatchObject({ records: [text, 'v=spf1 -all', ''] })
  })

  test('an address is looked up by its reverse name', async () => {
    zone.set('9.2.0.192.in-addr.arpa', 'PTR', ['Mail.example.test'])
    zone.set(`1.${'0.'.repeat(23)}8.b.d.0.1.0.0.2.ip6.arpa`, 'PTR', ['six.example.test'])
    const resolver = ours()
    expect(await resolver.ptr('192.0.2.9')).toMatchObject({ records: ['mail.example.test'] })
    expect(await resolver.ptr('::ffff:192.0.2.9')).toMatchObject({ records: ['mail.example.test'] })
    expect(await resolver.ptr('9.2.0.192.in-addr.arpa')).toMatchObject({ records: ['mail.example.test'] })
    expect(await resolver.ptr('2001:db8::1')).toMatchObject({ records: ['six.example.test'] })
  })

  test('TLSA data is returned in its four parts', async () => {
    const certificate = new Uint8Array([1, 2, 3])
    zone.set('_25._tcp.mx.test', 'TLSA', [{ usage: 3, selector: 1, matchingType: 1, certificate }])
    expect(await ours().tlsa('_25._tcp.mx.test')).toMatchObject({
      records: [{ usage: 3, selector: 1, matchingType: 1, certificate }],
    })
  })
})

describe('missing records', () => {
  // threat: dns-verdict-errors
  test('a name without such a record differs from a name that does not exist', async () => {
    const resolver = ours()
    expect(await resolver.aaaa('null.test')).toEqual({ kind: 'no_data' })
    expect(await resolver.mx('nowhere.test')).toEqual({ kind: 'nxdomain' })
    expect(await resolver.mx('test')).toEqual({ kind: 'no_data' }) // names below it
  })

  test.each(['', '.', 'a..test', '.test', `${'a'.repeat(64)}.test`, `${'a.'.repeat(127)}test`, 'bücher.test'])(
    '%p cannot exist, and no server is asked',
    async (name) => {
      expect(await ours().a(name)).toEqual({ kind: 'nxdomain' })
      expect(zone.queries).toEqual([])
    },
  )

  test('labels with odd but legal characters are looked up', async () => {
    zone.set('a:b%c_d.test', 'A', ['192.0.2.3'])
    expect(await ours().a('a:b%c_d.test')).toMatchObject({ records: ['192.0.2.3'] })
  })
})

describe('aliases', () => {
  test('a chain inside one answer is followed and the smallest TTL counts', async () => {
    zone.set('www.test', 'CNAME', ['web.test'], 30)
    zone.set('web.test', 'CNAME', ['Example.test'], 20)
    expect(await ours().a('www.test')).toMatchObject({ records: ['192.0.2.1', '192.0.2.2'], ttlSeconds: 20 })
    expect(zone.queries).toHaveLength(1)
  })

  test('an alias asked for itself is not followed', async () => {
    zone.set('www.test', 'CNAME', ['example.test'])
    expect(await ours().cname('www.test')).toMatchObject({ records: ['example.test'] })
  })

  test('the end of the chain decides between no data and NXDOMAIN', async () => {
    zone.set('to-nothing.test', 'CNAME', ['gone.test'])
    zone.set('to-other.test', 'CNAME', ['null.test'])
    expect(await ours().a('to-nothing.test')).toEqual({ kind: 'nxdomain' })
    expect(await ours().a('to-other.test')).toEqual({ kind: 'no_data' })
  })

  // threat: lying-dns
  test('a loop and an endless chain end as DNS failures', async () => {
    zone.set('one.test', 'CNAME', ['two.test'])
    zone.set('two.test', 'CNAME', ['one.test'])
    for (let i = 0; i < 12; i++) zone.set(`c${i}.test`, 'CNAME', [`c${i + 1}.test`])
    expect(await ours().a('one.test')).toEqual({ kind: 'temporary', reason: 'CNAME loop' })
    expect(await ours().a('c0.test')).toEqual({ kind: 'temporary', reason: 'CNAME chain too long' })
  })

  test('when the server stops at the alias, its target is looked up', async () => {
    const server = await startRaw((query) => {
      const name = query.questions![0]!.name
      const data = name === 'www.test' ? 'target.test' : '192.0.2.7'
      return [response(query, [{ name, type: name === 'www.test' ? 'CNAME' : 'A', ttl: 5, data }])]
    })
    expect(await resolverFor([server.address]).a('www.test')).toMatchObject({ records: ['192.0.2.7'], ttlSeconds: 5 })
    server.close()
  })

  // threat: lying-dns
  test('records of other names in an answer are ignored', async () => {
    const server = await startRaw((query) => [
      response(query, [{ name: 'other.test', type: 'A', ttl: 5, data: '192.0.2.66' }]),
    ])
    expect(await resolverFor([server.address]).a('asked.test')).toEqual({ kind: 'no_data' })
    server.close()
  })
})

describe('DNS failures', () => {
  // threat: lying-dns
  test.each(['SERVFAIL', 'REFUSED'] as const)('%s is temporary, asked once per server', async (rcode) => {
    zone.fail('example.test', rcode)
    expect(await ours().a('example.test')).toEqual({ kind: 'temporary', reason: rcode })
    expect(zone.queries).toHaveLength(1)
  })

  // threat: dns-verdict-errors
  test('no answer is temporary after all attempts', async () => {
    // The limit of all attempts together would end them early on a slow machine.
    const time = spyOn(performance, 'now').mockReturnValue(0)
    try {
      zone.fail('example.test', 'timeout')
      expect(await ours({ ...HASTY, tries: 3 }).a('example.test')).toEqual({ kind: 'temporary', reason: 'timeout' })
    } finally {
      time.mockRestore()
    }
    await until('the last query', () => zone.queries.length === 3)
  })

  // threat: lying-dns
  test('answers under a wrong id count as no answer', async () => {
    zone.fail('example.test', 'wrong_id')
    expect(await ours(HASTY).a('example.test')).toEqual({ kind: 'temporary', reason: 'timeout' })
  })

  // threat: lying-dns
  test('a closed port is temporary', async () => {
    const closed = await startZone()
    const resolver = resolverFor([closed.address])
    await closed.stop()
    expect(await resolver.a('example.test')).toMatchObject({ kind: 'temporary' })
  })

  // threat: lying-dns
  test('a truncated answer is fetched over TCP', async () => {
    zone.fail('example.test', 'truncate')
    expect(await ours().a('example.test')).toMatchObject({ records: ['192.0.2.1', '192.0.2.2'] })
    expect(zone.queries).toHaveLength(2)
  })

  test('a truncated answer of a server without TCP is temporary', async () => {
    const server = await startRaw((query) => [
      packet.encode({ ...query, type: 'response', flags: packet.TRUNCATED_RESPONSE }),
    ])
    expect(await resolverFor([server.address]).a('example.test')).toMatchObject({ kind: 'temporary' })
    server.close()
  })

  test('an answer too large for a datagram is complete', async () => {
    const exchanges = Array.from({ length: 100 }, (_, i) => ({ preference: i, exchange: `mx${i}.example.test` }))
    zone.set('big.test', 'MX', exchanges)
    const found = await ours().mx('big.test')
    expect(found.kind === 'records' && found.records).toEqual(exchanges)
  })

  // threat: spoofed-dns-answers
  // threat: lying-dns
  test('forged answers before the true one change nothing', async () => {
    const server = await startRaw((query) => {
      const forge = (changes: object) =>
        response({ ...query, ...changes }, [{ name: 'example.test', type: 'A', ttl: 5, data: '192.0.2.66' }])
      return [
        Buffer.from('no DNS message'),
        forge({ id: query.id! ^ 1 }),
        forge({ questions: [{ name: 'other.test', type: 'A', class: 'IN' }] }),
        forge({ questions: [{ name: 'example.test', type: 'MX', class: 'IN' }] }),
        forge({ questions: [{ name: 'example.test', type: 'A', class: 'CH' }] }),
        forge({ questions: [] }),
        packet.encode({ ...query, type: 'query' }),
        response({ ...query, questions: [{ name: 'EXAMPLE.test', type: 'A', class: 'IN' }] }, [
          { name: 'example.TEST', type: 'A', ttl: 5, data: '192.0.2.9' },
        ]),
      ]
    })
    expect(await resolverFor([server.address]).a('example.test')).toMatchObject({ records: ['192.0.2.9'] })
    server.close()
  })

  test('an answer that cannot be read is temporary', async () => {
    const server = await startRaw((query) => {
      const bytes = response(query, [{ name: 'example.test', type: 'A', ttl: 5, data: '192.0.2.9' }])
      return [bytes.subarray(0, bytes.length - 3)]
    })
    expect(await resolverFor([server.address]).a('example.test')).toEqual({
      kind: 'temporary',
      reason: 'malformed response',
    })
    server.close()
  })

  test('a server that does not support EDNS is asked without it', async () => {
    const server = await startRaw((query) => {
      if (query.additionals?.length) return [packet.encode({ type: 'response', id: query.id, flags: 1 })]
      return [response(query, [{ name: 'example.test', type: 'A', ttl: 5, data: '192.0.2.9' }])]
    })
    expect(await resolverFor([server.address]).a('example.test')).toMatchObject({ records: ['192.0.2.9'] })
    server.close()
  })

  test('the next server answers where the first refuses or is silent', async () => {
    const second = await startZone([{ name: 'example.test', type: 'A', data: '192.0.2.200' }])
    for (const failure of ['SERVFAIL', 'timeout'] as const) {
      zone.fail('example.test', failure)
      // So many tries that one of them meets an answer in time on any machine.
      const resolver = resolverFor([zone.address, second.address], { ...HASTY, tries: 100 })
      const found = await resolver.a('example.test')
      expect(found).toMatchObject({ records: ['192.0.2.200'] })
    }
    await second.stop()
  })

  test('NXDOMAIN is an answer, so the next server is not asked', async () => {
    const second = await startZone()
    expect(await resolverFor([zone.address, second.address]).a('nowhere.test')).toEqual({ kind: 'nxdomain' })
    expect(second.queries).toEqual([])
    await second.stop()
  })

  test('a closed resolver asks no server', async () => {
    const resolver = ours()
    resolver.close()
    expect(await resolver.a('example.test')).toEqual({ kind: 'temporary', reason: 'resolver is closed' })
    expect(zone.queries).toEqual([])
  })
})

test('queries ask for DNSSEC, and the AD flag of a trusted server is passed on', async () => {
  const asked: packet.DecodedPacket[] = []
  const server = await startRaw((query) => {
    asked.push(query)
    return [response(query, [{ name: 'example.test', type: 'A', ttl: 5, data: '192.0.2.9' }], packet.AUTHENTIC_DATA)]
  })
  const believed = resolverFor([server.address], { trustedServers: ['127.0.0.0/8'] })
  expect(await believed.a('example.test')).toMatchObject({ authentic: true })
  expect(asked[0]).toMatchObject({ flag_rd: true, flag_ad: true })
  expect(asked[0]!.additionals).toMatchObject([{ type: 'OPT', udpPayloadSize: 1232, flag_do: true }])
  server.close()
})

test('the AD flag of an untrusted server is ignored', async () => {
  zone.signed.add('example.test')
  expect(await ours().a('example.test')).toMatchObject({ kind: 'records', authentic: false })
  expect(await ours({ trustedServers: ['192.0.2.0/24'] }).a('example.test')).toMatchObject({ authentic: false })
  expect(await ours({ trustedServers: ['127.0.0.1/32'] }).a('example.test')).toMatchObject({ authentic: true })
})

test('each query has its own id and port', async () => {
  const ids = new Set<number>()
  const ports = new Set<number>()
  const server = await startRaw((query, peer) => {
    ids.add(query.id!)
    ports.add(peer.port)
    return [response(query, [])]
  })
  const resolver = resolverFor([server.address])
  await Promise.all(Array.from({ length: 30 }, (_, i) => resolver.a(`n${i}.test`)))
  expect(ids.size).toBeGreaterThan(25)
  expect(ports.size).toBe(30)
  server.close()
})

describe('the cache', () => {
  const asked = () => zone.queries.length

  test('keeps an answer for its TTL, which counts down', async () => {
    const resolver = ours()
    await resolver.a('example.test')
    now += 59_000
    expect(await resolver.a('example.test')).toMatchObject({ ttlSeconds: 1 })
    expect(asked()).toBe(1)
    now += 1000
    expect(await resolver.a('example.test')).toMatchObject({ ttlSeconds: 60 })
    expect(asked()).toBe(2)
  })

  test('keeps TTLs between a second and a day', async () => {
    zone.set('zero.test', 'A', ['192.0.2.1'], 0)
    zone.set('week.test', 'A', ['192.0.2.1'], 604_800)
    zone.set('negative.test', 'A', ['192.0.2.1'], 0x80000001)
    expect(await ours().a('zero.test')).toMatchObject({ ttlSeconds: 1 })
    expect(await ours().a('week.test')).toMatchObject({ ttlSeconds: 86_400 })
    expect(await ours().a('negative.test')).toMatchObject({ ttlSeconds: 1 })
  })

  test('keeps a negative answer as long as the SOA says, at most five minutes', async () => {
    zone.set('slow.test', 'SOA', [{ mname: 'ns.test', rname: 'root.test', minimum: 86_400 }], 86_400)
    const resolver = ours()
    for (const [name, seconds] of [['nowhere.example.test', 120] as const, ['nowhere.slow.test', 300] as const]) {
      zone.queries.length = 0
      await resolver.a(name)
      now += (seconds - 1) * 1000
      await resolver.a(name)
      expect(asked()).toBe(1)
      now += 1000
      await resolver.a(name)
      expect(asked()).toBe(2)
    }
  })

  test('keeps a failure for a second', async () => {
    const resolver = ours()
    zone.fail('example.test', 'SERVFAIL')
    await resolver.a('example.test')
    zone.fail('example.test', null)
    expect(await resolver.a('example.test')).toMatchObject({ kind: 'temporary' })
    now += 1000
    expect(await resolver.a('example.test')).toMatchObject({ kind: 'records' })
  })

  test('drops the least recently used entry when there are too many', async () => {
    const resolver = ours({ maxCacheEntries: 2 })
    for (const name of ['example.test', 'b.test', 'example.test', 'c.test', 'example.test', 'b.test'])
      await resolver.a(name)
    expect(zone.queries.map(({ name }) => name)).toEqual(['example.test', 'b.test', 'c.test', 'b.test'])
  })

  test('of size 0 shows every change at once', async () => {
    const resolver = ours({ maxCacheEntries: 0 })
    expect(await resolver.a('new.test')).toEqual({ kind: 'nxdomain' })
    zone.set('new.test', 'A', ['192.0.2.5'])
    expect(await resolver.a('new.test')).toMatchObject({ records: ['192.0.2.5'] })
  })

  test('does not keep an entry longer when the clock is set back', async () => {
    const resolver = ours()
    await resolver.a('example.test')
    now -= 7_200_000
    await resolver.a('example.test')
    expect(asked()).toBe(2)
  })

  test('is not changed by a caller who changes the result', async () => {
    const resolver = ours()
    const first = await resolver.a('example.test')
    if (first.kind === 'records') first.records.length = 0
    expect(await resolver.a('example.test')).toMatchObject({ records: ['192.0.2.1', '192.0.2.2'] })
  })

  test('makes one query of equal concurrent questions', async () => {
    const resolver = ours()
    const found = await Promise.all(Array.from({ length: 20 }, () => resolver.txt('example.test')))
    expect(new Set(found.map(({ kind }) => kind))).toEqual(new Set(['no_data']))
    expect(asked()).toBe(1)
  })

  test('sends no more than the allowed number of queries at once, and answers all', async () => {
    let open = 0
    let most = 0
    const server = await startRaw(async (query) => {
      most = Math.max(most, ++open)
      await new Promise(setImmediate)
      open--
      return [response(query, [])]
    })
    const resolver = resolverFor([server.address], { maxConcurrent: 3 })
    const found = await Promise.all(Array.from({ length: 40 }, (_, i) => resolver.a(`n${i}.test`)))
    expect(found.every(({ kind }) => kind === 'no_data')).toBe(true)
    expect(most).toBeLessThanOrEqual(3)
    server.close()
  })

  test('gives up questions that waited longer than a lookup may take', async () => {
    for (const name of ['a.test', 'b.test', 'c.test', 'd.test']) zone.fail(name, 'timeout')
    const resolver = ours({ maxConcurrent: 1, tries: 1, timeoutMs: 30 })
    const found = await Promise.all(['a.test', 'b.test', 'c.test', 'd.test'].map((name) => resolver.a(name)))
    expect(found.at(-1)).toEqual({ kind: 'temporary', reason: 'too many lookups' })
  })
})

describe('many clients', () => {
  // threat: dns-slots-of-silent-domains
  test('a lookup does not wait for silent servers, neither of one network nor of one domain', async () => {
    const end = Promise.withResolvers<void>()
    const server = await startRaw(async (query) => {
      const [question] = query.questions ?? []
      if (!question?.name.includes('silent')) return [response(query, [])]
      await end.promise
      return [response(query, [], SERVFAIL)]
    })
    const resolver = resolverFor([server.address], { timeoutMs: PATIENCE_MS / 10, tries: 1, maxConcurrent: 100 })
    const greedy = resolver.forClient('192.0.2.0/24')
    const silent = [
      ...Array.from({ length: 180 }, (_, n) => greedy.txt(`silent${n}.test`)),
      ...Array.from({ length: 180 }, (_, n) => resolver.forClient(`10.0.${n}.0/24`).txt(`n${n}.silent.test`)),
    ]
    let over = 0
    for (const each of silent) void each.then(() => over++)
    const healthy = resolver.forClient('198.51.100.0/24')
    for (let n = 0; n < 10; n++) expect((await healthy.txt(`healthy${n}.test`)).kind).toBe('no_data')
    expect(over).toBe(0) // so none of the healthy lookups waited for the end of a silent one
    end.resolve()
    expect((await Promise.all(silent)).every(({ kind }) => kind === 'temporary')).toBe(true)
    server.close()
  })

  test('what one client has looked up, the others get from the cache', async () => {
    const resolver = ours()
    await resolver.forClient('a').a('example.test')
    await resolver.forClient('b').a('example.test')
    expect(zone.queries.length).toBe(1)
  })
})

describe('for mailauth', () => {
  test('records have the shapes and failures the codes of node:dns', async () => {
    zone.set('txt.test', 'TXT', [['v=spf1 ', '-all']])
    zone.fail('bad.test', 'SERVFAIL')
    zone.fail('slow.test', 'timeout')
    const resolve = mailauthResolver(ours())
    const resolveHastily = mailauthResolver(ours(HASTY))
    expect(await resolve('txt.test', 'TXT')).toEqual([['v=spf1 ', '-all']])
    expect(await resolve('example.test')).toEqual(['192.0.2.1', '192.0.2.2'])
    expect(await resolve('null.test', 'MX')).toEqual([{ priority: 0, exchange: '' }])
    await expect(resolve('nowhere.test', 'TXT')).rejects.toMatchObject({ code: 'ENOTFOUND' })
    await expect(resolve('example.test', 'TXT')).rejects.toMatchObject({ code: 'ENODATA' })
    await expect(resolve('bad.test', 'A')).rejects.toMatchObject({ code: 'ESERVFAIL' })
    await expect(resolveHastily('slow.test', 'A')).rejects.toMatchObject({ code: 'ETIMEOUT' })
    await expect(resolve('example.test', 'SRV')).rejects.toMatchObject({ code: 'ENOTIMP' })
  })
})

describe('servers', () => {
  test('resolv.conf gives its first three addresses', () => {
    const text =
      '# nameserver 9.9.9.9\nsearch lan\n nameserver 1.1.1.1 \nnameserver fe80::1%eth0\nnameserver host\nnameserver 8.8.8.8\nnameserver 8.8.4.4\n'
    expect(systemServers(text)).toEqual(['1.1.1.1:53', '[fe80::1%eth0]:53', '8.8.8.8:53'])
    expect(systemServers('')).toEqual(['127.0.0.1:53'])
    expect(systemServers().length).toBeGreaterThan(0)
  })

  test.each(['', 'ns.example:53', '127.0.0.1', '::1:53', '127.0.0.1:99999'])('%p is not a server', (server) => {
    expect(() => resolverFor([server])).toThrow('not a DNS server')
    expect(() => resolverFor([])).toThrow('no DNS server')
  })
})

const SERVFAIL = 2

type Respond = (query: packet.DecodedPacket, peer: dgram.RemoteInfo) => Buffer[] | Promise<Buffer[]>

/** A UDP server that sends the result of `respond` for a query. */
async function startRaw(respond: Respond): Promise<{ address: string; close: () => void }> {
  const socket = dgram.createSocket('udp4')
  socket.on('message', async (message, peer) => {
    for (const bytes of await respond(packet.decode(message), peer)) socket.send(bytes, peer.port, peer.address)
  })
  socket.bind(0, '127.0.0.1')
  await once(socket, 'listening')
  return { address: `127.0.0.1:${socket.address().port}`, close: () => socket.close() }
}

function response(query: packet.Packet, answers: Answer[], flags = 0): Buffer {
  return packet.encode({ type: 'response', id: query.id, flags, questions: query.questions, answers })
}

describeWith(['root', 'unshare'], 'without a network', () => {
  // In a network namespace of its own, even loopback is down.
  test('a lookup fails at once, and nothing else does', async () => {
    const lookUp = `
      import { createResolver } from ${JSON.stringify(join(import.meta.dir, '../../src/net/dns/resolver.ts'))}
      const random = { bytes: (count) => crypto.getRandomValues(new Uint8Array(count)), fraction: () => 0.5 }
      const clock = { now: () => Date.now(), sleep: async () => {} }
      const resolver = createResolver({ servers: ['127.0.0.1:53'], clock, random, timeoutMs: 60_000, tries: 1 })
      console.log(JSON.stringify(await resolver.a('example.test')))
      process.exit()`
    const { exitCode, output } = await run(['unshare', '--net', process.execPath, '-e', lookUp])
    expect(output).toBe('{"kind":"temporary","reason":"no route to the server"}\n')
    expect(exitCode).toBe(0)
  })
})

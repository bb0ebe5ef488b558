import { describe, expect, test } from 'bun:test'
import packet from 'dns-packet'
import { answer } from '../../src/domains/name-server/answer.ts'
import { createZone, nameKey } from '../../src/domains/name-server/zone.ts'
import { DOMAIN, edns, LONG, OWN, query, replyTo, sampleZone, ZONE } from './zone.ts'

const ask = (name: string, type: string, more: Parameters<typeof query>[2] = {}) => replyTo(query(name, type, more))!
const rcodeOf = (reply: { flags?: number }) => (reply.flags ?? 0) & 0xf
const dataOf = (reply: ReturnType<typeof ask>) =>
  (reply.answers ?? []).map((each) => ('data' in each ? each.data : null))

describe('records', () => {
  test('are returned with their owner, TTL and the authoritative flag, and without recursion', () => {
    const reply = ask(`ns1.${ZONE}`, 'A')
    expect(reply).toMatchObject({
      id: 4711,
      flag_qr: true,
      flag_aa: true,
      flag_rd: true,
      flag_ra: false,
      flag_tc: false,
    })
    expect(reply.answers).toMatchObject([{ name: `ns1.${ZONE}`, type: 'A', ttl: 300, data: '192.0.2.1' }])
    expect(dataOf(ask(`ns1.${ZONE}`, 'AAAA'))).toEqual(['2001:db8::1'])
    expect(dataOf(ask(ZONE, 'NS'))).toEqual([`ns1.${ZONE}`, 'ns.example.org'])
    expect(dataOf(ask(ZONE, 'SOA'))).toMatchObject([{ mname: `ns1.${ZONE}`, serial: 1, minimum: 60 }])
    expect(dataOf(ask(`bounces.shop.${ZONE}`, 'MX'))).toEqual([
      { preference: 10, exchange: 'mx1.example.net' },
      { preference: 10, exchange: 'mx2.example.net' },
    ])
  })

  test('a long TXT record is one record of several strings', () => {
    const [strings] = dataOf(ask(`s1r.shop.${ZONE}`, 'TXT')) as [Buffer[]]
    expect(strings.map((each) => each.length)).toEqual([255, LONG.length - 255])
    expect(Buffer.concat(strings).toString()).toBe(LONG)
  })

  test('the name is found in any letter case, and the question is repeated as it was', () => {
    const reply = ask('S1R.Shop.pM.eXample.NET', 'TXT')
    expect(reply.questions?.[0]?.name).toBe('S1R.Shop.pM.eXample.NET')
    expect(reply.answers).toMatchObject([{ name: 'S1R.Shop.pM.eXample.NET', type: 'TXT' }])
  })

  test('a CNAME is followed inside the zone, and given alone where it leads out of it', () => {
    expect(ask(`inside.shop.${ZONE}`, 'A').answers).toMatchObject([
      { name: `inside.shop.${ZONE}`, type: 'CNAME', data: `ns1.${ZONE}` },
      { name: `ns1.${ZONE}`, type: 'A', data: '192.0.2.1' },
    ])
    expect(dataOf(ask(`links.shop.${ZONE}`, 'A'))).toEqual(['www.example.org'])
    expect(dataOf(ask(`inside.shop.${ZONE}`, 'CNAME'))).toEqual([`ns1.${ZONE}`])
    const dangling = ask(`dangling.shop.${ZONE}`, 'A')
    expect([rcodeOf(dangling), dangling.answers?.length, dangling.authorities?.[0]?.type]).toEqual([3, 1, 'SOA'])
    expect(ask(`round.shop.${ZONE}`, 'A').answers?.length).toBeLessThan(5)
  })

  test('ANY gets one set, and the smallest', () => {
    expect(ask(`bounces.shop.${ZONE}`, 'ANY').answers).toMatchObject([{ type: 'TXT' }])
  })
})

describe('negative answers', () => {
  test('a name that does not exist is NXDOMAIN, with the SOA record and its negative TTL', () => {
    const reply = ask(`nowhere.${ZONE}`, 'A')
    expect([rcodeOf(reply), reply.flag_aa, reply.answers]).toEqual([3, true, []])
    expect(reply.authorities).toMatchObject([{ name: ZONE, type: 'SOA', ttl: 60 }])
  })

  test.each([
    ['a name without records of the type', `ns1.${ZONE}`, 'MX'],
    ['an empty name with names below it', `b.deep.${ZONE}`, 'A'],
    ['an empty name two levels above', `deep.${ZONE}`, 'A'],
    ['the label of a domain', `shop.${ZONE}`, 'TXT'],
  ])('%s is no data', (_, name, type) => {
    const reply = ask(name, type)
    expect([rcodeOf(reply), reply.answers, reply.authorities?.[0]?.type]).toEqual([0, [], 'SOA'])
  })

  test('a removed domain leaves no name, and a changed one only its new names', () => {
    const zone = sampleZone()
    const codeOf = (name: string) => rcodeOf(replyTo(query(`${name}.${ZONE}`, 'A'), { transport: 'udp' }, zone)!)
    zone.put('dom_shop', DOMAIN.slice(0, 1))
    expect(['s1r.shop', 'shop', 'bounces.shop', 'deep'].map(codeOf)).toEqual([0, 0, 3, 3])
    zone.put('dom_shop', [])
    expect(['s1r.shop', 'shop', 'ns1'].map(codeOf)).toEqual([3, 3, 0])
  })
})

describe('refused', () => {
  test.each([
    ['a name outside the zone', query('example.org', 'A')],
    ['the parent', query('example.net', 'NS')],
    ['a name that only ends like the zone', query('xpm.example.net', 'A')],
    ['the root', query('.', 'NS')],
    ['another class', query('version.bind', 'TXT', { class: 'CH' })],
    ['a transfer', query(ZONE, 'AXFR')],
    ['an incremental transfer', query(ZONE, 'IXFR')],
  ])('%s', (_, given) => {
    const reply = replyTo(given)!
    expect([rcodeOf(reply), reply.answers, reply.authorities, reply.flag_aa]).toEqual([5, [], [], false])
  })

  test('a label with the bytes of the zone inside is not the zone', () => {
    const key = nameKey(ZONE)
    const label = `x${key.slice(0, -1)}` // as one label, the text ends like the zone
    const name = Buffer.from(`${String.fromCharCode(label.length)}${label}\0`, 'latin1')
    const given = Buffer.concat([query('.', 'A').subarray(0, 12), name, Buffer.from([0, 1, 0, 1])])
    expect(rcodeOf(replyTo(given)!)).toBe(5)
  })

  test('another opcode is not implemented', () => {
    for (const opcode of [1, 2, 4, 5, 6, 15]) {
      const given = query(ZONE, 'SOA')
      given[2] = opcode << 3
      const reply = replyTo(given)!
      expect([rcodeOf(reply), reply.bytes.length, (reply.bytes[2]! >> 3) & 15]).toEqual([4, 12, opcode])
    }
  })

  test('a zone that is not loaded yet is SERVFAIL', () => {
    const out = Buffer.alloc(65_535)
    expect(answer(query(`ns1.${ZONE}`, 'A'), null, out, { transport: 'udp' })).toMatchObject({ rcode: 'SERVFAIL' })
  })
})

describe('malformed', () => {
  const valid = () => query(`ns1.${ZONE}`, 'A')
  const changed = (change: (bytes: Buffer) => void) => {
    const bytes = valid()
    change(bytes)
    return bytes
  }
  test.each([
    ['no question', changed((bytes) => bytes.writeUInt16BE(0, 4))],
    ['two questions', changed((bytes) => bytes.writeUInt16BE(2, 4))],
    ['a question that is cut off', valid().subarray(0, -1)],
    ['a name that is cut off', valid().subarray(0, 14)],
    ['a name with a pointer', changed((bytes) => bytes.writeUInt16BE(0xc00c, 12))],
    ['a label of an unknown kind', changed((bytes) => bytes.writeUInt8(0x41, 12))],
    ['bytes behind the records', Buffer.concat([valid(), Buffer.from([0])])],
    ['more records than there are', changed((bytes) => bytes.writeUInt16BE(1, 10))],
    ['many records', changed((bytes) => bytes.writeUInt16BE(60_000, 6))],
    ['two OPT records', query(ZONE, 'A', { additionals: [...edns().additionals!, ...edns().additionals!] })],
    [
      'an OPT record with another name',
      Buffer.concat([
        changed((bytes) => bytes.writeUInt16BE(1, 10)),
        Buffer.from([1, 97, 0, 0, 41, 4, 208, 0, 0, 0, 0, 0, 0]),
      ]),
    ],
  ])('%s is a format error of 12 bytes', (_, given) => {
    const reply = replyTo(given)!
    expect([rcodeOf(reply), reply.bytes.length]).toEqual([1, 12])
  })

  test('a name of 255 bytes is read, a longer one is a format error', () => {
    const labels = `${'a'.repeat(63)}.${'b'.repeat(63)}.${'c'.repeat(63)}`
    expect(rcodeOf(replyTo(query(`${labels}.${'d'.repeat(61)}`, 'A'))!)).toBe(5)
    expect(rcodeOf(replyTo(query(`${labels}.${'d'.repeat(62)}`, 'A'))!)).toBe(1)
  })

  test('a response, and less than a header, get no answer', () => {
    expect(replyTo(changed((bytes) => bytes.writeUInt8(0x80, 2)))).toBeNull()
    for (let length = 0; length < 12; length++) expect(replyTo(valid().subarray(0, length))).toBeNull()
  })
})

describe('EDNS', () => {
  const optOf = (reply: ReturnType<typeof ask>) =>
    reply.additionals?.[0] as
      | { udpPayloadSize: number; extendedRcode: number; ednsVersion: number; flags: number }
      | undefined

  test('is answered with our size, version 0 and the DO flag of the query; without it there is none', () => {
    expect(optOf(ask(ZONE, 'SOA', edns()))).toMatchObject({ udpPayloadSize: 1232, ednsVersion: 0, flags: 0 })
    expect(optOf(ask(ZONE, 'SOA', edns({ flags: packet.DNSSEC_OK })))).toMatchObject({ flags: 0x8000 })
    expect(optOf(ask(ZONE, 'SOA'))).toBeUndefined()
  })

  test('another version is BADVERS', () => {
    const reply = ask(ZONE, 'SOA', edns({ ednsVersion: 1 }))
    expect([rcodeOf(reply), optOf(reply)?.extendedRcode, reply.answers]).toEqual([0, 1, []])
  })

  test('unknown options are ignored', () => {
    expect(rcodeOf(ask(ZONE, 'SOA', edns({ options: [{ code: 65_001, data: Buffer.alloc(9) }] })))).toBe(0)
  })
})

describe('truncation', () => {
  const big = `huge.shop.${ZONE}`
  test.each([
    ['512 bytes without EDNS', {}, 512],
    ['512 bytes if less is announced', edns({ udpPayloadSize: 10 }), 512],
    ['the announced size', edns({ udpPayloadSize: 600 }), 600],
    ['1232 bytes however much is announced', edns({ udpPayloadSize: 65_535 }), 1232],
  ])('over UDP a response has at most %s', (_, more, limit) => {
    const zone = createZone(ZONE, OWN)
    // Two records of one set, so that the size is found to the byte.
    const left = limit - replyTo(query(big, 'TXT', more), { transport: 'udp' }, zone)!.bytes.length
    const fits = (bytes: number) => {
      const text = 'y'.repeat(bytes)
      zone.put('x', [{ name: big, type: 'TXT', ttlSeconds: 1, value: text, priority: null }])
      const reply = replyTo(query(big, 'TXT', more), { transport: 'udp' }, zone)!
      expect(reply.bytes.length).toBeLessThanOrEqual(limit)
      expect(reply.answers?.length).toBe(reply.flag_tc ? 0 : 1)
      return !reply.flag_tc
    }
    expect(left).toBeGreaterThan(0)
    let bytes = 0
    while (bytes < limit && fits(bytes + 1)) bytes++
    const overhead =
      12 +
      Buffer.byteLength(nameKey(big), 'latin1') +
      4 +
      12 +
      Math.ceil(bytes / 255) +
      ('additionals' in more ? 11 : 0)
    expect(overhead + bytes).toBeWithin(limit - 1, limit + 1)
  })

  test('TCP has no such limit', () => {
    const reply = replyTo(query(big, 'TXT'), { transport: 'tcp' })!
    expect([reply.flag_tc, reply.bytes.length > 1500]).toEqual([false, true])
  })

  test('a limited client is sent to TCP, whatever it asks', () => {
    for (const name of [`ns1.${ZONE}`, 'example.org']) {
      const reply = replyTo(query(name, 'A', edns()), { transport: 'udp', isLimited: true })!
      expect([reply.flag_tc, reply.answers, reply.authorities, rcodeOf(reply)]).toEqual([true, [], [], 0])
      expect(reply.bytes.length).toBeLessThanOrEqual(query(name, 'A', edns()).length)
    }
  })
})

test('values that no packet can hold and names outside are left out', () => {
  const zone = createZone(ZONE, OWN)
  const put = (name: string, type: 'A' | 'MX' | 'CNAME', value: string) => ({
    name,
    type,
    ttlSeconds: 1,
    value,
    priority: 1,
  })
  zone.put('x', [
    put(`a.${ZONE}`, 'A', '2001:db8::1'),
    put(`b.${ZONE}`, 'MX', `${'c'.repeat(64)}.example`),
    put(`..${ZONE}`, 'A', '192.0.2.1'),
    put('other.example', 'A', '192.0.2.1'),
    put(`ok.${ZONE}`, 'A', '192.0.2.1'),
  ])
  const found = ['a', 'b', 'ok'].map((label) => zone.find(nameKey(`${label}.${ZONE}`)) !== undefined)
  expect(found).toEqual([false, false, true])
  expect(zone.find(nameKey('other.example'))).toBeUndefined()
})

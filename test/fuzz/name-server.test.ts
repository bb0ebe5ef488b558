/** Random and damaged packets for the name server: every answer is a whole message, within its limit, and not longer than it
 *  may be for what was asked. */
import { expect, test } from 'bun:test'
import packet from 'dns-packet'
import fc from 'fast-check'
import { answer } from '../../src/domains/name-server/answer.ts'
import { isWhole } from '../../src/net/dns/frame.ts'
import { edns, query, sampleZone, ZONE } from '../name-server/zone.ts'
import { runs } from './runs.ts'

const zone = sampleZone()
const out = Buffer.alloc(65_535)
/** Packets of one run. */
const PACKETS = 100

const label = fc.oneof(
  fc.constantFrom('shop', 's1r', 'bounces', 'links', 'inside', 'huge', 'ns1', 'deep', 'b', 'a'.repeat(63)),
  fc.string({ minLength: 1, maxLength: 20 }).map((text) => text.replaceAll('.', '-')),
)
const name = fc
  .tuple(fc.array(label, { maxLength: 4 }), fc.constantFrom(ZONE, ZONE.toUpperCase(), 'example.net', 'example.org'))
  .map(([labels, base]) => [...labels, base].join('.'))
const type = fc.constantFrom('A', 'AAAA', 'MX', 'TXT', 'NS', 'SOA', 'CNAME', 'ANY', 'AXFR', 'CAA', 'DS')
const option = fc.oneof(
  fc.constant({}),
  fc
    .record({ size: fc.nat(65_535), version: fc.nat({ max: 2 }) })
    .map(({ size, version }) => edns({ udpPayloadSize: size, ednsVersion: version })),
)
const valid = fc.tuple(name, type, option).map(([ofName, ofType, more]) => {
  try {
    return query(ofName, ofType, more)
  } catch {
    return query(ZONE, ofType, more) // too long to encode
  }
})
const edits = fc.array(fc.tuple(fc.nat(300), fc.oneof(fc.nat(255), fc.constantFrom(0, 1, 0xc0, 0xff, 0x3f, 0x40))), {
  maxLength: 5,
})
const damaged = fc.tuple(valid, edits, fc.nat(20)).map(([bytes, changes, cut]) => {
  const changed = Buffer.from(bytes)
  for (const [at, byte] of changes) changed[at % changed.length] = byte
  return cut < 5 ? changed.subarray(0, changed.length - cut) : changed
})
const random = fc.uint8Array({ maxLength: 700 }).map((bytes) => Buffer.from(bytes))
const given = fc.oneof(
  { weight: 2, arbitrary: damaged },
  { weight: 1, arbitrary: valid },
  { weight: 1, arbitrary: random },
)

test('a packet of any content gets no answer or a whole one within its limits', () => {
  const property = fc.property(
    fc.array(given, { minLength: PACKETS, maxLength: PACKETS }),
    fc.boolean(),
    fc.boolean(),
    (packets, isUdp, isLimited) => {
      for (const bytes of packets) check(bytes, isUdp, isLimited)
    },
  )
  fc.assert(property, runs<[Buffer[], boolean, boolean]>({ target: 'name-server', property: 'packets' }, 1_000, 81))
})

function check(bytes: Buffer, isUdp: boolean, isLimited: boolean): void {
  const before = Buffer.from(bytes)
  const found = answer(bytes, zone, out, { transport: isUdp ? 'udp' : 'tcp', isLimited })
  expect(bytes.equals(before)).toBe(true)
  const isResponse = bytes.length >= 12 && (bytes[2]! & 0x80) !== 0
  if (bytes.length < 12 || isResponse) {
    expect(found).toBeNull()
    return
  }
  if (found === null) throw new Error('a query got no answer')
  const response = Buffer.from(out.subarray(0, found.sizeBytes))
  expect(isWhole(response)).toBe(true)
  expect(response.readUInt16BE(0)).toBe(bytes.readUInt16BE(0))
  const message = packet.decode(response)
  expect([message.flag_qr, message.flag_ra, packet.decode.bytes]).toEqual([true, false, response.length])
  if (isUdp) expect(response.length).toBeLessThanOrEqual(limitOf(bytes))
  if (isLimited || (found.rcode !== 'NOERROR' && found.rcode !== 'NXDOMAIN')) {
    expect(response.length).toBeLessThanOrEqual(bytes.length)
    expect([message.answers, message.authorities]).toEqual([[], []])
  }
  if (found.isTruncated) expect([message.flag_tc, message.answers]).toEqual([true, []])
}

/** What the query announces, by another reader: at least 512 bytes, at most 1232. */
function limitOf(bytes: Buffer): number {
  try {
    const opt = (packet.decode(bytes).additionals ?? []).find((each) => each.type === 'OPT')
    const size = opt !== undefined && 'udpPayloadSize' in opt ? Number(opt.udpPayloadSize) : 0
    return Math.min(1232, Math.max(512, size))
  } catch {
    return 1232
  }
}

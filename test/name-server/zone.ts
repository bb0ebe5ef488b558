import packet, { type DecodedPacket, type Packet } from 'dns-packet'
import { type AnswerOptions, answer } from '../../src/domains/name-server/answer.ts'
import { createZone } from '../../src/domains/name-server/zone.ts'
import type { ZoneRecord } from '../../src/domains/zone-records.ts'

export const ZONE = 'pm.example.net'

const record = (name: string, type: ZoneRecord['type'], value: string, priority: number | null = null): ZoneRecord => ({
  name: name === '' ? ZONE : `${name}.${ZONE}`,
  type,
  ttlSeconds: 300,
  value,
  priority,
})

const SOA = `ns1.${ZONE} postmaster.mail.example.net 1 3600 600 604800 60`
export const OWN: ZoneRecord[] = [
  record('', 'SOA', SOA),
  record('', 'NS', `ns1.${ZONE}`),
  record('', 'NS', 'ns.example.org'),
  record('', 'TXT', 'v=spf1 -all'),
  record('ns1', 'A', '192.0.2.1'),
  record('ns1', 'AAAA', '2001:db8::1'),
]
/** A key of 2048 bits takes two strings. */
export const LONG = `v=DKIM1; k=rsa; p=${'A'.repeat(392)}`
export const DOMAIN: ZoneRecord[] = [
  record('s1r.shop', 'TXT', LONG),
  record('bounces.shop', 'MX', 'mx1.example.net', 10),
  record('bounces.shop', 'MX', 'mx2.example.net', 10),
  record('bounces.shop', 'TXT', 'v=spf1 a:mx1.example.net ~all'),
  record('links.shop', 'CNAME', 'www.example.org'),
  record('inside.shop', 'CNAME', `ns1.${ZONE}`),
  record('dangling.shop', 'CNAME', `nowhere.${ZONE}`),
  record('round.shop', 'CNAME', `round2.shop.${ZONE}`),
  record('round2.shop', 'CNAME', `round.shop.${ZONE}`),
  record('huge.shop', 'TXT', 'x'.repeat(1500)),
  record('a.b.deep', 'A', '192.0.2.9'),
]

export function sampleZone() {
  const zone = createZone(ZONE, OWN)
  zone.put('dom_shop', DOMAIN)
  return zone
}

const out = Buffer.alloc(65_535)

export interface Reply extends DecodedPacket {
  bytes: Buffer
}

/** The decoded response to the bytes of a query, by another implementation; null if there is none. */
export function replyTo(
  query: Buffer,
  options: AnswerOptions = { transport: 'udp' },
  zone = sampleZone(),
): Reply | null {
  const given = answer(query, zone, out, options)
  if (given === null) return null
  const bytes = Buffer.from(out.subarray(0, given.sizeBytes))
  const decoded = packet.decode(bytes)
  if (packet.decode.bytes !== bytes.length) throw new Error('the response has bytes behind its records')
  return { ...decoded, bytes }
}

/** The bytes of a query. */
export function query(name: string, type: string, more: Packet & { class?: string } = {}): Buffer {
  const { class: ofClass = 'IN', ...rest } = more
  const questions = [{ name, type, class: ofClass }] as Packet['questions']
  return packet.encode({ type: 'query', id: 4711, flags: packet.RECURSION_DESIRED, questions, ...rest })
}

export const edns = (change: object = {}): Packet => ({
  additionals: [
    {
      type: 'OPT',
      name: '.',
      udpPayloadSize: 4096,
      extendedRcode: 0,
      ednsVersion: 0,
      flags: 0,
      options: [],
      ...change,
    },
  ] as never,
})

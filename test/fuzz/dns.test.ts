/** A DNS server that sends damaged packets: every lookup ends soon, with records of its type, nothing or a failure. */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import dgram from 'node:dgram'
import net from 'node:net'
import packet, { type Answer } from 'dns-packet'
import fc from 'fast-check'
import { spfAllows } from '../../src/domains/spf.ts'
import { readMtaSts, readMtaStsId, writeMtaSts } from '../../src/mail/mta-sts.ts'
import { isSpf } from '../../src/mail/spf-record.ts'
import { readTlsRpt } from '../../src/mail/tls-report.ts'
import { framedMessages, frameMessage } from '../../src/net/dns/frame.ts'
import { createResolver, type Lookup, type Resolver } from '../../src/net/dns/resolver.ts'
import { systemClock } from '../../src/os/clock.ts'
import { systemRandom } from '../../src/os/random.ts'
import { bindTcpAndUdp, type TcpAndUdp } from '../support/tcp-and-udp.ts'
import { runs } from './runs.ts'

interface Damage {
  edits: { at: number; byte: number; isCut: boolean }[]
  /** Truncated over UDP, so that TCP is used. */
  isTruncated: boolean
  rcode: number
}
const METHODS = ['a', 'aaaa', 'mx', 'txt', 'txtStrings', 'cname', 'ns', 'ptr', 'tlsa'] as const
const name = 'mail.fuzz.example'
const RECORDS: Record<string, Answer['type'] extends never ? never : unknown[]> = {
  A: ['192.0.2.1', '192.0.2.2'],
  AAAA: ['2001:db8::1'],
  MX: [
    { preference: 10, exchange: 'mx.fuzz.example' },
    { preference: 0, exchange: '.' },
  ],
  TXT: [['v=spf1 ip4:192.0.2.1 -all', 'more'], [Buffer.alloc(255, 0xff)], ['']],
  NS: ['ns.fuzz.example'],
  PTR: ['host.fuzz.example'],
  CNAME: ['other.fuzz.example'],
  TLSA: [{ usage: 3, selector: 1, matchingType: 1, certificate: Buffer.alloc(32, 7) }],
}

let damage: Damage
let server: TcpAndUdp
let resolver: Resolver

/** The query → a valid answer, then the damage. */
function answered(query: Buffer, isUdp: boolean): Buffer {
  const { id = 0, questions = [] } = packet.decode(query)
  const type = questions[0]?.type ?? 'A'
  const found = (RECORDS[type] ?? []).map((data) => ({ name: questions[0]!.name, type, ttl: 60, class: 'IN', data }))
  const flags = damage.rcode | packet.RECURSION_DESIRED | (isUdp && damage.isTruncated ? packet.TRUNCATED_RESPONSE : 0)
  let bytes: Buffer = packet.encode({ type: 'response', id, flags, questions, answers: found as Answer[] })
  for (const { at, byte, isCut } of damage.edits) {
    const place = 2 + (at % Math.max(1, bytes.length - 2)) // its id stays: answers with another id are ignored
    if (isCut) bytes = bytes.subarray(0, place)
    else if (place < bytes.length) bytes[place] = byte
  }
  return bytes
}

beforeAll(async () => {
  const newTcp = () =>
    net.createServer((socket) => {
      const take = framedMessages()
      socket.on('error', () => {})
      socket.on('data', (bytes: Buffer) => {
        for (const query of take(bytes)) socket.end(frameMessage(answered(query, false)))
      })
    })
  const newUdp = () => {
    const socket = dgram.createSocket('udp4')
    return socket.on('message', (query, { port: from, address }) => socket.send(answered(query, true), from, address))
  }
  server = await bindTcpAndUdp(newTcp, newUdp)
  const servers = [`127.0.0.1:${server.port}`]
  resolver = createResolver({
    servers,
    clock: systemClock,
    random: systemRandom,
    maxCacheEntries: 0,
    tries: 1,
    timeoutMs: 20,
  })
})
afterAll(() => {
  server.udp.close()
  server.tcp.close()
})

const edit = fc.record({
  at: fc.nat(600),
  byte: fc.oneof(fc.nat(255), fc.constantFrom(0, 0xc0, 0xff, 1, 12)),
  isCut: fc.nat(5).map((n) => n === 0),
})
const damages = fc.record({
  edits: fc.array(edit, { maxLength: 4 }),
  isTruncated: fc.nat(9).map((n) => n === 0),
  rcode: fc.constantFrom(0, 0, 0, 0, 3, 1, 2, 5, 15),
})

test('every lookup ends with one of its results', async () => {
  const run = fc.asyncProperty(fc.constantFrom(...METHODS), damages, async (method, given) => {
    damage = given
    const lookup = (await resolver[method](method === 'ptr' ? '192.0.2.1' : name)) as Lookup<unknown>
    expect(['records', 'no_data', 'nxdomain', 'temporary']).toContain(lookup.kind)
    if (given.edits.length > 0 && given.edits.every(({ isCut }) => isCut)) expect(lookup.kind).toBe('temporary')
    if (lookup.kind !== 'records') return
    expect(lookup.records.length).toBeGreaterThan(0)
    expect(lookup.ttlSeconds).toBeWithin(1, 86_401)
    expect(lookup.authentic).toBe(false) // no server here is trusted
    for (const record of lookup.records) requireKind(method, record)
  })
  await fc.assert(run, runs<[(typeof METHODS)[number], Damage]>({ target: 'dns', property: 'lookups' }, 700, 71))
})

function requireKind(method: string, record: unknown): void {
  if (method === 'a') expect(net.isIPv4(record as string)).toBe(true)
  else if (method === 'aaaa') expect(net.isIPv6(record as string)).toBe(true)
  else if (method === 'mx') {
    const { preference, exchange } = record as { preference: number; exchange: string }
    expect(preference).toBeWithin(0, 65_536)
    expect(exchange).toBe(exchange.toLowerCase())
  } else if (method === 'txtStrings') expect((record as string[]).every((text) => typeof text === 'string')).toBe(true)
  else if (method === 'tlsa') expect((record as { certificate: unknown }).certificate).toBeInstanceOf(Uint8Array)
  else expect(typeof record).toBe('string')
}

const piece = fc.constantFrom(
  'v=spf1',
  'v=STSv1',
  'v=TLSRPTv1',
  ';',
  ' ',
  'id=',
  'a1',
  'rua=',
  'mailto:a@b.example',
  'https://b.example/',
  ',',
  'version: STSv1',
  'mode: enforce',
  'mode: testing',
  'mx: mx.b.example',
  'mx: *.b.example',
  'mx: ',
  'max_age: 86400',
  'max_age: 99999999999',
  '\r\n',
  '\r\n',
  '\n',
  ':',
  'include:x.example',
  'redirect=x.example',
  'ip4:192.0.2.0/24',
  'ip6:::/0',
  'ip4:1.2.3.4/',
  'a',
  'mx',
  'a/99',
  '-all',
  '+all',
  '%{i}',
  '\0',
  'ü',
)

test('policies in DNS and in files are parsed or rejected', async () => {
  const text = fc.array(piece, { maxLength: 14 }).map((pieces) => pieces.join(''))
  const run = fc.asyncProperty(text, async (given) => {
    const policy = readMtaSts(given)
    if ('invalid' in policy) expect(policy.invalid).toMatch(/\S/)
    else expect(readMtaSts(writeMtaSts(policy))).toEqual(policy)
    expect(readMtaStsId([given]) ?? 'x').toMatch(/^[A-Za-z0-9]{1,32}$/)
    for (const place of readTlsRpt([given])) expect(place).toMatch(/^(mailto:|https:\/\/)\S+$/i)
    expect(typeof isSpf(given)).toBe('boolean')
    const sender = { hostname: 'mx.b.example', addresses: ['192.0.2.1', '2001:db8::1'] }
    const silent = new Proxy({} as Resolver, { get: () => async () => ({ kind: 'temporary', reason: 'x' }) })
    expect(['yes', 'no', 'unknown']).toContain(await spfAllows(given, 'b.example', sender, silent))
  })
  await fc.assert(run, runs<[string]>({ target: 'dns', property: 'policies' }, 1_000, 72))
})

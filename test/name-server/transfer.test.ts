import { afterEach, expect, test } from 'bun:test'
import type { Answer } from 'dns-packet'
import { zoneLabel } from '../../src/domains/delegated-zone.ts'
import type { ZoneRecord } from '../../src/domains/zone-records.ts'
import { printOf } from '../../src/name-server/present-zone.ts'
import { TRANSFER_LIMITS, type TransferLimits, transferZone } from '../../src/name-server/transfer/transfer.ts'
import { nameKey } from '../../src/name-server/zone.ts'
import { systemClock } from '../../src/os/clock.ts'
import { expectCostUnder } from '../support/cpu-cost.ts'
import { createFakeClock } from '../support/fake-clock.ts'
import {
  responseTo,
  soaOf,
  startTsigServer,
  TSIG_NAME,
  TSIG_SECRET,
  type TsigReply,
  type TsigRequest,
} from '../support/tsig-server.ts'

const ZONE = 'pm.example.net'
const SOA = soaOf(ZONE)
const LABEL = zoneLabel('dom_1')
const OWN = `${LABEL}.${ZONE}`
const MARK: Answer = { type: 'TXT', name: OWN, ttl: 300, data: 'postrider=dom_1 key=k' }

const undo: (() => unknown)[] = []
afterEach(async () => {
  for (const step of undo.splice(0).reverse()) await step()
})

async function start(answer: (request: TsigRequest) => TsigReply | null) {
  const server = await startTsigServer(answer)
  undo.push(() => server.stop())
  const key = { name: TSIG_NAME, algorithm: 'hmac-sha256', secret: TSIG_SECRET } as const
  const at = { host: '127.0.0.1', port: server.port, key }
  const read = (
    limits: Partial<TransferLimits> = {},
    clock: Parameters<typeof transferZone>[2]['clock'] = systemClock,
  ) => transferZone(at, ZONE, { clock, limits: { ...TRANSFER_LIMITS, ...limits } })
  return { server, read }
}

/** A transfer of these records, in one message each. */
const records = (answers: Answer[]) => (request: TsigRequest) => ({
  messages: [SOA, ...answers, SOA].map((each) => responseTo(request, [each])),
})

function* endless(request: TsigRequest, answers: Answer[]) {
  yield responseTo(request, [SOA])
  const message = responseTo(request, answers)
  for (;;) yield message
}

test('labels with a mark are returned with their names and the print of their records, others are not', async () => {
  const text = 'x'.repeat(300)
  const { read } = await start(
    records([
      MARK,
      { type: 'TXT', name: `S1R.${OWN.toUpperCase()}`, ttl: 300, data: [text.slice(0, 255), text.slice(255)] },
      { type: 'MX', name: `bounces.${OWN}`, ttl: 60, data: { preference: 10, exchange: 'MX.example' } },
      { type: 'CNAME', name: `links.${OWN}`, ttl: 60, data: 'www.Example' },
      { type: 'CAA', name: `links.${OWN}`, ttl: 60, data: { tag: 'issue', value: 'x', flags: 0 } } as never,
      { type: 'TXT', name: `s1r.${zoneLabel('dom_2')}.${ZONE}`, ttl: 300, data: 'no mark above' },
      { type: 'TXT', name: `www.${ZONE}`, ttl: 300, data: 'of somebody else' },
      { type: 'TXT', name: `s1r.${LABEL}.elsewhere.example`, ttl: 300, data: 'not in the zone' },
    ]),
  )
  const record = (name: string, type: ZoneRecord['type'], ttlSeconds: number, value: string): ZoneRecord => ({
    ...{ name: `${name}.${OWN}`, type, ttlSeconds, value },
    priority: type === 'MX' ? 10 : null,
  })
  const wanted = [
    record('links', 'CNAME', 60, 'www.example'),
    record('s1r', 'TXT', 300, text),
    record('bounces', 'MX', 60, 'mx.example'),
  ]
  const [found, ...others] = await read()
  expect(others).toEqual([])
  expect(found).toEqual({
    label: LABEL,
    mark: 'postrider=dom_1 key=k',
    names: [`s1r.${OWN}`, `bounces.${OWN}`, `links.${OWN}`],
    print: printOf(wanted),
  })
  for (const [n, one] of wanted.entries())
    for (const change of [{ ttlSeconds: 61 }, { name: `x.${OWN}` }, { value: n === 1 ? 'y' : 'y.example' }])
      expect(printOf(wanted.with(n, { ...one, ...change }))).not.toBe(printOf(wanted))
})

test('a zone without end is left at the limit of bytes, records and time', async () => {
  const big: Answer = {
    type: 'TXT',
    name: `a.${OWN}`,
    ttl: 1,
    data: Array.from({ length: 200 }, () => 'x'.repeat(255)),
  }
  const bytes = await start((request) => ({ messages: endless(request, [big]) }))
  await expect(bytes.read({ bytes: 2_000_000 })).rejects.toThrow('too large')
  expect(bytes.server.sentBytes).toBeLessThan(20_000_000) // with what the kernel buffers
  const small = Array.from({ length: 500 }, (_, n): Answer => ({ type: 'A', name: `${n}.${OWN}`, data: '192.0.2.1' }))
  const many = await start((request) => ({ messages: endless(request, small) }))
  await expect(many.read({ records: 10_000 })).rejects.toThrow('too large')
  const clock = createFakeClock(Date.now())
  const slow = await start((request) => ({ messages: [responseTo(request, [SOA])] })) // and nothing more
  const failure = slow.read({}, clock).catch((error: Error) => error.message)
  await clock.untilSleeping()
  await clock.advance(TRANSFER_LIMITS.ms)
  expect(await failure).toBe('no answer in time')
})

test('many names below one label are cut, so that one update can clear them', async () => {
  const names = Array.from({ length: 300 }, (_, n): Answer => ({ type: 'A', name: `n${n}.${OWN}`, data: '192.0.2.1' }))
  const { read } = await start(records([MARK, ...names]))
  expect((await read())[0]!.names).toHaveLength(TRANSFER_LIMITS.namesPerLabel)
})

test('names that no update can hold are left out, so that they hinder no other', async () => {
  const odd = ['a b', 'é', 'tab\there'].map(
    (label): Answer => ({ type: 'A', name: `${label}.${OWN}`, data: '192.0.2.1' }),
  )
  const { read } = await start(records([MARK, ...odd, { type: 'A', name: `plain.${OWN}`, data: '192.0.2.1' }]))
  const [found] = await read()
  expect(found!.names).toEqual([`plain.${OWN}`])
  for (const name of found!.names) expect(() => nameKey(name)).not.toThrow()
})

test('names that point in a circle or are cut off, and records that are cut off, are malformed', async () => {
  const header = (request: TsigRequest, more: number[]) => {
    const message = Buffer.concat([responseTo(request), Buffer.from(more)])
    message.writeUInt16BE(1, 6)
    return message
  }
  const fixed = [0, 1, 0, 1, 0, 0, 0, 0]
  for (const bytes of [
    [0xc0, 12, ...fixed, 0, 0], // to itself
    [0xc0, 14, 0xc0, 12, ...fixed, 0, 0], // to each other
    [0xc0, 200, ...fixed, 0, 0], // outside
    [0x41, 1, ...fixed, 0, 0], // a label of an unknown kind
    [1, 97, 0, 0, 15, 0, 1, 0, 0, 0, 0, 0, 2, 0, 10], // MX without a name
  ]) {
    const { read } = await start((request) => ({ messages: [header(request, bytes)] }))
    await expect(read()).rejects.toThrow()
  }
  const chained = await start((request) => {
    // A record of another kind whose data is a ladder of pointers, and 3,000 names that climb it.
    const ladder = Array.from({ length: 2000 }, (_, n) => [0xc0 | ((24 + 2 * n) >> 8), (24 + 2 * n) & 255]).flat()
    const top = 24 + ladder.length - 2
    const one = [0xc0 | (top >> 8), top & 255, 0, 1, 0, 1, 0, 0, 0, 0, 0, 0]
    const body = [0, 0, 99, 0, 1, 0, 0, 0, 0, ladder.length >> 8, ladder.length & 255, ...ladder]
    const message = header(request, [...body, ...Array.from({ length: 3000 }, () => one).flat()])
    message.writeUInt16BE(3001, 6)
    return { messages: [message] }
  })
  await expectCostUnder(1_000, () => expect(chained.read()).rejects.toThrow('malformed'))
})

test('what is not signed, or signed with another key, is not read', async () => {
  const zone = records([MARK])
  const none = await start((request) => ({ ...zone(request), isSigned: () => false }))
  await expect(none.read()).rejects.toThrow('the reply is not signed')
  const other = await start((request) => ({ ...zone(request), secret: Buffer.alloc(32, 8) }))
  await expect(other.read()).rejects.toThrow('the signature of the reply is wrong')
  const some = await start((request) => ({ ...zone(request), isSigned: (at) => at !== 1 }))
  expect(await some.read()).toHaveLength(1)
  const last = await start((request) => ({ messages: endless(request, [MARK]), isSigned: (at) => at === 0 }))
  await expect(last.read()).rejects.toThrow('the reply is not signed')
  const another = await start((request) => ({ messages: [responseTo({ ...request, id: request.id ^ 1 }, [SOA])] }))
  await expect(another.read()).rejects.toThrow('another request')
})

test('a refusal, an empty message and a transfer without an SOA record say so', async () => {
  const refused = await start((request) => ({ messages: [responseTo(request, [], 5)] }))
  await expect(refused.read()).rejects.toThrow('refuses the transfer of the zone: REFUSED')
  for (const answers of [[], [MARK]]) {
    const { read } = await start((request) => ({ messages: [responseTo(request, answers)] }))
    await expect(read()).rejects.toThrow('ended early')
  }
})

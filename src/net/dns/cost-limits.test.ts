import { expect, test } from 'bun:test'
import { DNS_COST_LIMITS, isCheap } from './cost.ts'

const LABELS = 96
/** Ends in the name of the question, by a pointer. */
const NAME = [0xc0, 12]
/** The pieces of a record besides those of its data: its own name, which is the root, and the record. */
const OWN = 2
const OF_NAME = LABELS + 2

const record = (type: number, data: readonly number[]) => [
  0,
  0,
  type,
  0,
  1,
  0,
  0,
  0,
  60,
  data.length >> 8,
  data.length & 255,
  ...data,
]

/** A response with a question of LABELS labels and records at the root. */
function response(type: number, data: readonly number[], records: number, questions = 1): Buffer {
  const header = [0, 0, 0x81, 0x80, 0, questions, records >> 8, records & 255, 0, 0, 0, 0]
  const question = [...Array.from({ length: LABELS }, () => [1, 97]).flat(), 0, 0, type, 0, 1]
  const all = Array.from({ length: records }, () => record(type, data)).flat()
  return Buffer.from([...header, ...question, ...all])
}

/** The largest number of such records that is cheap. */
function mostCheap(type: number, data: readonly number[]): number {
  let [cheap, costly] = [0, DNS_COST_LIMITS.records + 1]
  while (costly - cheap > 1) {
    const middle = (cheap + costly) >> 1
    if (isCheap(response(type, data, middle))) cheap = middle
    else costly = middle
  }
  return cheap
}

const zeros = (count: number) => Array.from({ length: count }, () => 0)

test.each([
  ['A', 1, zeros(4), 1],
  ['AAAA', 28, zeros(16), 1],
  ['DS', 43, zeros(36), 1],
  ['DNSKEY', 48, zeros(68), 1],
  ['TLSA', 52, zeros(35), 1],
  ['NS', 2, NAME, OF_NAME],
  ['CNAME', 5, NAME, OF_NAME],
  ['PTR', 12, NAME, OF_NAME],
  ['DNAME', 39, NAME, OF_NAME],
  ['MX', 15, [0, 1, ...NAME], OF_NAME],
  ['RRSIG', 46, [...zeros(18), ...NAME], OF_NAME],
  ['SOA', 6, [...NAME, ...NAME, ...zeros(20)], 2 * OF_NAME],
  ['SOA with a name of its own', 6, [1, 97, 0, ...NAME, ...zeros(20)], 2 + OF_NAME],
  ['TXT', 16, Array.from({ length: 40 }, () => [1, 97]).flat(), 40],
  ['TXT with empty strings', 16, zeros(40), 40],
  ['NSEC', 47, zeros(10), 256 + 80],
])('%s counts its names after decompression', (_, type, data, pieces) => {
  const limit = Math.floor((DNS_COST_LIMITS.pieces - LABELS - 1) / (OWN + pieces))
  expect(mostCheap(type, data)).toBe(Math.min(limit, DNS_COST_LIMITS.records))
})

test('a message may have exactly the limit of pieces', () => {
  const strings = DNS_COST_LIMITS.pieces - LABELS - 1 - OWN
  expect(isCheap(response(16, zeros(strings), 1))).toBe(true)
  expect(isCheap(response(16, zeros(strings + 1), 1))).toBe(false)
})

test('records of all sections count, and more than four questions are too many', () => {
  const message = response(1, zeros(4), DNS_COST_LIMITS.records)
  expect(isCheap(message)).toBe(true)
  for (const at of [8, 10]) {
    const more = Buffer.from(message)
    more.writeUInt16BE(1, at)
    expect(isCheap(more)).toBe(false)
  }
  expect([4, 5].map((questions) => isCheap(response(1, zeros(4), 0, questions)))).toEqual([true, false])
})

const pointer = (to: number) => [0xc0 | (to >> 8), to & 255]

/** A record of an unknown type with a chain of pointers, each to the one before, and a CNAME that begins with the last. */
function chained(pointers: number): Buffer {
  const root = 12 + 11
  const places = Array.from({ length: pointers }, (_, n) => root + 1 + 2 * n)
  const chain = [0, ...places.flatMap((at) => pointer(Math.max(root, at - 2)))]
  const header = [0, 0, 0x81, 0x80, 0, 0, 0, 2, 0, 0, 0, 0]
  return Buffer.from([...header, ...record(99, chain), ...record(5, pointer(places.at(-1)!))])
}

test('a chain of more pointers than a name has labels is costly', () => {
  expect([255, 256, 300].map((pointers) => isCheap(chained(pointers)))).toEqual([true, false, false])
})

test('a pointer to itself ends the name', () => {
  const records = Array.from({ length: 900 }, () => record(5, pointer(12 + 11))).flat()
  expect(isCheap(Buffer.from([0, 0, 0x81, 0x80, 0, 0, 900 >> 8, 900 & 255, 0, 0, 0, 0, ...records]))).toBe(true)
})

test('a truncated message is cheap: the decoder refuses it', () => {
  const message = response(5, NAME, 3)
  for (let length = 0; length < message.length; length++) expect(isCheap(message.subarray(0, length))).toBe(true)
})

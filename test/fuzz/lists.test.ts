import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { parseMailbox } from '../../src/mail/address.ts'
import { SUPPRESSION_REASONS } from '../../src/model/suppression.ts'
import { ownHeader, ownLine } from '../../src/sending/suppressions/own-list.ts'
import { createListReader, type Reading } from '../../src/sending/suppressions/read-list.ts'
import { runs } from './runs.ts'

/** Suppression lists: any text is read or reported, however it is split, and our own output reads back. */

const field = fc.oneof(
  fc.constantFrom(
    'email',
    'address',
    'created',
    'reason',
    'a@x.example',
    'manual',
    '5.1.1',
    '1443651125',
    '"',
    '""',
    "'",
  ),
  fc.string({ unit: 'binary', maxLength: 12 }),
)
const csv = fc
  .array(fc.array(field, { maxLength: 5 }), { maxLength: 12 })
  .chain((rows) => fc.constantFrom(',', ';', '\t').map((by) => rows.map((row) => row.join(by)).join('\r\n')))
const json = fc.oneof(
  fc.json(),
  fc
    .array(fc.dictionary(field, fc.jsonValue({ maxDepth: 2 }), { maxKeys: 5 }), { maxLength: 6 })
    .map((list) => JSON.stringify(list)),
)
const text = fc.oneof(
  csv,
  json,
  fc.tuple(json, fc.nat(200)).map(([whole, to]) => whole.slice(0, to)),
)

function read(list: string, sizes: number[]): Reading[] {
  const reader = createListReader({ provider: null, kind: null, stream: null })
  const readings: Reading[] = []
  for (let at = 0, turn = 0; at < list.length; turn++) {
    const size = sizes[turn % sizes.length]!
    readings.push(...reader.push(list.slice(at, at + size)))
    at += size
  }
  return [...readings, ...reader.end()]
}

test('any text is read or reported, however it is split', () => {
  const run = fc.property(
    text,
    fc.array(fc.integer({ min: 1, max: 40 }), { minLength: 1, maxLength: 9 }),
    (list, sizes) => {
      const readings = read(list, [Math.max(1, list.length)])
      expect(read(list, sizes)).toEqual(readings)
      for (const reading of readings) {
        expect(reading.number).toBeGreaterThan(0)
        if (!('entry' in reading)) continue
        expect(parseMailbox(reading.entry.email)?.address).toBeString()
        expect(SUPPRESSION_REASONS).toContain(reading.entry.reason)
      }
    },
  )
  fc.assert(run, runs({ target: 'lists', property: 'cut-anywhere' }, 1_000, 71))
})

// threat: formulas-and-terminal-controls
test('what we wrote reads back unchanged, and starts no formula', () => {
  const local = fc.stringMatching(/^[=+\-'a-z][a-z0-9+=_'-]{0,12}$/)
  const evidence = fc.string({ unit: 'grapheme', maxLength: 60 })
  const [reason, stream] = [fc.constantFrom(...SUPPRESSION_REASONS), fc.constantFrom(null, 'bulk')]
  const entries = fc.array(fc.record({ local, reason, stream, evidence }), { maxLength: 8 })
  const run = fc.property(entries, (list) => {
    const lines = list.map(({ local: name, reason, stream, evidence: said }) => ({
      ...{
        id: '',
        organizationId: '',
        domainId: null,
        messageId: null,
        createdAt: 1_700_000_000_123,
        mode: 'live' as const,
      },
      ...{ email: `${name}@x.example`, reason, stream, evidence: said },
    }))
    const written = lines.map(ownLine)
    for (const line of written) for (const each of line.split(/,|,"/)) expect(each).not.toMatch(/^"?[=+\-@]/)
    const back = read(ownHeader() + written.join(''), [7])
    const said = (evidence: string) => evidence.replace(/[\p{Cc}\u2028\u2029]+/gu, ' ').trim() || null
    expect(back.map((reading) => 'entry' in reading && reading.entry)).toEqual(
      lines.map(({ email, reason, stream, evidence: was }) => ({
        ...{ email, reason, stream, domainId: null, at: 1_700_000_000_123, evidence: said(was) },
      })),
    )
  })
  fc.assert(run, runs({ target: 'lists', property: 'round-trip' }, 500, 72))
})

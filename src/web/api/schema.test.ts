import { describe, expect, test } from 'bun:test'
import { z } from 'zod'
import { expectCostUnder } from '../../../test/support/cpu-cost.ts'
import { nearest } from '../../config/suggest.ts'
import { check, emailAddress, label, parseIsoTime } from './schema.ts'

describe('a time', () => {
  const good: [string, string][] = [
    ['2026-11-21', '2026-11-21T00:00:00.000Z'],
    ['2026-11-21T07:30:00Z', '2026-11-21T07:30:00.000Z'],
    ['2026-11-21t07:30z', '2026-11-21T07:30:00.000Z'],
    ['2026-11-21T07:30:00.5Z', '2026-11-21T07:30:00.500Z'],
    ['2026-11-21T07:30:00.123456789+02:00', '2026-11-21T05:30:00.123Z'],
    ['2024-02-29T23:59:59-00:30', '2024-03-01T00:29:59.000Z'],
  ]
  test.each(good)('%s is %s', (text, expected) => {
    expect(new Date(parseIsoTime(text)!).toISOString()).toBe(expected)
  })

  const bad = [
    '',
    'now',
    '2026-11-21T07:30:00',
    '2026-02-29',
    '2026-13-01',
    '2026-00-10',
    '2026-04-31',
    '20261121',
    '2026-11-21T24:00:00Z',
    '2026-11-21T07:60:00Z',
    '1795262400000',
    '2026-11-21T07:30:00+0200',
    ' 2026-11-21',
    // In UTC, their year does not have four digits.
    '0000-01-01T00:00:00+00:01',
    '9999-12-31T23:59:59-00:01',
  ]
  test.each(bad)('%p is not a time', (text) => {
    expect(parseIsoTime(text)).toBeNull()
  })
})

describe('faults', () => {
  const schema = z.strictObject({
    name: label(5),
    to: z.union([z.string(), z.array(z.string()).max(2)]),
    deep: z.array(z.strictObject({ kind: z.enum(['a', 'b']), size: z.int().min(1).max(9) })).optional(),
    email: emailAddress.optional(),
    map: z.record(z.string(), z.union([z.string(), z.number()])).optional(),
  })
  const messages = (value: unknown) => check(schema, value, 'body').faults?.map(({ message }) => message)

  test('name each field with what it must be, all at once', () => {
    const value = { name: 'longer', to: ['a', 1], deep: [{ kind: 'c', size: 0 }, 5], email: 'Ann <a@b.example>', x: 1 }
    expect(messages(value)).toEqual([
      'name must have at most 5 characters',
      'to[1] must be a string',
      'deep[0].kind must be one of a, b',
      'deep[0].size must be at least 1',
      'deep[1] must be an object',
      'email must be an email address',
      'Unknown field "x".',
    ])
  })

  test('suggest the field that an unknown name means, in whatever case', () => {
    const mail = z.strictObject({
      to: z.string(),
      reply_to: z.string(),
      require_tls: z.string(),
      attachments: z.string(),
    })
    const meant = (name: string) => check(mail.partial(), { [name]: 'x' }, 'body').faults?.[0]?.message
    for (const name of ['replyTo', 'ReplyTo', 'reply-to', 'REPLY_TO', 'replyto', 'reply_ot'])
      expect(meant(name)).toBe(`Unknown field "${name}". Did you mean "reply_to"?`)
    expect(meant('requireTLS')).toBe('Unknown field "requireTLS". Did you mean "require_tls"?')
    expect(meant('attachment')).toBe('Unknown field "attachment". Did you mean "attachments"?')
    expect(meant('TO')).toBe('Unknown field "TO". Did you mean "to"?')
    expect(meant('colour')).toBe('Unknown field "colour".')
  })

  test('suggest nothing for a name of megabytes, without comparing its letters', async () => {
    const long = 'a'.repeat(4_000_000)
    // Each comparison took a second per megabyte.
    await expectCostUnder(1_000, () => {
      expect(messages({ name: 'x', to: 'a', [long]: 1 })).toEqual([`Unknown field "${'a'.repeat(100)}…".`])
      expect(nearest(long, ['name', 'to'])).toBeNull()
    })
  })

  test('name missing fields, and values that match no form', () => {
    expect(messages({})).toEqual(['name is required', 'to is required'])
    expect(messages({ name: null, to: 5, map: { k: {} } })).toEqual([
      'name must be a string',
      'to has the wrong type or structure',
      'map.k has the wrong type or structure',
    ])
    expect(messages({ name: 'x', to: ['a', 'b', 'c'], deep: [{ kind: 'a', size: 1.5 }] })).toEqual([
      'to must have at most 2 entries',
      'deep[0].size must be a whole number',
    ])
  })

  test('count an emoji as one character, as JSON Schema does', () => {
    const party = (count: number) => ({ name: '🎉'.repeat(count), to: '' })
    expect(messages(party(5))).toBeUndefined()
    expect(messages(party(6))).toEqual(['name must have at most 5 characters'])
  })

  test('of the whole value use its name', () => {
    expect(messages([])).toEqual(['body must be an object'])
    expect(messages('x')).toEqual(['body must be an object'])
  })

  test('name a field once, whatever is wrong with it', () => {
    const { faults } = check(
      z.strictObject({ name: label(3), n: z.int().min(3) }),
      { name: '\n\n\n\n', n: 1.5 },
      'body',
    )
    expect(faults).toEqual([
      { field: 'name', message: 'name must have at most 3 characters' },
      { field: 'n', message: 'n must be a whole number' },
    ])
  })

  test('name a field called __proto__ or constructor', () => {
    expect(messages(JSON.parse('{"name":"x","to":"y","__proto__":{"z":1},"constructor":1}'))).toEqual([
      'Unknown field "__proto__".',
      'Unknown field "constructor".',
    ])
  })

  test('keep the message of a custom check', () => {
    const own = z.strictObject({ a: z.string().refine(() => false, 'a and b exclude each other') })
    expect(check(own, { a: '' }, 'body').faults).toEqual([{ field: 'a', message: 'a and b exclude each other' }])
  })
})

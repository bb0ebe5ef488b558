import { describe, expect, test } from 'bun:test'
import { createRequire } from 'node:module'
import fc from 'fast-check'

/** The executable contains joi-schemas.cjs instead of joi (unused.ts). Both must judge every string alike. */
const require = createRequire(import.meta.url)
const SCHEMAS = [require('joi'), require('./joi-schemas.cjs')]
const [joiBase64, ourBase64] = SCHEMAS.map((joi) => joi.string().base64({ paddingRequired: false }))
const [joiDomain, ourDomain] = SCHEMAS.map((joi) => joi.string().domain({ allowUnicode: false, tlds: false }))

const isValid = (schema: { validate(value: unknown): { error?: Error } }, value: unknown) =>
  schema.validate(value).error === undefined

const character = fc.constantFrom(...'aZ09-.+/=_%@:~ é\u007f\n\u0000')
const label = fc.oneof(
  fc.string({ unit: character, maxLength: 5 }),
  fc.constantFrom('xn--a', 'xn--bcher-kva', '0x10', 'a'.repeat(63), 'a'.repeat(64), ''),
)
const nearlyDomain = fc.array(label, { maxLength: 6 }).map((labels) => labels.join('.'))
const nearlyBase64 = fc
  .tuple(fc.base64String(), fc.constantFrom('', '=', '==', '===', 'A', '-', '\n'))
  .map((parts) => parts.join(''))

describe('the schemas in place of joi', () => {
  test('judge domain names as joi does', () => {
    fc.assert(
      fc.property(fc.oneof(nearlyDomain, fc.domain(), fc.string()), (text) => {
        expect([text, isValid(ourDomain, text)]).toEqual([text, isValid(joiDomain, text)])
      }),
      { numRuns: 3_000 },
    )
  })

  test('judge base64 as joi does', () => {
    fc.assert(
      fc.property(fc.oneof(nearlyBase64, fc.string({ unit: character }), fc.string()), (text) => {
        expect([text, isValid(ourBase64, text)]).toEqual([text, isValid(joiBase64, text)])
      }),
      { numRuns: 3_000 },
    )
  })

  test('judge long names, missing values and other types as joi does', () => {
    const long = ['a'.repeat(63), 'b'.repeat(63), 'c'.repeat(63), 'd'.repeat(62)].join('.')
    for (const value of [
      undefined,
      null,
      '',
      'a',
      'a.b',
      1,
      {},
      `${long}.e`,
      `${long}.ef`,
      `${long}.efg`,
      'A===',
      'AA=',
      'AAA=',
      'AAA==',
    ]) {
      expect([value, isValid(ourDomain, value)]).toEqual([value, isValid(joiDomain, value)])
      expect([value, isValid(ourBase64, value)]).toEqual([value, isValid(joiBase64, value)])
    }
    expect(isValid(ourDomain, 'mail.example')).toBe(true)
    expect(isValid(ourBase64, 'AAAA')).toBe(true)
  })

  test('refuse rules that they do not have', () => {
    expect(() => SCHEMAS[1].string().base64({ urlSafe: true })).toThrow('unknown options')
    expect(() => SCHEMAS[1].string().domain()).toThrow('unknown options')
  })
})

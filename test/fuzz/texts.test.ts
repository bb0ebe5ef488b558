import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { unpackContent } from '../../src/mail/content.ts'
import { textFromHtml } from '../../src/mail/html-text.ts'
import { decodeBase64 } from '../../src/sending/submission/checks.ts'
import { parseIsoTime } from '../../src/web/api/schema.ts'
import { runs } from './runs.ts'

/** Base64, times, HTML and stored content. */

const binary = fc.string({ unit: 'binary', maxLength: 400 })

describe('other text', () => {
  test('base64 is accepted exactly as by the strict decoder', () => {
    const letters = fc.array(fc.constantFrom('A', 'b', '+', '/', '=', '-', '_', '9', '\n', ' ', 'Q', '==', '*'), {
      maxLength: 12,
    })
    const given = fc.oneof(
      fc.base64String(),
      letters.map((parts) => parts.join('')),
      binary,
    )
    const run = fc.property(given, (text) => {
      expect(hexOf(decodeBase64(text))).toBe(hexOf(strictBase64(text)))
    })
    fc.assert(run, {
      ...runs({ target: 'texts', property: 'base64' }, 5_000, 18),
      // It was once decoded by the low bytes of its characters.
      examples: [['\u{22c2f}/+///+'], ['\u{e2b6d}A/+//+'], ['QUJ\u0144'], ['QUJD\nQUJD'], ['AB==']],
    })
  })

  test('a time is read as its instant, or not at all', () => {
    const digits = fc.stringMatching(/^\d{4}-\d\d-\d\d(T\d\d:\d\d(:\d\d(\.\d{1,9})?)?(Z|[+-]\d\d:\d\d)?)?$/)
    const run = fc.property(fc.oneof(digits, binary), (text) => {
      const at = parseIsoTime(text)
      if (at !== null) expect(Number.isNaN(new Date(at).getTime())).toBe(false)
    })
    fc.assert(run, runs({ target: 'texts', property: 'time' }, 1_000, 19))
    const date = fc.date({ noInvalidDate: true, min: new Date(0), max: new Date('9999-12-31T23:59:59Z') })
    fc.assert(
      fc.property(date, (at) => expect(parseIsoTime(at.toISOString())).toBe(at.getTime())),
      runs({ target: 'texts', property: 'iso-time' }, 100, 20),
    )
  })

  test('html of any shape becomes text quickly', () => {
    const piece = fc.constantFrom(
      '<',
      '>',
      '</',
      '<!--',
      '-->',
      '<p>',
      '<td>',
      '<a href="',
      '"',
      '&',
      '&#',
      'x41;',
      '&amp;',
      '<pre>',
      '</pre>',
      '<script>',
      '<style',
      ' ',
      '\n',
      'a',
      'ü',
      '<![CDATA[',
      '<ol><li>',
      '\0',
    )
    const html = fc.array(piece, { maxLength: 60 }).map((parts) => parts.join(''))
    fc.assert(
      fc.property(html, (text) => expect(textFromHtml(text)).toBeString()),
      runs({ target: 'texts', property: 'html' }, 1_000, 21),
    )
  })

  test('damaged stored content is noticed', () => {
    const run = fc.property(fc.uint8Array({ maxLength: 200 }), (bytes) => {
      expect(() => unpackContent(bytes)).toThrow()
    })
    fc.assert(run, runs({ target: 'texts', property: 'stored-content' }, 1_000, 22))
  })
})

function strictBase64(text: string): Uint8Array | null {
  try {
    return Uint8Array.fromBase64(text, { lastChunkHandling: 'strict' })
  } catch {
    return null
  }
}

const hexOf = (bytes: Uint8Array | null) => (bytes === null ? null : Buffer.from(bytes).toString('hex'))

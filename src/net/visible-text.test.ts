import { expect, test } from 'bun:test'
import { hasInvisible, visible, visibleLines } from './visible-text.ts'

const HIDDEN = [
  ...['\0', '\x07', '\x1b', '\r', '\x7f', '\x80', '\x85', '\x9b', '\u00ad', '\u061c', '\u200b', '\u200e', '\u200f'],
  ...[
    '\u2028',
    '\u2029',
    '\u202a',
    '\u202e',
    '\u2060',
    '\u2064',
    '\u2066',
    '\u2069',
    '\ufeff',
    '\ufff9',
    '\u{e0041}',
    '\ud800',
  ],
]

test.each(HIDDEN)('%j is detected, and escaped so that JSON reads it back', (character) => {
  const text = `a${character}b`
  expect(hasInvisible(text)).toBe(true)
  for (const shown of [visible(text), visibleLines(text)]) {
    expect(shown).toMatch(/^a(?:\\u[0-9a-f]{4}){1,2}b$/)
    expect(JSON.parse(`"${shown}"`)).toBe(text)
  }
})

test('text in every script, with emoji and joiners, is accepted', () => {
  for (const text of ['Zoë & Söhne', 'شركة', 'می‌خواهم', 'श्री‍', '👩‍👩‍👧 team', '❤️', '日本語', 'a b']) {
    expect([text, hasInvisible(text), visible(text), visibleLines(text)]).toEqual([text, false, text, text])
  }
})

test('keeps lines and our own colours, and escapes sequences that hide text or move the cursor', () => {
  expect(visibleLines('a\tb\n\x1b[32mok\x1b[39m \x1b[1m\x1b[22m')).toBe('a\tb\n\x1b[32mok\x1b[39m \x1b[1m\x1b[22m')
  expect(visibleLines('\x1b[8mhidden\x1b[2J\x1b]0;t\x07\x1b[38;5;1m')).toBe(
    '\\u001b[8mhidden\\u001b[2J\\u001b]0;t\\u0007\\u001b[38;5;1m',
  )
  expect(visible('a\n\x1b[32mb')).toBe('a\\u000a\\u001b[32mb')
})

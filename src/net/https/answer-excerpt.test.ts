import { expect, test } from 'bun:test'
import { EXCERPT_BYTES, excerptOf, redirectTarget, retryAfterSeconds } from './answer-excerpt.ts'

const bytes = (text: string) => new TextEncoder().encode(text)

test('an excerpt is text without control characters', () => {
  expect(excerptOf(bytes('{"ok":\r\n\ttrue}\u0000\u001b[31m\u0085\u202egnp\u2028'))).toBe('{"ok": true}[31mgnp')
  expect(excerptOf(bytes(''))).toBe('')
})

test('a character cut off at the end is dropped, and bytes that are not UTF-8 are replaced', () => {
  const cut = excerptOf(bytes(`${'a'.repeat(EXCERPT_BYTES - 1)}€`))
  expect(cut).toBe('a'.repeat(EXCERPT_BYTES - 1))
  expect(excerptOf(new Uint8Array([0x61, 0xff, 0x62]))).toBe('a\ufffdb')
})

test('a compressed body has no excerpt', () => {
  expect(excerptOf(bytes('packed'), 'gzip')).toBe('')
  expect(excerptOf(bytes('plain'), 'Identity')).toBe('plain')
})

test.each([
  ['https://login.example/start', 'https://login.example/start'],
  ['https://user:secret@login.example:8443/a?state=secret&code=1#token=secret', 'https://login.example:8443/a?…'],
  ['/login', 'https://hook.example/login'],
  ['?retry=1', 'https://hook.example/in/t0ken?…'],
  ['//b\u00fccher.example/\u00fc', 'https://xn--bcher-kva.example/%C3%BC'],
  ['http://hook.example/in', 'http://hook.example/in'],
  ['https://a.example/\u001b[31m\u202egnp', 'https://a.example/%1B[31m%E2%80%AEgnp'],
  [`https://a.example/${'a'.repeat(2_000)}`, `https://a.example/${'a'.repeat(482)}`],
  [`https://a.example/${'a'.repeat(2_048)}`, null],
  ['javascript:alert(1)', null],
  ['data:text/html,x', null],
  ['https://', null],
  ['', null],
  [undefined, null],
])('a redirect to %p leads to %p', (value, expected) => {
  expect(redirectTarget(value, 'https://me:secret@hook.example/in/t0ken?key=secret')).toBe(expected)
})

const now = Date.UTC(2026, 0, 1)
test.each([
  ['120', 120],
  [' 0 ', 0],
  ['Thu, 01 Jan 2026 00:02:00 GMT', 120],
  ['Wed, 31 Dec 2025 23:00:00 GMT', 0],
  [undefined, null],
  ['', null],
  ['-5', null],
  ['1.5', null],
  ['soon', null],
  ['99999999999', null],
  ['2026-01-01', null],
  ['Thu, 99 Jan 2026 00:02:00 GMT', null],
])('Retry-After %p is %p seconds', (value, seconds) => {
  expect(retryAfterSeconds(value, now)).toBe(seconds)
})

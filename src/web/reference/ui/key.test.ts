import { expect, test } from 'bun:test'
import { masked, readKey } from './key.ts'

test('a test key is taken, also with blanks around it', () => {
  expect(readKey(' svc_test_Ab1 \n')).toEqual({ key: 'svc_test_Ab1', refused: null })
})

test('a live key is refused with the reason, wherever it stands in the text', () => {
  for (const text of ['svc_live_Ab1', 'Bearer svc_live_Ab1', 'SVC_LIVE_x', 'svc_test_a svc_live_b']) {
    expect(readKey(text)).toEqual({ key: null, refused: expect.stringContaining('This is a live key') })
  }
})

test('any other text is refused', () => {
  const texts = [
    '',
    'svc_test_',
    'svc_test_a b',
    'svc_test_a\r\nX: y',
    'svc_test_"',
    "svc_test_'; rm",
    `svc_test_${'a'.repeat(201)}`,
  ]
  for (const text of texts) {
    expect(readKey(text)).toEqual({ key: null, refused: expect.stringContaining('not a test key') })
  }
})

test('of a key, the last four characters are shown', () => {
  expect(masked('svc_test_abcdefgh')).toBe('svc_test_••••efgh')
})

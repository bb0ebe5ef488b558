import { expect, test } from 'bun:test'
import { expectCostUnder } from '../../../../test/support/cpu-cost.ts'
import { partsOf } from './highlight.ts'

test('texts, words and numbers get a kind, and all parts together are the text', () => {
  const text = `const a = 'it\\'s' // "x"\nreturn_x(12, b3)`
  const parts = partsOf(text, 'typescript')
  expect(parts.map(([, part]) => part).join('')).toBe(text)
  expect(parts.filter(([kind]) => kind !== '')).toEqual([
    ['word', 'const'],
    ['text', `'it\\'s'`],
    ['note', '// "x"'],
    ['number', '12'],
  ])
})

test('a backslash does not end a text of the shell', () => {
  expect(partsOf(`-d 'a\\' -H "x"`, 'curl').filter(([kind]) => kind === 'text')).toEqual([
    ['text', `'a\\'`],
    ['text', '"x"'],
  ])
})

test('a text without its end takes the rest, in linear time', async () => {
  for (const each of ['"\\', '"', "'", '\\', '1.', 'a1', ' #', ' //']) {
    const text = each.repeat(24_999)
    await expectCostUnder(500, () => {
      const parts = partsOf(text, 'typescript').map(([, part]) => part)
      expect(parts.join('')).toBe(text)
    })
  }
})

test('text of strangers, and long JSON, stays in one part', () => {
  const hostile = `"\\`.repeat(200_000)
  expect(partsOf(hostile, 'plain')).toEqual([['', hostile]])
  const long = JSON.stringify(Array.from({ length: 30_000 }, (_, n) => `${n}`))
  expect(partsOf(long, 'json')).toEqual([['', long]])
})

import { expect, test } from 'bun:test'
import { withoutFlow } from './flowed-text.ts'

test.each([
  ['one \ntwo\nthree', 'one two\nthree'],
  ['one  \n two', 'one  two'],
  [' From here\n >no quote', 'From here\n>no quote'],
  ['> one \n> two\nthree \n> four', '> one \n> two\nthree \n> four'],
  ['Bye \n-- \nMe \nhere\n', 'Bye \n-- \nMe here\n'],
  ['end \n', 'end '],
  [' \n \n ', ''],
  ['', ''],
])('%j', (flowed, text) => expect(withoutFlow(flowed, false)).toBe(text))

test('delsp removes the blank that marks the flow', () => {
  expect(withoutFlow('日本 \n語', true)).toBe('日本語')
})

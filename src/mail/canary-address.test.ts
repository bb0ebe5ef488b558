import { expect, test } from 'bun:test'
import { createCanaryWords } from './canary-address.ts'

const ID = 'cnr_01j9z3k4m5n6p7q8r9s0t1v2w3'
const words = createCanaryWords(new Uint8Array(32).fill(7))

test('a word leads back to its canary, in any letter case, with the same secret only', () => {
  const word = words.encode(ID)
  expect(word).toMatch(/^canary-01j9z3k4m5n6p7q8r9s0t1v2w3-[0-9a-z]{12}$/)
  expect(words.decode(word)).toBe(ID)
  expect(words.decode(word.toUpperCase())).toBe(ID)
  expect(createCanaryWords(new Uint8Array(32)).decode(word)).toBeNull()
})

// threat: canary-forged
test('no other word does', () => {
  const word = words.encode(ID)
  for (let at = 0; at < word.length; at++) {
    const changed = word[at] === 'z' ? 'y' : 'z'
    expect(words.decode(word.slice(0, at) + changed + word.slice(at + 1))).toBeNull()
  }
  for (const other of ['', 'canary-', `${word}x`, `x${word}`, ID]) expect(words.decode(other)).toBeNull()
  expect(() => words.encode('msg_1')).toThrow('invalid canary ID')
})

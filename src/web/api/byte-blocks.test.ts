import { expect, test } from 'bun:test'
import { createByteBlocks } from './byte-blocks.ts'

test('pieces of any size are joined in order', () => {
  for (const size of [null, 300_000]) {
    const blocks = createByteBlocks(size)
    const bytes = Buffer.from(Array.from({ length: 300_000 }, (_, at) => at % 251))
    for (let at = 0, step = 1; at < bytes.length; at += step, step = (step * 7) % 40_009) {
      blocks.add(bytes.subarray(at, at + step))
    }
    expect(Buffer.compare(blocks.joined(), bytes)).toBe(0)
  }
  expect(createByteBlocks(null).joined()).toEqual(new Uint8Array(0))
})

// threat: memory-exhaustion
test('single bytes occupy little more than their number', () => {
  const blocks = createByteBlocks(null)
  for (let at = 0; at < 100_000; at++) blocks.add(new Uint8Array(1))
  expect(blocks.heldBytes()).toBeLessThan(100_000 + 64 * 1024)
})

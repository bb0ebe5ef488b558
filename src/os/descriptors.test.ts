import { expect, test } from 'bun:test'
import { closeSync, openSync } from 'node:fs'
import { limitIn, systemDescriptors } from './descriptors.ts'

test('open files are counted, and the limit is that of the process', () => {
  const { limit, used } = systemDescriptors()
  const before = used()
  const opened = Array.from({ length: 20 }, () => openSync('/dev/null', 'r'))
  const after = used()
  for (const each of opened) closeSync(each)

  expect(limit).toBeGreaterThan(after)
  expect(after - before).toBe(20)
})

test.each([
  ['Max open files            256                  524288               files     \n', 256],
  ['Max open files            unlimited            unlimited            files     \n', Number.POSITIVE_INFINITY],
  ['', Number.POSITIVE_INFINITY],
])('the limit in %j', (text, limit) => {
  expect(limitIn(text)).toBe(limit)
})

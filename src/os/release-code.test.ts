import { expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { releaseCode } from './release-code.ts'

/** KiB of this process that are pages of files. */
const filePages = () => Number(/^RssFile:\s+(\d+)/m.exec(readFileSync('/proc/self/status', 'utf8'))![1])

test('releases code, which runs again afterwards', () => {
  const before = filePages()
  releaseCode()
  expect(filePages()).toBeLessThan(before - 4_096)
  expect(JSON.parse('{"a": [1]}')).toEqual({ a: [1] })
})

import { expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { segmentsOf, segmentsOnly } from './elf.ts'

const ADDONS = join(import.meta.dir, '../../node_modules/better-sqlite3/prebuilds')

test.each(['linux-x64', 'linux-arm64', 'linuxmusl-x64', 'linuxmusl-arm64'])('keeps every segment of %s', (target) => {
  const library = readFileSync(join(ADDONS, `${target}.node`))
  const kept = segmentsOnly(library)
  expect(kept.length).toBeLessThan(library.length - 50_000)
  expect(kept.subarray(64).equals(library.subarray(64, kept.length))).toBe(true)
  expect(segmentsOf(kept)).toEqual(segmentsOf(library))
  // No table of sections.
  expect([kept.readBigUInt64LE(40), kept.readUInt32LE(60)]).toEqual([0n, 0])
})

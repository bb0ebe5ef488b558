import { expect, test } from 'bun:test'
import { restrictedRights } from './landlock.ts'

test.each([
  [1, [0x1fffn]],
  [2, [0x3fffn]],
  [3, [0x7fffn]],
  [4, [0x7fffn, 3n]],
  [5, [0xffffn, 3n]],
  [6, [0xffffn, 3n, 3n]],
  [9, [0xffffn, 3n, 3n]],
])('version %d of Landlock restricts all rights that it has', (version, fields) => {
  const rights = restrictedRights(version)
  expect(fields.map((_, at) => rights.readBigUInt64LE(8 * at))).toEqual(fields)
  expect(rights.byteLength).toBe(8 * fields.length)
})

import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { signingKeyOf } from './signature.ts'
import { publicKeysIn, requireSigned } from './trust.ts'

let folder: string
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'postrider-trust-'))
})
afterAll(() => rmSync(folder, { recursive: true }))

describe('--signed-by', () => {
  const [one, two] = ['A', 'B'].map((letter) => `ed25519:${letter.repeat(43)}`) as [string, string]

  test('takes a key, or a file with keys and other words', () => {
    expect(publicKeysIn(one)).toEqual([one])
    const file = join(folder, 'keys.txt')
    writeFileSync(file, `mx1: signed by ${one}\nmx2: signed by ${two}.\n`)
    expect(publicKeysIn(file)).toEqual([one, two])
  })

  test('refuses a part of a key, a longer one, and a file without keys', () => {
    const empty = join(folder, 'empty.txt')
    writeFileSync(empty, 'nothing')
    for (const given of [one.slice(0, -1), `${one}A`, 'no-file', '', empty]) {
      expect(() => publicKeysIn(given)).toThrow(`--signed-by ${given}: expected the key that postrider backup prints`)
    }
  })
})

describe('a manifest', () => {
  const manifest = Buffer.from('{}')
  const only = (...publicKeys: string[]) => ({ publicKeys, acceptsAll: false })

  test('is authentic with a signature of one of the trusted keys', () => {
    const { publicKey, sign } = signingKeyOf(folder)
    const other = `ed25519:${'A'.repeat(43)}`
    expect(requireSigned(manifest, sign(manifest), only(other, publicKey))).toBe(true)
    expect(() => requireSigned(manifest, sign(manifest), only(other))).toThrow(`is not signed with ${other}.`)
    expect(() => requireSigned(Buffer.from('{ }'), sign(manifest), only(publicKey))).toThrow('is not signed with')
    expect(() => requireSigned(manifest, Buffer.alloc(64), only(publicKey))).toThrow('is not signed with')
    expect(() => requireSigned(manifest, sign(manifest), only())).toThrow('this machine has no key for it')
  })

  test('is accepted as not authentic where all are accepted', () => {
    const { sign } = signingKeyOf(folder)
    const all = { publicKeys: [], acceptsAll: true }
    expect(requireSigned(manifest, sign(manifest), all)).toBe(false)
  })
})

import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { publicKeyOf, SIGNING_KEY_FILE, signingKeyOf } from './signature.ts'

let folder: string
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'postrider-signature-'))
})
afterAll(() => rmSync(folder, { recursive: true }))

let dataDir: string
let count = 0
beforeEach(() => {
  dataDir = join(folder, `data-${++count}`)
  mkdirSync(dataDir)
})

describe('the signing key of a data directory', () => {
  test('is created at the first backup, only for its owner, and stays', () => {
    expect(publicKeyOf(dataDir)).toBeNull()
    const first = signingKeyOf(dataDir)
    const second = signingKeyOf(dataDir)
    expect([first.isNew, second.isNew]).toEqual([true, false])
    expect(first.publicKey).toMatch(/^ed25519:[\w-]{43}$/)
    expect([second.publicKey, publicKeyOf(dataDir)]).toEqual([first.publicKey, first.publicKey])
    expect(statSync(join(dataDir, SIGNING_KEY_FILE)).mode & 0o777).toBe(0o600)
  })

  test('is reported if it is damaged or of another kind, and not read through a link', () => {
    const file = join(dataDir, SIGNING_KEY_FILE)
    for (const text of ['', 'a key', publicKeyPem()]) {
      writeFileSync(file, text)
      expect(() => publicKeyOf(dataDir)).toThrow(`${file} is damaged. Delete it;`)
    }
    rmSync(file)
    signingKeyOf(folder)
    symlinkSync(join(folder, SIGNING_KEY_FILE), file)
    expect(() => publicKeyOf(dataDir)).toThrow('ELOOP')
  })
})

function publicKeyPem(): string {
  signingKeyOf(dataDir)
  return readFileSync(join(dataDir, SIGNING_KEY_FILE), 'utf8').replaceAll('PRIVATE', 'PUBLIC')
}

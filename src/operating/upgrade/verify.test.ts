import { afterAll, beforeAll, expect, test } from 'bun:test'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describeWith, run } from '../../../test/support/real-tools.ts'
import { makeReleaseKey, type ReleaseKey, sign } from '../../../test/support/release.ts'
import { publicKeysIn, verifySignature } from './verify.ts'

const MESSAGE = `${'0'.repeat(64)}  file\n`

describeWith(['minisign'], 'the signature of a release', () => {
  let folder: string
  let key: ReleaseKey
  let other: ReleaseKey
  let signature: string
  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'postrider-signature-'))
    key = await makeReleaseKey(folder)
    other = await makeReleaseKey(folder, 'other')
    signature = await signed(key)
  })
  afterAll(() => rmSync(folder, { recursive: true }))

  async function signed(by: ReleaseKey, ...options: string[]): Promise<string> {
    writeFileSync(join(folder, 'SHA256SUMS'), MESSAGE)
    await sign(folder, by, options)
    return readFileSync(join(folder, 'SHA256SUMS.minisig'), 'utf8')
  }
  const verify = (given: { text?: string; keys?: string[]; message?: string }) =>
    verifySignature(Buffer.from(given.message ?? MESSAGE), given.text ?? signature, given.keys ?? [key.publicKey])
  /** The text with another line, from 0. */
  const withLine = (at: number, line: string) => signature.split('\n').with(at, line).join('\n')
  const bytesOf = (at: number) => Buffer.from(signature.split('\n')[at]!, 'base64')

  test('by minisign is verified and names its key, among several', () => {
    const id = /public key (\w+)/.exec(readFileSync(key.signers, 'utf8'))![1]!
    expect(verify({})).toEqual({ signer: id })
    expect(verify({ keys: [other.publicKey, key.publicKey] })).toEqual({ signer: id })
    expect(verify({ text: signature.replaceAll('\n', '\r\n') })).toEqual({ signer: id })
  })

  test('names an ID as minisign prints it, without zeros in front', () => {
    const withId = (text: string) => {
      const bytes = Buffer.from(text, 'base64')
      bytes.writeBigUInt64LE(0x8ff0edn, 2)
      return bytes.toString('base64')
    }
    const text = withLine(1, withId(signature.split('\n')[1]!))
    expect(verify({ text, keys: [withId(key.publicKey)] })).toEqual({ signer: '8FF0ED' })
  })

  // threat: forged-release
  test('does not count for another message or key', async () => {
    for (const message of [`${MESSAGE} `, '', MESSAGE.replace('0', '1'), MESSAGE.repeat(100_000)]) {
      expect(verify({ message })).toEqual({ fault: 'it does not match' })
    }
    expect(verify({ text: await signed(other) })).toEqual({ fault: 'its key is not in the list of signers' })
    expect(verify({ keys: [] })).toEqual({ fault: 'its key is not in the list of signers' })
    // The ID of a known key with the signature of another.
    const stolen = Buffer.concat([
      bytesOf(1).subarray(0, 10),
      Buffer.from((await signed(other)).split('\n')[1]!, 'base64').subarray(10),
    ])
    expect(verify({ text: withLine(1, stolen.toString('base64')) })).toEqual({ fault: 'it does not match' })
  })

  // threat: forged-release
  test('does not count when a bit of it or of its trusted comment differs', () => {
    for (const line of [1, 3]) {
      for (let at = 0; at < bytesOf(line).length; at++) {
        const changed = bytesOf(line)
        changed[at] = changed[at]! ^ (1 << (at % 8))
        expect(verify({ text: withLine(line, changed.toString('base64')) })).toHaveProperty('fault')
      }
    }
    expect(verify({ text: withLine(2, 'trusted comment: another') })).toEqual({ fault: 'it does not match' })
  })

  // threat: forged-release
  test('does not count when it is cut off at any byte, when something is around it, or when it is huge', () => {
    const fault = { fault: 'it is not a signature of minisign over a hash' }
    for (let length = 0; length < signature.length; length++) {
      expect(verify({ text: signature.slice(0, length) })).toEqual(fault)
    }
    for (const text of [`x${signature}`, `${signature}\n`, `${signature}x`, signature + signature, withLine(1, '')]) {
      expect(verify({ text })).toEqual(fault)
    }
    expect(verify({ text: withLine(1, Buffer.concat([bytesOf(1), Buffer.alloc(3)]).toString('base64')) })).toEqual(
      fault,
    )
    expect(verify({ text: withLine(2, `trusted comment: ${'x'.repeat(20_000)}`) })).toEqual(fault)
    expect(verify({ text: 'untrusted comment: '.repeat(1_000_000) })).toEqual(fault)
  })

  test('does not count with another algorithm, also without a hash', async () => {
    const fault = { fault: 'it is not a signature of minisign over a hash' }
    const legacy = await signed(key, '-l')
    expect(Buffer.from(legacy.split('\n')[1]!, 'base64').subarray(0, 2).toString()).toBe('Ed')
    expect(verify({ text: legacy })).toEqual(fault)
    const renamed = bytesOf(1)
    renamed.write('XX')
    expect(verify({ text: withLine(1, renamed.toString('base64')) })).toEqual(fault)
  })

  test('needs a list of keys that can be read as a whole', async () => {
    const files = readFileSync(key.signers, 'utf8') + readFileSync(other.signers, 'utf8')
    expect(publicKeysIn(`# comment\n\n${files}`)).toEqual([key.publicKey, other.publicKey])
    expect(publicKeysIn('# nobody\n')).toEqual([])
    const secret = readFileSync(key.file, 'utf8')
    const ssh = 'releases@example.com ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAI'
    for (const line of [key.publicKey.slice(1), `${key.publicKey}A`, ` ${key.publicKey}`, ssh, secret]) {
      expect(() => publicKeysIn(`${files}${line}`)).toThrow('is not a public key of minisign')
    }
  })

  test('is the one that minisign verifies by hand', async () => {
    await signed(key)
    const check = (publicKey: string) => run(['minisign', '-Vm', join(folder, 'SHA256SUMS'), '-P', publicKey])
    expect((await check(key.publicKey)).exitCode).toBe(0)
    expect((await check(other.publicKey)).exitCode).toBe(1)
  })
})

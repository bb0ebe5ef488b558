import { afterAll, beforeAll, expect, test } from 'bun:test'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describeWith, run } from '../../test/support/real-tools.ts'
import { makeReleaseKey, type ReleaseKey, sign } from '../../test/support/release.ts'
import { NAMESPACE, verifySignature } from './verify.ts'

const NOW = Date.UTC(2026, 10, 26, 12)
const MESSAGE = `${'0'.repeat(64)}  file\n`
const BEGIN = '-----BEGIN SSH SIGNATURE-----'
const END = '-----END SSH SIGNATURE-----'

describeWith(['ssh-keygen'], 'the signature of a release', () => {
  let folder: string
  let key: ReleaseKey
  let signature: string
  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'postrider-signature-'))
    key = await makeReleaseKey(folder)
    signature = await signed(key)
  })
  afterAll(() => rmSync(folder, { recursive: true }))

  async function signed(by: ReleaseKey, namespace?: string): Promise<string> {
    writeFileSync(join(folder, 'SHA256SUMS'), MESSAGE)
    await sign(folder, by, namespace)
    return readFileSync(join(folder, 'SHA256SUMS.sig'), 'utf8')
  }
  const verify = (given: { text?: string; signers?: string; message?: string }) =>
    verifySignature(Buffer.from(given.message ?? MESSAGE), {
      signature: given.text ?? signature,
      signers: given.signers ?? readFileSync(key.signers, 'utf8'),
      now: NOW,
    })
  const bytesOf = (text: string) => Buffer.from(text.split('\n').slice(1, -2).join(''), 'base64')
  const armored = (bytes: Buffer) => `${BEGIN}\n${bytes.toString('base64')}\n${END}\n`
  const VALID = { signer: 'releases@example.com' }

  test('by ssh-keygen is verified and names its signer, with each of its hashes', async () => {
    expect(verify({})).toEqual(VALID)
    expect(verify({ text: armored(bytesOf(signature)) })).toEqual(VALID)
    expect(verify({ text: signature.replaceAll('\n', '\r\n') })).toEqual(VALID)
    const file = join(folder, 'by-sha256')
    writeFileSync(file, MESSAGE)
    await run(['ssh-keygen', '-q', '-Y', 'sign', '-O', 'hashalg=sha256', '-n', NAMESPACE, '-f', key.file, file])
    const text = readFileSync(`${file}.sig`, 'utf8')
    expect(bytesOf(text).includes('sha256')).toBe(true)
    expect(verify({ text })).toEqual(VALID)
  })

  // threat: forged-release
  test('does not count for another message, key, namespace or hash', async () => {
    expect(verify({ message: `${MESSAGE} ` })).toEqual({ fault: 'it does not match' })
    const other = await makeReleaseKey(folder, 'other')
    expect(verify({ text: await signed(other) })).toEqual({ fault: 'its key is not in the list of signers' })
    expect(verify({ text: await signed(key, 'file') })).toEqual({
      fault: 'it was made for another purpose than a release',
    })
    const bytes = bytesOf(signature)
    const renamed = Buffer.from(bytes)
    renamed.write('sha256', bytes.lastIndexOf('sha512'))
    expect(verify({ text: armored(renamed) })).toEqual({ fault: 'it does not match' })
    renamed.write('sha111', bytes.lastIndexOf('sha512'))
    expect(verify({ text: armored(renamed) })).toEqual({ fault: 'its hash algorithm is not supported' })
  })

  // threat: forged-release
  test('does not count when it is cut off at any byte, when a bit differs, or when bytes follow', () => {
    const bytes = bytesOf(signature)
    for (let length = 0; length < bytes.length; length++) {
      expect(verify({ text: armored(bytes.subarray(0, length)) })).toHaveProperty('fault')
      const changed = Buffer.from(bytes)
      changed[length] = changed[length]! ^ (1 << (length % 8))
      expect(verify({ text: armored(changed) })).toHaveProperty('fault')
    }
    expect(verify({ text: armored(Buffer.concat([bytes, Buffer.from([0])])) })).toEqual({
      fault: 'bytes follow its end',
    })
    // A length of four gigabytes.
    expect(verify({ text: armored(Buffer.concat([bytes.subarray(0, 10), Buffer.alloc(4, 0xff)])) })).toEqual({
      fault: 'it is truncated',
    })
  })

  test('does not count without its frame, or with anything around it', () => {
    const fault = 'it is not an SSH signature'
    for (const text of ['', 'hello', signature.replace(BEGIN, ''), signature.replace(END, ''), `${BEGIN}\n${END}\n`]) {
      expect(verify({ text })).toEqual({ fault })
    }
    expect(verify({ text: `x\n${signature}` })).toEqual({ fault })
    expect(verify({ text: `${signature}x` })).toEqual({ fault })
    expect(verify({ text: signature.replace('U1NI', 'U1N%') })).toEqual({ fault: 'it is not base64' })
    expect(verify({ text: armored(Buffer.from('hello, this is text')) })).toEqual({ fault })
    expect(verify({ text: armored(Buffer.alloc(20_000)) })).toEqual({ fault: 'it is too long' })
  })

  /** Options of a signer → whether its signature counts here, and for ssh-keygen at that time. */
  async function countsBoth(options: string): Promise<[boolean, boolean]> {
    const text = `releases@example.com ${options} ${key.publicKey}\n`
    const [signers, sig] = [join(folder, 'allowed'), join(folder, 'SHA256SUMS.sig')]
    writeFileSync(signers, text)
    writeFileSync(sig, signature)
    const names = ['-n', NAMESPACE, '-I', 'releases@example.com', '-O', 'verify-time=20261126120000Z']
    const command = ['ssh-keygen', '-Y', 'verify', ...names, '-f', signers, '-s', sig]
    const { exitCode } = await run(command, { input: MESSAGE })
    return [!('fault' in verify({ signers: text })), exitCode === 0]
  }

  test('counts for the namespaces and times of its key, as for ssh-keygen', async () => {
    const cases: [options: string, counts: boolean][] = [
      ['', true],
      ['namespaces="postrider-release"', true],
      ['namespaces="file,postrider-release,git"', true],
      ['namespaces="file"', false],
      ['namespaces="postrider-*"', true],
      ['namespaces="*-rel?ase"', true],
      ['namespaces="*-rel?se"', false],
      ['namespaces="*,!postrider-release"', false],
      ['valid-after="20261126"', true],
      ['valid-after="20261127"', false],
      ['valid-before="20261127"', true],
      ['valid-before="20261126"', false],
      ['valid-after="202611261159Z",valid-before="20261126120001Z"', true],
      ['valid-after="20261126120001Z"', false],
      ['namespaces="postrider-release",valid-before="20261125"', false],
      ['cert-authority', false],
    ]
    for (const [options, counts] of cases)
      expect([options, ...(await countsBoth(options))]).toEqual([options, counts, counts])
  })

  test('does not count with a list of signers that cannot be read, even when another line has its key', () => {
    const good = readFileSync(key.signers, 'utf8')
    const list = (line: string) => verify({ signers: `# comment\n\n${line}\n${good}` })
    for (const line of [
      'releases@example.com',
      'releases@example.com ssh-ed25519',
      'releases@example.com ssh-ed25519 %%%',
      `releases@example.com unknown-option ${key.publicKey}`,
      `releases@example.com valid-after="yesterday" ${key.publicKey}`,
      `releases@example.com namespaces="file ${key.publicKey}`,
      key.publicKey,
    ]) {
      expect([line, list(line)]).toEqual([line, { fault: 'line 3 of the list of signers is not a signer' }])
    }
    expect(list('"two words" ssh-ed25519 AAAA with a comment')).toEqual(VALID)
    expect(verify({ signers: '# nobody\n' })).toEqual({ fault: 'the list of signers contains no key' })
    expect(verify({ signers: '\n'.repeat(1000) })).toEqual({ fault: 'the list of signers is too long' })
    expect(verify({ signers: 'x'.repeat(100_000) })).toEqual({ fault: 'the list of signers is too long' })
  })

  test('by another type of key is refused by name', async () => {
    const file = join(folder, 'ecdsa')
    await run(['ssh-keygen', '-q', '-t', 'ecdsa', '-N', '', '-f', file])
    const publicKey = readFileSync(`${file}.pub`, 'utf8')
    const text = await signed({ file, publicKey, signers: '' })
    expect(verify({ text, signers: `releases@example.com ${publicKey}` })).toEqual({
      fault: 'the type of its key is not supported; only Ed25519 is',
    })
  })
})

import { expect, test } from 'bun:test'
import { createHash, generateKeyPairSync, sign } from 'node:crypto'
import { verifySignature } from './verify.ts'
import { wireString } from './wire.ts'

/** A hardware token is not here, so the test signs as one does (OpenSSH PROTOCOL.u2f). */

const TYPE = Buffer.from('sk-ssh-ed25519@openssh.com')
const APPLICATION = Buffer.from('ssh:')
const MESSAGE = Buffer.from('sums')
const sha256 = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest()
const strings = (...parts: Uint8Array[]) => Buffer.concat(parts.map((part) => wireString(Buffer.from(part))))

function signedByToken(flags: number, type = TYPE) {
  const { publicKey, privateKey } = generateKeyPairSync('ed25519')
  const point = Buffer.from(publicKey.export({ format: 'jwk' }).x!, 'base64url')
  const key = strings(TYPE, point, APPLICATION)
  const head = Buffer.from('SSHSIG')
  const names = [Buffer.from('postrider-release'), Buffer.alloc(0), Buffer.from('sha256')]
  const toSign = Buffer.concat([head, strings(...names, sha256(MESSAGE))])
  const token = Buffer.from([flags, 0, 0, 0, 7])
  const byToken = sign(null, Buffer.concat([sha256(APPLICATION), token, sha256(toSign)]), privateKey)
  const blob = Buffer.concat([strings(type, byToken), token])
  const version = Buffer.from([0, 0, 0, 1])
  const bytes = Buffer.concat([head, version, strings(key, ...names, blob)])
  return verifySignature(MESSAGE, {
    signature: `-----BEGIN SSH SIGNATURE-----\n${bytes.toString('base64')}\n-----END SSH SIGNATURE-----\n`,
    signers: `token ${TYPE} ${key.toString('base64')}`,
    now: 0,
  })
}

test('a hardware token counts when it was touched', () => {
  expect(signedByToken(0x01)).toEqual({ signer: 'token' })
  expect(signedByToken(0x05)).toEqual({ signer: 'token' })
  expect(signedByToken(0x00)).toEqual({ fault: 'it does not match' })
  expect(signedByToken(0x01, Buffer.from('ssh-ed25519'))).toEqual({
    fault: 'its signature is of another type than its key',
  })
})

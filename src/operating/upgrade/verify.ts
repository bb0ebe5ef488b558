import { createHash, createPublicKey, verify } from 'node:crypto'

/** The key that signed a message, by its ID as minisign(1) prints it; or why the signature does not count. */
export type Verification = { signer: string } | { fault: string }

/** `RW…`: algorithm `Ed`, 8 bytes of ID, 32 bytes of an Ed25519 key, all in base64. */
const PUBLIC_KEY = /^RW[Q-T][A-Za-z0-9+/]{53}$/
/** `RU…`: algorithm `ED`, which signs the BLAKE2b hash of the message, 8 bytes of ID, 64 bytes of signature. */
const SIGNATURE = /^RU[Q-T][A-Za-z0-9+/]{96}=$/
const OF_COMMENT = /^[A-Za-z0-9+/]{86}==$/
const TRUSTED = 'trusted comment: '
const MOST_CHARACTERS = 16_384

/** A file of public keys, one after another as minisign(1) writes them → the keys; lines of comments do not count. Throws
 *  for a line that is neither. */
export function publicKeysIn(text: string): string[] {
  return text.split(/\r?\n/).filter((line) => {
    if (line.trim() === '' || line.startsWith('#') || line.startsWith('untrusted comment:')) return false
    if (PUBLIC_KEY.test(line)) return true
    throw new Error(`"${line.slice(0, 80)}" is not a public key of minisign`)
  })
}

/** Message, the text of its signature and public keys → which of them signed it. The format is that of minisign(1):
 *  https://jedisct1.github.io/minisign/, "Signature format". Never throws for a signature or message of a stranger. */
export function verifySignature(message: Uint8Array, signature: string, keys: readonly string[]): Verification {
  const lines = signature.length <= MOST_CHARACTERS ? signature.split(/\r?\n/) : []
  const [untrusted = '', line = '', trusted = '', global = '', end] = lines
  const hasComments = untrusted.startsWith('untrusted comment: ') && trusted.startsWith(TRUSTED)
  if (!hasComments || !SIGNATURE.test(line) || !OF_COMMENT.test(global) || end !== '' || lines.length > 5) {
    return { fault: 'it is not a signature of minisign over a hash' }
  }
  const signed = Buffer.from(line, 'base64')
  const [id, bytes] = [signed.subarray(2, 10), signed.subarray(10)]
  const key = keys.map((each) => Buffer.from(each, 'base64')).find((each) => each.subarray(2, 10).equals(id))
  if (key === undefined) return { fault: 'its key is not in the list of signers' }
  const jwk = { kty: 'OKP', crv: 'Ed25519', x: key.subarray(10).toString('base64url') }
  const publicKey = createPublicKey({ key: jwk, format: 'jwk' })
  const isOfMessage = verify(null, createHash('blake2b512').update(message).digest(), publicKey, bytes)
  const commented = Buffer.concat([bytes, Buffer.from(trusted.slice(TRUSTED.length))])
  const isOfComment = verify(null, commented, publicKey, Buffer.from(global, 'base64'))
  if (!isOfMessage || !isOfComment) return { fault: 'it does not match' }
  return { signer: id.readBigUInt64LE().toString(16).toUpperCase() }
}

import { createHash, generateKeyPairSync, type KeyObject, sign } from 'node:crypto'

/** A device with one passkey, in software (WebAuthn Level 3): it answers as a browser's page posts it. */
export interface Authenticator {
  /** The answer to options of `/session/passkeys/options`. */
  create(options: { challenge: string; rp: { id: string }; user: { id: string } }, change?: Change): NewCredential
  /** The answer to options of `/session/passkey/options`. */
  get(options: { challenge: string; rpId: string }, change?: Change): Assertion
}

export interface NewCredential {
  id: string
  client_data: string
  attestation: string
  transports: string[]
}

export interface Assertion {
  id: string
  client_data: string
  authenticator_data: string
  signature: string
  user_handle: string | null
}

/** What a device or a page does otherwise than it should. */
export interface Change {
  origin?: string
  host?: string
  type?: string
  /** WebAuthn §6.1: 1 = user present, 4 = user verified. */
  flags?: number
  counter?: number
  userHandle?: string | null
}

const PRESENT_AND_VERIFIED = 5
const HAS_CREDENTIAL = 64

/** Origin of the pages → a device that counts its signatures. */
export function createAuthenticator(pageOrigin: string, credentialId = 'credential-of-a-test'): Authenticator {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const id = Buffer.from(credentialId)
  let counter = 0
  let userHandle: string | null = null
  const clientData = (type: string, challenge: string, origin = pageOrigin) =>
    Buffer.from(JSON.stringify({ type, challenge, origin, crossOrigin: false }))
  const authenticatorData = (host: string, flags: number, count: number, credential = Buffer.alloc(0)) =>
    Buffer.concat([sha256(host), Buffer.from([flags]), uint32(count), credential])
  const text = (bytes: Uint8Array) => Buffer.from(bytes).toString('base64url')

  return {
    create: ({ challenge, rp, user }, { origin, host = rp.id, type = 'webauthn.create', flags } = {}) => {
      userHandle = user.id
      const aaguid = Buffer.alloc(16)
      const credential = Buffer.concat([aaguid, uint16(id.length), id, coseKey(publicKey)])
      const data = authenticatorData(host, (flags ?? PRESENT_AND_VERIFIED) | HAS_CREDENTIAL, counter, credential)
      const attestation = Buffer.concat([
        Buffer.from([0xa3]),
        ...[cborText('fmt'), cborText('none'), cborText('attStmt'), Buffer.from([0xa0])],
        ...[cborText('authData'), cborBytes(data)],
      ])
      const client_data = text(clientData(type, challenge, origin))
      return { id: text(id), client_data, attestation: text(attestation), transports: ['internal'] }
    },
    get: ({ challenge, rpId }, change = {}) => {
      const { origin, host = rpId, type = 'webauthn.get', flags = PRESENT_AND_VERIFIED } = change
      const data = authenticatorData(host, flags, change.counter ?? ++counter)
      const client = clientData(type, challenge, origin)
      const signature = sign('sha256', Buffer.concat([data, sha256(client)]), privateKey)
      return {
        id: text(id),
        client_data: text(client),
        authenticator_data: text(data),
        signature: text(signature),
        user_handle: change.userHandle === undefined ? userHandle : change.userHandle,
      }
    },
  }
}

const sha256 = (data: string | Uint8Array) => createHash('sha256').update(data).digest()
const uint16 = (value: number) => Buffer.from([value >> 8, value & 255])
const uint32 = (value: number) => Buffer.from(new Uint32Array([value]).buffer).reverse()
const cborText = (text: string) => Buffer.concat([Buffer.from([0x60 + text.length]), Buffer.from(text)])
const cborBytes = (bytes: Buffer) => Buffer.concat([Buffer.from([0x59]), uint16(bytes.length), bytes])

/** P-256 key → COSE_Key (RFC 9053 §7.1) for ES256. */
function coseKey(key: KeyObject): Buffer {
  const { x = '', y = '' } = key.export({ format: 'jwk' })
  const coordinate = (value: string) => Buffer.concat([Buffer.from([0x58, 32]), Buffer.from(value, 'base64url')])
  const head = Buffer.from([0xa5, 1, 2, 3, 0x26, 0x20, 1, 0x21])
  return Buffer.concat([head, coordinate(x), Buffer.from([0x22]), coordinate(y)])
}

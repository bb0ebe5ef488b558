import { createHash, type KeyObject, sign } from 'node:crypto'

/** What an account signs its requests with, and what it proves its hold on a name with. */
export interface Signer {
  /** For the one request that has no account yet: with the public key instead of its name. */
  sign(payload: unknown, header: { url: string; nonce: string; account: string | null }): string
  /** Token of a challenge → what is to be found where it asks. RFC 8555 §8.1 */
  keyAuthorization(token: string): string
}

/** P-256 key pair of an account → its Signer: flattened JWS by ES256. A payload of '' asks without saying anything (POST as
 *  GET). RFC 8555 §6.2, RFC 7515 §7.2.2, RFC 7518 §3.4 */
export function createSigner(key: { privateKey: KeyObject; publicKey: KeyObject }): Signer {
  const jwk = publicJwk(key.publicKey)
  return {
    sign: (payload, { url, nonce, account }) => {
      const whose = account === null ? { jwk } : { kid: account }
      const protectedPart = encoded(JSON.stringify({ alg: 'ES256', ...whose, nonce, url }))
      const payloadPart = payload === '' ? '' : encoded(JSON.stringify(payload))
      const signed = Buffer.from(`${protectedPart}.${payloadPart}`)
      const signature = sign('sha256', signed, { key: key.privateKey, dsaEncoding: 'ieee-p1363' })
      return JSON.stringify({
        protected: protectedPart,
        payload: payloadPart,
        signature: signature.toString('base64url'),
      })
    },
    keyAuthorization: (token) => `${token}.${thumbprint(jwk)}`,
  }
}

const encoded = (text: string) => Buffer.from(text).toString('base64url')

/** The members that belong to it, in the order that its thumbprint wants. RFC 7638 §3.2 */
function publicJwk(key: KeyObject): object {
  const { crv, kty, x, y } = key.export({ format: 'jwk' })
  return { crv, kty, x, y }
}

function thumbprint(jwk: object): string {
  return createHash('sha256').update(JSON.stringify(jwk)).digest('base64url')
}

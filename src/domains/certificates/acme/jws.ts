import { createHash, type KeyObject, sign } from 'node:crypto'

/** Signs the requests of an ACME account and its key authorizations. */
export interface Signer {
  /** For the first request, which has no account yet: contains the public key instead of the account URL. */
  sign(payload: unknown, header: { url: string; nonce: string; account: string | null }): string
  /** Challenge token → the content that the authority expects. RFC 8555 §8.1 */
  keyAuthorization(token: string): string
}

/** P-256 key pair of an account → its Signer: flattened JWS with ES256. A payload of '' reads a resource (POST-as-GET).
 *  RFC 8555 §6.2, RFC 7515 §7.2.2, RFC 7518 §3.4 */
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

/** The required members in the order of the thumbprint. RFC 7638 §3.2 */
function publicJwk(key: KeyObject): object {
  const { crv, kty, x, y } = key.export({ format: 'jwk' })
  return { crv, kty, x, y }
}

function thumbprint(jwk: object): string {
  return createHash('sha256').update(JSON.stringify(jwk)).digest('base64url')
}

import { z } from 'zod'
import { CHALLENGE_MS, type Passkey } from '../../../model/factors.ts'
import type { User } from '../../../model/user.ts'

/** Passkeys as WebAuthn Level 3 defines them. A passkey belongs to the host name under which it was made, is found by the
 *  browser without an email address, and verifies the user with a fingerprint or PIN: it is both factors. */

/** Loaded when the first passkey is used, so that the server starts faster. */
const library = () => import('@simplewebauthn/server')

/** Base64url. */
const bytes = (most: number) =>
  z
    .string()
    .max(most)
    .regex(/^[\w-]+$/)

/** The parts of a browser's PublicKeyCredential that are checked. A credential ID has at most 1,023 bytes (WebAuthn
 *  §4). Without attestation, the other parts have some hundred bytes. */
const CREDENTIAL_ID = bytes(1_364)
export const newCredential = z.strictObject({
  id: CREDENTIAL_ID,
  client_data: bytes(2_000),
  attestation: bytes(6_000),
  /** Browsers add new ones. */
  transports: z.array(z.string().regex(/^[a-z-]{1,20}$/)).max(10),
})
export const assertion = z.strictObject({
  id: CREDENTIAL_ID,
  client_data: bytes(2_000),
  authenticator_data: bytes(2_000),
  signature: bytes(2_000),
  user_handle: bytes(100).nullable(),
})
/** Body size that fits both. */
export const MOST_CREDENTIAL_BYTES = 12_288

/** EdDSA, ES256 and RS256 (RFC 9053 §2): one of them is on every device. */
const ALGORITHMS = [-8, -7, -257]

/** PublicKeyCredentialCreationOptionsJSON (WebAuthn §5.4) for a new passkey of the user. */
export function creationOptions(
  challenge: string,
  { user, host, known }: { user: User; host: string; known: Passkey[] },
) {
  return {
    rp: { id: host, name: 'Postrider' },
    user: { id: userHandle(user.id), name: user.email ?? user.name, displayName: user.name },
    challenge,
    pubKeyCredParams: ALGORITHMS.map((alg) => ({ type: 'public-key', alg })),
    timeout: CHALLENGE_MS,
    excludeCredentials: known.map(({ credentialId, transports }) => ({
      id: credentialId,
      type: 'public-key',
      transports,
    })),
    authenticatorSelection: { residentKey: 'required', requireResidentKey: true, userVerification: 'required' },
    attestation: 'none',
  }
}

/** PublicKeyCredentialRequestOptionsJSON (WebAuthn §5.5) for a passkey of any user. */
export function requestOptions(challenge: string, host: string) {
  return { rpId: host, challenge, timeout: CHALLENGE_MS, allowCredentials: [], userVerification: 'required' }
}

/** The browser's answer to creationOptions → the passkey; null if it is not valid for this challenge and origin. */
export async function verifiedCredential(
  { id, client_data, attestation, transports }: z.infer<typeof newCredential>,
  { challenge, origin }: { challenge: string; origin: string },
): Promise<Pick<Passkey, 'credentialId' | 'publicKey' | 'counter' | 'transports'> | null> {
  const response = { clientDataJSON: client_data, attestationObject: attestation }
  const { verifyRegistrationResponse } = await library()
  const verification = await verifyRegistrationResponse({
    response: { id, rawId: id, type: 'public-key', response, clientExtensionResults: {} },
    expectedChallenge: challenge,
    expectedOrigin: origin,
    expectedRPID: new URL(origin).hostname,
    supportedAlgorithmIDs: ALGORITHMS,
  }).catch(() => null)
  if (!verification?.verified) return null
  const { credential } = verification.registrationInfo
  return { credentialId: credential.id, publicKey: credential.publicKey, counter: credential.counter, transports }
}

/** The browser's answer to requestOptions → the counter of the passkey; null if it is not valid for this challenge,
 *  origin and passkey. */
export async function verifiedCounter(
  { id, client_data, authenticator_data, signature, user_handle }: z.infer<typeof assertion>,
  passkey: Passkey,
  { challenge, origin }: { challenge: string; origin: string },
): Promise<number | null> {
  if (user_handle !== null && user_handle !== userHandle(passkey.userId)) return null
  const response = { clientDataJSON: client_data, authenticatorData: authenticator_data, signature }
  const { verifyAuthenticationResponse } = await library()
  const verification = await verifyAuthenticationResponse({
    response: { id, rawId: id, type: 'public-key', response, clientExtensionResults: {} },
    expectedChallenge: challenge,
    expectedOrigin: origin,
    expectedRPID: new URL(origin).hostname,
    credential: { id, publicKey: new Uint8Array(passkey.publicKey), counter: passkey.counter },
  }).catch(() => null)
  return verification?.verified ? verification.authenticationInfo.newCounter : null
}

/** The challenge that a browser signed; '' if it cannot be read. Only a look-up: the checks above follow. */
export function challengeOf(clientData: string): string {
  try {
    const { challenge } = JSON.parse(Buffer.from(clientData, 'base64url').toString()) as { challenge?: unknown }
    return typeof challenge === 'string' ? challenge : ''
  } catch {
    return ''
  }
}

/** The ID by which a device knows the user. */
const userHandle = (userId: string) => Buffer.from(userId).toString('base64url')

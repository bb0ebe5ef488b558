import { type Json, post } from './api.ts'

/** Passkeys of the browser (WebAuthn Level 3). They need https or localhost, and a host name, not an IP address. */
export const hasPasskeys = () =>
  window.isSecureContext &&
  typeof PublicKeyCredential === 'function' &&
  typeof PublicKeyCredential.parseCreationOptionsFromJSON === 'function' &&
  !/^[\d.]+$|^\[/.test(window.location.hostname)

/** Creates a passkey with options of the server → the body of `credential`. Throws an Error if the user cancels. */
export async function createPasskey(options: Json): Promise<Json> {
  const publicKey = PublicKeyCredential.parseCreationOptionsFromJSON(options)
  const { id, response } = jsonOf(await asked(navigator.credentials.create({ publicKey })))
  const { clientDataJSON, attestationObject, transports } = response
  return { id, client_data: clientDataJSON, attestation: attestationObject, transports }
}

/** Lets the user choose a passkey → the answer for `POST /session/passkey`. Throws an Error if the user cancels, and
 *  ApiError. */
export async function usePasskey(): Promise<Json> {
  const publicKey = PublicKeyCredential.parseRequestOptionsFromJSON(await post('/session/passkey/options'))
  const { id, response } = jsonOf(await asked(navigator.credentials.get({ publicKey })))
  const { clientDataJSON, authenticatorData, signature, userHandle } = response
  return {
    id,
    client_data: clientDataJSON,
    authenticator_data: authenticatorData,
    signature,
    user_handle: userHandle ?? null,
  }
}

/** Browsers give the same error for a cancelled, expired and impossible request. */
async function asked(request: Promise<Credential | null>): Promise<PublicKeyCredential> {
  const credential = await request.catch((thrown: unknown) => {
    if (thrown instanceof DOMException && thrown.name === 'InvalidStateError')
      throw new Error('This device already has a passkey for your account.')
    throw new Error('The browser used no passkey. Try again, or sign in another way.')
  })
  if (credential instanceof PublicKeyCredential) return credential
  throw new Error('The browser returned no passkey.')
}

const jsonOf = (credential: PublicKeyCredential): Json => credential.toJSON()

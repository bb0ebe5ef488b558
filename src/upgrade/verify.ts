import { mayBeUsed, parseAllowedSigners } from './allowed-signers.ts'
import { parseSignature } from './signature.ts'
import { sshKeyOf } from './ssh-key.ts'
import { Malformed } from './wire.ts'

export const NAMESPACE = 'postrider-release'

/** Who signed a message; or why the signature does not count. */
export type Verification = { signer: string } | { fault: string }

/** Message, its signature file and a file of allowed signers → who signed it for NAMESPACE at a time when that key may
 *  sign. Verifies Ed25519 keys, also those of hardware tokens. Never throws for bytes of a stranger. */
export function verifySignature(
  message: Uint8Array,
  { signature: text, signers, now }: { signature: string; signers: string; now: number },
): Verification {
  try {
    const allowed = parseAllowedSigners(signers)
    if (allowed.length === 0) return { fault: 'the list of signers contains no key' }
    const signature = parseSignature(text)
    const { key: blob, namespace } = signature
    if (namespace !== NAMESPACE) return { fault: 'it was made for another purpose than a release' }
    const known = allowed.filter(({ key }) => key.equals(blob))
    if (known.length === 0) return { fault: 'its key is not in the list of signers' }
    const signer = known.find((each) => mayBeUsed(each, namespace, now))
    if (signer === undefined) return { fault: 'its key may not sign releases now' }
    const key = sshKeyOf(blob)
    if (key === null) return { fault: 'the type of its key is not supported; only Ed25519 is' }
    const isValid = key.verifies(signature.signedOf(message), signature.bytes)
    return isValid ? { signer: signer.principals } : { fault: 'it does not match' }
  } catch (error) {
    if (error instanceof Malformed) return { fault: error.message }
    throw error
  }
}

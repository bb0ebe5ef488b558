/** Replaces unwrapEC2Signature.js of @simplewebauthn/server, which needs 130 KB of ASN.1 packages for it: an ECDSA
 *  signature in DER (RFC 3279 §2.2.3) and its curve (RFC 9053 §7.1) → r and s, each in the length of the curve's order.
 *  Throws an Error for anything else. The caller verifies the result, so a mistake here can only refuse a signature. */
export function unwrapEC2Signature(signature, crv) {
  const lengthBytes = LENGTHS[crv]
  if (lengthBytes === undefined) throw new Error(`Unexpected COSE crv value of ${crv} (EC2)`)
  const [sequence, end] = contentOf(signature, 0, SEQUENCE)
  if (end !== signature.length) throw new Error('bytes after the ECDSA signature')
  const [r, afterR] = contentOf(sequence, 0, INTEGER)
  const [s, afterS] = contentOf(sequence, afterR, INTEGER)
  if (afterS !== sequence.length) throw new Error('bytes after the numbers of the ECDSA signature')
  const result = new Uint8Array(2 * lengthBytes)
  for (const [at, number] of [r, s].entries()) {
    const first = number.findIndex((byte) => byte !== 0)
    const digits = first < 0 ? new Uint8Array() : number.subarray(first)
    if (digits.length > lengthBytes) throw new Error('a number of the ECDSA signature is too long')
    result.set(digits, (at + 1) * lengthBytes - digits.length)
  }
  return result
}

/** Content of the element at `at`, and where it ends. The longest signature, of P-521, has 139 bytes. */
function contentOf(bytes, at, tag) {
  const isLong = bytes[at + 1] === ONE_LENGTH_BYTE
  const length = isLong ? bytes[at + 2] : bytes[at + 1]
  const start = at + (isLong ? 3 : 2)
  const isShort = isLong || length < ONE_LENGTH_BYTE - 1
  if (bytes[at] !== tag || !isShort || !(start + length <= bytes.length))
    throw new Error('not an ECDSA signature in DER')
  return [bytes.subarray(start, start + length), start + length]
}

const SEQUENCE = 0x30
const INTEGER = 0x02
const ONE_LENGTH_BYTE = 0x81
/** By curve: P-256, P-384, P-521. */
const LENGTHS = { 1: 32, 2: 48, 3: 66 }

import { dlopen, FFIType, type Pointer, ptr } from 'bun:ffi'
import { type KeyObject, sign } from 'node:crypto'

/** Signs `input` with `key`: RSA, SHA-256, PKCS#1 v1.5. */
export type SignRsa = (input: Uint8Array, key: KeyObject) => Uint8Array

/** An RSA signer that uses the system's OpenSSL where available. The signature is most of a mail's CPU cost, and the
 *  system library takes half the time of the built-in one (it uses wider vector instructions). It must qualify first:
 *  both libraries make the first signatures, and the system library is used if its results are identical and take less
 *  than four fifths of the time. If it is missing, differs or ever fails, the built-in library takes over.
 *
 *  One per thread; the library is opened at the first signature. `now` returns milliseconds with fractions. The signer
 *  throws what the built-in library throws. */
export function createSignRsa(now: () => number, open: () => SignRsa = openLibrary): SignRsa {
  let library: SignRsa | null | undefined // undefined: not opened yet
  let proofsLeft = PROOFS
  let ownMs = Number.POSITIVE_INFINITY
  let theirMs = Number.POSITIVE_INFINITY

  const signTwice = (system: SignRsa, input: Uint8Array, key: KeyObject) => {
    const startedAt = now()
    const own = signBuiltIn(input, key)
    const betweenAt = now()
    const isSame = own.equals(system(input, key))
    ownMs = Math.min(ownMs, betweenAt - startedAt)
    theirMs = Math.min(theirMs, now() - betweenAt)
    proofsLeft--
    if (!isSame || (proofsLeft === 0 && theirMs >= ownMs * WORTH_IT)) library = null
    return own
  }

  return (input, key) => {
    try {
      if (library === undefined) library = open()
      if (library !== null) return proofsLeft > 0 ? signTwice(library, input, key) : library(input, key)
    } catch {
      library = null
    }
    return signBuiltIn(input, key)
  }
}

const LIBRARY = 'libcrypto.so.3' // OpenSSL 3; its ABI is stable within the major version
const WORTH_IT = 0.8
const PROOFS = 8
/** Keys cached in the library; beyond this the cache starts over. */
const MAX_KEYS = 10_000

function signBuiltIn(input: Uint8Array, key: KeyObject): Buffer {
  return sign('sha256', input, key)
}

/** Throws when the library is missing or does not accept a key. */
function openLibrary(): SignRsa {
  const { symbols: crypto } = dlopen(LIBRARY, {
    d2i_AutoPrivateKey: { args: [FFIType.ptr, FFIType.ptr, FFIType.i64], returns: FFIType.ptr },
    EVP_PKEY_free: { args: [FFIType.ptr], returns: FFIType.void },
    EVP_PKEY_CTX_new: { args: [FFIType.ptr, FFIType.ptr], returns: FFIType.ptr },
    EVP_PKEY_CTX_free: { args: [FFIType.ptr], returns: FFIType.void },
    EVP_PKEY_sign_init: { args: [FFIType.ptr], returns: FFIType.i32 },
    EVP_PKEY_CTX_set_rsa_padding: { args: [FFIType.ptr, FFIType.i32], returns: FFIType.i32 },
    EVP_PKEY_CTX_set_signature_md: { args: [FFIType.ptr, FFIType.ptr], returns: FFIType.i32 },
    EVP_PKEY_sign: {
      args: [FFIType.ptr, FFIType.ptr, FFIType.ptr, FFIType.ptr, FFIType.u64],
      returns: FFIType.i32,
    },
    EVP_sha256: { args: [], returns: FFIType.ptr },
  })
  const contexts = new Map<KeyObject, Pointer>()
  const signature = Buffer.alloc(MAX_SIGNATURE_BYTES)
  const size = new BigUint64Array(1)

  /** A reusable signing context for the key: creating one per signature would add a twentieth to its cost. */
  const contextOf = (key: KeyObject): Pointer => {
    const known = contexts.get(key)
    if (known !== undefined) return known
    const der = key.export({ type: 'pkcs8', format: 'der' })
    const at = new BigUint64Array([BigInt(ptr(der))])
    const made = crypto.d2i_AutoPrivateKey(null, ptr(at), der.byteLength) as Pointer | null
    if (made === null) throw new Error('invalid RSA key')
    const context = crypto.EVP_PKEY_CTX_new(made, null) as Pointer | null
    crypto.EVP_PKEY_free(made) // the context holds a reference
    const isReady =
      context !== null &&
      crypto.EVP_PKEY_sign_init(context) === 1 &&
      crypto.EVP_PKEY_CTX_set_rsa_padding(context, PKCS1_PADDING) === 1 &&
      crypto.EVP_PKEY_CTX_set_signature_md(context, crypto.EVP_sha256()) === 1
    if (!isReady) throw new Error('the key cannot be used for signing')
    if (contexts.size >= MAX_KEYS) {
      for (const old of contexts.values()) crypto.EVP_PKEY_CTX_free(old)
      contexts.clear()
    }
    contexts.set(key, context)
    return context
  }

  return (input, key) => {
    const context = contextOf(key)
    const digest = Bun.SHA256.hash(input) as Uint8Array
    size[0] = BigInt(signature.byteLength)
    const isSigned = crypto.EVP_PKEY_sign(context, signature, size, digest, digest.byteLength)
    if (isSigned !== 1) throw new Error('signing with the system library failed')
    return Buffer.from(signature.subarray(0, Number(size[0])))
  }
}

const PKCS1_PADDING = 1
const MAX_SIGNATURE_BYTES = 1024 // for an RSA key of 8192 bits

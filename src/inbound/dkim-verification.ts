import type { DKIMVerifyOptions } from 'mailauth'
import { DkimVerifier } from 'mailauth/lib/dkim/dkim-verifier'
import { rememberedKeys } from './remembered-keys.ts'

/** A mail that is whole in memory, in lines that end in CRLF or LF → mailauth's verifier when it is through: DKIM results,
 *  the ARC chain with its newest signature, the addresses of From. It gets header and body as they lie; as a stream it looks
 *  for line ends byte by byte in a third of the whole time. Large mails let others in between. */
export async function verifiedDkim(mail: Buffer, options: DKIMVerifyOptions): Promise<DkimVerifier> {
  const raw = withCrLf(mail)
  const verifier = new WholeVerifier(options)
  const bodyAt = bodyOf(raw)
  await verifier.emitHeaders(raw.subarray(0, bodyAt))
  for (let at = bodyAt; at < raw.length; at += PIECE_BYTES) {
    if (at > bodyAt) await new Promise((resolve) => setImmediate(resolve))
    await verifier.nextChunk(raw.subarray(at, at + PIECE_BYTES))
  }
  await verifier.finish()
  return verifier
}

class WholeVerifier extends DkimVerifier {
  constructor(options: DKIMVerifyOptions) {
    super(options)
    this.keyCache = rememberedKeys(options.resolver!)
    Object.defineProperty(this.arc, 'keyCache', { value: this.keyCache, configurable: true, writable: true })
  }

  /** It would look byte by byte for the first part of a multipart, which nobody here asks for. */
  override addBodyHash(canonicalization: string, algorithm: string, mostBytes: number | ''): string {
    const key = super.addBodyHash(canonicalization, algorithm, mostBytes)
    this.bodyHashes.get(key)!.setContentType = () => {}
    return key
  }
}

const PIECE_BYTES = 65_536
const [LF, CR] = [10, 13]

/** Behind the first empty line; the end when there is none. */
function bodyOf(raw: Buffer): number {
  if (raw[0] === CR && raw[1] === LF) return 2
  const end = raw.indexOf('\r\n\r\n')
  return end < 0 ? raw.length : end + 4
}

/** The same bytes when no LF lacks its CR, as in all mail that comes by SMTP. */
function withCrLf(mail: Buffer): Buffer {
  for (let at = 0; at < mail.length; at++) {
    if (mail[at] === LF && mail[at - 1] !== CR) {
      return Buffer.from(mail.toString('latin1').replace(/(?<!\r)\n/g, '\r\n'), 'latin1')
    }
  }
  return mail
}

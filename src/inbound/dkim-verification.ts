import type { DKIMVerifyOptions } from 'mailauth'
import { DkimVerifier } from 'mailauth/lib/dkim/dkim-verifier'
import { createBodyHashes } from './body-hashes.ts'
import { rememberedKeys } from './remembered-keys.ts'

/** A mail in memory with CRLF or LF line ends → mailauth's verifier with its results: DKIM, the ARC chain with its
 *  newest signature, and the From addresses. Header and body are passed whole: as a stream, mailauth searches line ends
 *  byte by byte, a third of the total time. Large mail yields to other work. */
export async function verifiedDkim(mail: Buffer, options: DKIMVerifyOptions): Promise<DkimVerifier> {
  const verifier = new WholeVerifier(options)
  await feed(verifier, mail)
  await verifier.finish()
  return verifier
}

/** Passes header and body of a mail to mailauth's parser. */
export async function feed(
  to: { emitHeaders(header: Buffer): Promise<void>; nextChunk(piece: Buffer): Promise<void> },
  mail: Buffer,
): Promise<void> {
  const raw = withCrLf(mail)
  const bodyAt = bodyOf(raw)
  await to.emitHeaders(raw.subarray(0, bodyAt))
  for (let at = bodyAt; at < raw.length; at += PIECE_BYTES) {
    if (at > bodyAt) await new Promise((resolve) => setImmediate(resolve))
    await to.nextChunk(raw.subarray(at, at + PIECE_BYTES))
  }
}

class WholeVerifier extends DkimVerifier {
  constructor(options: DKIMVerifyOptions) {
    super(options)
    this.keyCache = rememberedKeys(options.resolver!)
    Object.defineProperty(this.arc, 'keyCache', { value: this.keyCache, configurable: true, writable: true })
  }

  readonly #hashes = createBodyHashes()

  override addBodyHash(canonicalization: string, algorithm: string, mostBytes: number | ''): string {
    const key = [canonicalization, algorithm, mostBytes].join(':')
    if (!this.bodyHashes.has(key)) this.bodyHashes.set(key, this.#hashes.add(canonicalization, algorithm, mostBytes))
    return key
  }

  override async nextChunk(piece: Buffer): Promise<void> {
    this.#hashes.update(piece)
  }
}

const PIECE_BYTES = 65_536
const [LF, CR] = [10, 13]

/** Offset behind the first empty line; the end if there is none. */
function bodyOf(raw: Buffer): number {
  if (raw[0] === CR && raw[1] === LF) return 2
  const end = raw.indexOf('\r\n\r\n')
  return end < 0 ? raw.length : end + 4
}

/** Returns the same bytes if every LF follows a CR, as in all mail received by SMTP. */
function withCrLf(mail: Buffer): Buffer {
  for (let at = 0; at < mail.length; at++) {
    if (mail[at] === LF && mail[at - 1] !== CR) {
      return Buffer.from(mail.toString('latin1').replace(/(?<!\r)\n/g, '\r\n'), 'latin1')
    }
  }
  return mail
}

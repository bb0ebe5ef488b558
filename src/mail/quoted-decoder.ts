import { Transform, type TransformCallback } from 'node:stream'
import { bytesOfQuotedPrintable } from './transfer-decoding.ts'

/** Stands in for the parser's decoder of quoted-printable, which makes a text of each escaped byte and all of them at once:
 *  25 MB of escapes take it half a gigabyte. The same bytes come out, in one piece at the end. Blanks that a line ends
 *  with go (RFC 2045 §6.7, rule 3). */
export class QuotedDecoder extends Transform {
  #pieces: Buffer[] = []

  override _transform(piece: Buffer, _encoding: BufferEncoding, done: TransformCallback): void {
    this.#pieces.push(piece)
    done()
  }

  override _flush(done: TransformCallback): void {
    const written = Buffer.concat(this.#pieces)
    this.#pieces = []
    if (written.length > 0) this.push(bytesOfQuotedPrintable(withoutBlanks(written)))
    done()
  }
}

/** The same without blanks before line ends and at the end. Changes the bytes. */
function withoutBlanks(bytes: Buffer): Buffer {
  let end = 0
  let blanksFrom = -1 // where those begin that may have to go
  for (const byte of bytes) {
    if (byte === SPACE || byte === TAB) blanksFrom = blanksFrom < 0 ? end : blanksFrom
    else {
      if (blanksFrom >= 0 && (byte === LF || byte === CR)) end = blanksFrom
      blanksFrom = -1
    }
    bytes[end++] = byte
  }
  return bytes.subarray(0, blanksFrom < 0 ? end : blanksFrom)
}

const [LF, CR, SPACE, TAB] = [10, 13, 32, 9]

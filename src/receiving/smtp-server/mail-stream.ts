import { SMTPStream } from 'smtp-server/lib/smtp-stream.js'
import type { Turns } from './turns.ts'

/** The library's parser with our own command and DATA readers.
 *  Commands: the library also ends a command at a bare LF, which RFC 5321 §2.3.8 forbids; here only CR LF ends it.
 *  DATA: the output and the detected end are the same however the input is split. The library searches dots byte by
 *  byte, copies each piece to join it to the last four bytes, and yields to the event loop at each removed dot. This
 *  reader uses the runtime's search, joins only a possible start of the end marker, and removes dots in place.
 *  Large pieces wait for their turn while the socket is paused, so that many senders together cannot hold the
 *  thread. */
export class MailStream extends SMTPStream {
  readonly #turns: Turns
  /** The end of the previous piece if it may be part of the end marker. */
  #held: Buffer | null = null
  /** An unfinished command, at most `_maxCommandLength` bytes. */
  #begun: Buffer = NOTHING

  constructor(turns: Turns) {
    super()
    this.#turns = turns
  }

  override _write(piece: Buffer, encoding: BufferEncoding | 'buffer', done: Done): void {
    if (!this._dataMode) return void this.#readCommands(piece, done)
    const go = () => super._write(piece, encoding, done)
    if (piece.length >= LARGE_BYTES) this.#turns.take(piece.length, go)
    else go()
  }

  /** Reads one command at a time, each after the reply to the previous one. Bytes behind DATA are the mail. */
  #readCommands(piece: Buffer, done: Done): void {
    const bytes = this.#begun.length === 0 ? piece : Buffer.concat([this.#begun, piece])
    let searchFrom = Math.max(0, this.#begun.length - 1) // the CR may be at the end of the previous piece
    let from = 0
    this.#begun = NOTHING

    /** True when the command was answered synchronously. */
    const readOne = (): boolean => {
      if (this.isClosed) return over()
      if (this._dataMode) {
        this._write(bytes.subarray(from), 'buffer', done)
        return false
      }
      const end = bytes.indexOf(CR_LF, searchFrom)
      const length = (end < 0 ? bytes.length : end) - from
      if (length > this._maxCommandLength) return over(this._commandTooLong())
      const text = Buffer.from(bytes.subarray(from, from + length)) // copies, so that the whole piece is not retained
      if (end < 0) {
        this.#begun = text
        return over()
      }
      from = searchFrom = end + CR_LF.length
      let hasReturned = false
      let isAnswered = false
      this.oncommand(text, () => {
        if (isAnswered) return
        isAnswered = true
        if (hasReturned) readOn()
      })
      hasReturned = true
      return isAnswered
    }
    const over = (fault?: Error): false => {
      done(fault)
      return false
    }
    const readOn = () => {
      while (readOne());
    }
    readOn()
  }

  override _feedDataStream(piece: Buffer, done: Done): void {
    const bytes = this.#held === null ? piece : Buffer.concat([this.#held, piece])
    this.#held = null
    if (!this._atDataStart) return void this.#feed(bytes, 0, done)
    if (bytes.length < ONLY_DOT.length && ONLY_DOT.subarray(0, bytes.length).equals(bytes)) {
      this.#held = bytes
      return void done()
    }
    if (startsWith(bytes, 0, ONLY_DOT)) return void this._endDataMode(false, bytes.subarray(ONLY_DOT.length), done)
    const isStuffed = bytes[0] === DOT && bytes[1] === DOT
    if (isStuffed) this._atDataStart = false
    this.#feed(bytes, isStuffed ? 1 : 0, done)
  }

  /** Scans bytes from `from`, where no unseen dot starts a line. The mail ends at CR LF . CR LF and nowhere else; the
   *  first of two leading dots is removed. RFC 5321 §4.5.2 */
  #feed(bytes: Buffer, from: number, done: Done): void {
    let kept = from // write position after removed dots
    let taken = from // everything before is in place
    const place = (end: number) => {
      if (kept !== taken) bytes.copyWithin(kept, taken, end)
      kept += end - taken
      taken = end
    }
    for (let at = bytes.indexOf(LF_DOT, from); at >= 0; at = bytes.indexOf(LF_DOT, at + 1)) {
      if (at > from && isEnd(bytes, at - 1)) {
        place(at + 1)
        const rest = Buffer.from(bytes.subarray(at - 1 + END.length)) // the consumer may empty the piece
        const last = bytes.subarray(from, kept)
        this._countDataBytes(last.length)
        return void this._endDataMode(last, rest, done)
      }
      if (bytes[at + 2] !== DOT) continue
      place(at + 1)
      taken++
    }
    const heldAt = bytes.length - heldBytes(bytes, taken)
    place(heldAt)
    // copies, so that the whole piece is not retained
    if (heldAt < bytes.length) this.#held = Buffer.from(bytes.subarray(heldAt))
    this.#pass(bytes.subarray(from, kept), done)
  }

  /** Passes bytes to the mail stream and asks for the next piece when it is ready. */
  #pass(bytes: Buffer, done: Done): void {
    const mail = this._dataStream
    this._countDataBytes(bytes.length)
    if (bytes.length === 0 || !mail?.writable || mail.write(bytes) || mail.destroyed) return void done()
    const goOn = () => {
      mail.off('drain', goOn)
      mail.off('close', goOn) // a destroyed stream never drains
      done()
    }
    mail.on('drain', goOn)
    mail.on('close', goOn)
  }
}

type Done = (error?: Error | null) => void

/** Smaller pieces do not wait: they do not delay others, and nearly all mail is smaller. */
const LARGE_BYTES = 32 * 1024

const NOTHING = Buffer.alloc(0)
const CR_LF = Buffer.from('\r\n')
const CR = 0x0d
const LF = 0x0a
const DOT = 0x2e
const LF_DOT = Buffer.from('\n.')
const ONLY_DOT = Buffer.from('.\r\n')
const END = Buffer.from('\r\n.\r\n')
/** Prefixes of END, or of a dot that precedes a dot; longest first. */
const BEGINNINGS = ['\r\n.\r', '\r\n.', '\n.', '\r\n', '\n', '\r'].map((text) => Buffer.from(text))

const startsWith = (bytes: Buffer, at: number, text: Buffer) => bytes.subarray(at, at + text.length).equals(text)

/** Whether END starts here. Byte by byte: a view for each dot of a mail of dots takes longer than all else. */
const isEnd = (bytes: Buffer, at: number) =>
  bytes[at] === CR && bytes[at + 1] === LF && bytes[at + 2] === DOT && bytes[at + 3] === CR && bytes[at + 4] === LF

/** Number of trailing bytes, counted from `from`, that may be part of the end marker. */
function heldBytes(bytes: Buffer, from: number): number {
  const held = BEGINNINGS.find(
    (text) => text.length <= bytes.length - from && startsWith(bytes, bytes.length - text.length, text),
  )
  return held?.length ?? 0
}

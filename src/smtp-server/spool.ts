import type { FileHandle } from 'node:fs/promises'
import { mkdir, open, readdir, rm, unlink } from 'node:fs/promises'
import { join } from 'node:path'
import { type BodyRoom, createBodyRoom } from '../net/limiters/memory-budget.ts'
import type { Clock } from '../os/clock.ts'
import { createCollector } from '../os/collector.ts'
import type { Memory } from '../os/memory.ts'
import { BLOCK_BYTES, createBlocks } from './blocks.ts'
import { REPLIES } from './replies.ts'
import type { FiledMail } from './session.ts'

/** Where mails wait between their last byte and whoever reads them. */
export interface Spool {
  /** Makes the folder and removes what a crash left in it. Rejects when the folder cannot be made. */
  prepare(): Promise<void>
  begin(): SpooledMail
}

/** One mail on its way in. Calls follow each other, never two at once. */
export interface SpooledMail {
  /** Takes the piece, which may be empty afterwards. Resolves when the next one may come. Rejects with the error of the disk
   *  (ENOSPC …): then only discard. */
  write(piece: Uint8Array): Promise<void>
  /** The whole mail in memory of its own, once; one from a file as soon as there is room for it. Rejects as write does, and
   *  with 452 when there was none for five minutes. */
  read(): Promise<Uint8Array<ArrayBuffer>>
  /** Instead of `read`: one in a file stays there, and comes into memory somewhere else, as soon as there is room. Rejects as read does. */
  open(): Promise<Uint8Array<ArrayBuffer> | FiledMail>
  /** Gives back file and memory, before or after read. Never rejects. */
  discard(): Promise<void>
}

const SPOOL = {
  /** Larger mails go to a file, as do smaller ones when many come in at once. */
  memoryBytes: 2 ** 20,
  /** Written to the file in portions of this: dot-stuffed mail comes in crumbs. */
  writeBytes: 256 * 1024,
  /** Told to be on the disk in portions of this, beside the thread: left to the kernel, the files of many mails reach it in one
   *  rush, half a minute later, and the next commit of the store waits behind all of it. */
  settleBytes: 4 * 2 ** 20,
  /** Of what became of large mails, between two collections. */
  looseBytes: 48 * 2 ** 20,
  /** In its file, for memory: half of the ten minutes that a client has for the answer to its dot (RFC 5321 §4.5.3.2.6). */
  patienceMs: 300_000,
}

/** Folder, and how many bytes of whole mails may be in memory at once, as far as the process has it → a Spool. Mails that are
 *  in no file may have a quarter of that again. They are never waited for: those that do not fit go to their files instead;
 *  and they never wait behind large ones.
 *  A file is unlinked as soon as it is open: whatever ends this process, nothing is left but what a crash between those
 *  two calls leaves, and that is removed by name at the next start. Two listeners may share the folder. */
export function createSpool(options: {
  dir: string
  memoryBytes: number
  mintName: () => string
  clock: Clock
  memory: Memory
}): Spool {
  const reading = createBodyRoom({
    totalBytes: options.memoryBytes,
    clock: options.clock,
    shareOf: () => Number.POSITIVE_INFINITY,
    beyond: (...bytes) => options.memory.enter('mail', ...bytes),
  })
  const collectAfter = createCollector(SPOOL.looseBytes, 'beside')
  const incoming = { freeBytes: Math.ceil(options.memoryBytes / 4) }
  return {
    prepare: async () => {
      await mkdir(options.dir, { recursive: true, mode: 0o700 })
      const names = await readdir(options.dir)
      await Promise.all(
        names.filter((name) => NAME.test(name)).map((name) => rm(join(options.dir, name), { force: true })),
      )
    },
    begin: () =>
      createSpooledMail(
        () => openUnlinked(join(options.dir, `mail-${options.mintName()}.part`)),
        reading,
        incoming,
        collectAfter,
      ),
  }
}

const NAME = /^mail-[0-9a-f]{32}\.part$/

function createSpooledMail(
  openFile: () => Promise<FileHandle>,
  reading: BodyRoom,
  incoming: { freeBytes: number },
  collectAfter: (bytes: number) => void,
): SpooledMail {
  const memory = createBlocks()
  let inFileBytes = 0
  let settledBytes = 0
  let file: FileHandle | null = null
  let heldBytes = 0 // of those coming in
  let releaseReading = () => {}
  const discarded = new AbortController()
  let garbageBytes = 0 // that nobody needs any more when the mail is discarded

  const fitsInMemory = (): boolean => {
    if (file !== null || memory.sizeBytes() > SPOOL.memoryBytes) return false
    const more = memory.takenBytes() - heldBytes
    if (more > incoming.freeBytes) return false
    incoming.freeBytes -= more
    heldBytes += more
    return true
  }

  const append = async (open: FileHandle, bytes: Uint8Array) => {
    await writeAll(open, bytes, inFileBytes)
    inFileBytes += bytes.length
    free(bytes)
    if (inFileBytes - settledBytes < SPOOL.settleBytes) return
    settledBytes = inFileBytes
    await open.datasync()
  }

  const flush = async () => {
    file ??= await openFile()
    if (memory.sizeBytes() === 0) return file
    const bytes = memory.takeOut()
    await append(file, bytes)
    releaseMemory()
    return file
  }

  const releaseMemory = () => {
    incoming.freeBytes += heldBytes
    heldBytes = 0
    releaseReading()
    releaseReading = () => {}
  }

  const open = async () => {
    const { signal } = discarded
    if (signal.aborted) throw discardedError()
    if (file === null) return memory.takeOut()
    const from = await flush()
    const release = await reading.enter('', inFileBytes, SPOOL.patienceMs, signal)
    if (release !== null) releaseReading = release
    if (signal.aborted) {
      releaseMemory()
      throw discardedError()
    }
    if (release === null) throw REPLIES.noMemory
    garbageBytes = inFileBytes // as what it becomes
    const read = () => {
      garbageBytes += inFileBytes
      return readAll(from, inFileBytes)
    }
    return { fd: from.fd, byteLength: inFileBytes, read }
  }

  return {
    write: async (piece) => {
      if (file !== null && piece.length >= BLOCK_BYTES) {
        await flush()
        return append(file, piece) // large mails come in large pieces: not copied once more
      }
      memory.append(piece)
      if (fitsInMemory() || (file !== null && memory.sizeBytes() < SPOOL.writeBytes)) return
      await flush()
    },
    read: async () => {
      const placed = await open()
      return placed instanceof Uint8Array ? placed : placed.read()
    },
    open,
    discard: async () => {
      discarded.abort()
      const open = file
      file = null
      await open?.close().catch(() => {}) // it has no name and nothing is to be kept
      memory.takeOut()
      collectAfter(garbageBytes)
      garbageBytes = 0
      releaseMemory()
    },
  }
}

const discardedError = () => new Error('a spooled mail was read after it had been given up')

/** Nobody looks at a piece that is in the file, so what it took is there for the next one at once: left to the collector,
 *  a hundred mails of 25 MB pile up 200 MB, or hold the thread again and again. Only what has a buffer of its own; the
 *  shared ones are small. */
function free({ buffer, byteLength }: Uint8Array): void {
  const ownsBuffer = byteLength >= BLOCK_BYTES && buffer.byteLength - byteLength <= MAX_SHARED_BYTES
  if (ownsBuffer && buffer instanceof ArrayBuffer) buffer.transfer(0)
}

/** Of a buffer, besides what it was cut to: the end of the mail. */
const MAX_SHARED_BYTES = 16

async function openUnlinked(path: string): Promise<FileHandle> {
  const file = await open(path, 'wx+', 0o600)
  await unlink(path).catch(() => {}) // gone already, or it goes at the next start
  return file
}

async function writeAll(file: FileHandle, bytes: Uint8Array, position: number): Promise<void> {
  for (let at = 0; at < bytes.length; ) {
    at += (await file.write(bytes, at, bytes.length - at, position + at)).bytesWritten
  }
}

async function readAll(file: FileHandle, sizeBytes: number): Promise<Uint8Array<ArrayBuffer>> {
  const whole = new Uint8Array(sizeBytes)
  for (let at = 0; at < sizeBytes; ) {
    const { bytesRead } = await file.read(whole, at, sizeBytes - at, at)
    if (bytesRead === 0) throw new Error(`a spooled mail of ${sizeBytes} bytes ends after ${at}`)
    at += bytesRead
  }
  return whole
}

import type { FileHandle } from 'node:fs/promises'
import { mkdir, open, readdir, rm, unlink } from 'node:fs/promises'
import { join } from 'node:path'
import { createMemoryBudget, type MemoryBudget } from '../../net/limiters/memory-budget.ts'
import type { Clock } from '../../os/clock.ts'
import { createGcTrigger } from '../../os/gc-trigger.ts'
import type { Memory } from '../../os/memory.ts'
import { BLOCK_BYTES, createBlocks } from './blocks.ts'
import { REPLIES } from './replies.ts'
import type { FiledMail } from './session.ts'

/** Holds mail between its last byte and its reader. */
export interface Spool {
  /** Creates the folder and removes files left by a crash. Rejects when the folder cannot be created. */
  prepare(): Promise<void>
  begin(): SpooledMail
}

/** One incoming mail. Calls must not overlap. */
export interface SpooledMail {
  /** Stores the piece, whose buffer may be detached afterwards. Resolves when the next piece may come. Rejects with a
   *  disk error (ENOSPC …); then only call discard. */
  write(piece: Uint8Array): Promise<void>
  /** The complete mail in its own memory, once. Spooled mail waits for memory. Rejects like write, and with 452 when no
   *  memory was free for five minutes. */
  read(): Promise<Uint8Array<ArrayBuffer>>
  /** Use it instead of `read` when another thread loads the mail: a spooled mail stays in its file, but waits for
   *  memory as well. Rejects like read. */
  open(): Promise<Uint8Array<ArrayBuffer> | FiledMail>
  /** Releases file and memory, before or after read. Never rejects. */
  discard(): Promise<void>
}

const SPOOL = {
  /** Larger mail goes to a file, as does smaller mail when many arrive at once. */
  memoryBytes: 2 ** 20,
  /** Minimum write size: dot-stuffed mail arrives in tiny pieces. */
  writeBytes: 256 * 1024,
  /** Synced to disk after this many bytes, off the main thread. Otherwise the kernel writes the files of many mails at
   *  once, half a minute later, and delays the next commit of the store. */
  settleBytes: 4 * 2 ** 20,
  /** Garbage from large mail between two collections, in bytes. */
  looseBytes: 48 * 2 ** 20,
  /** Maximum wait for memory: half of the ten minutes that a client waits after its final dot (RFC 5321 §4.5.3.2.6). */
  patienceMs: 300_000,
}

/** Creates a Spool from a folder and a memory limit in bytes. Mail that has no file may use a further quarter of the
 *  limit. It never waits: mail that does not fit goes to a file, and it never queues behind large mail. A file is
 *  unlinked as soon as it is open, so a process that ends leaves nothing behind. A crash between the two calls leaves a
 *  named file, which the next start removes. Two listeners may share the folder. */
export function createSpool(options: {
  dir: string
  memoryBytes: number
  mintName: () => string
  clock: Clock
  memory: Memory
}): Spool {
  const reading = createMemoryBudget({
    totalBytes: options.memoryBytes,
    clock: options.clock,
    shareOf: () => Number.POSITIVE_INFINITY,
    beyond: (...bytes) => options.memory.enter('mail', ...bytes),
  })
  const collectAfter = createGcTrigger(SPOOL.looseBytes, 'beside')
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
  reading: MemoryBudget,
  incoming: { freeBytes: number },
  collectAfter: (bytes: number) => void,
): SpooledMail {
  const memory = createBlocks()
  let inFileBytes = 0
  let settledBytes = 0
  let file: FileHandle | null = null
  let heldBytes = 0 // memory held while the mail arrives
  let releaseReading = () => {}
  const discarded = new AbortController()
  let garbageBytes = 0 // unreachable once the mail is discarded

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
    const release = await reading.reserve('', inFileBytes, SPOOL.patienceMs, signal)
    if (release !== null) releaseReading = release
    if (signal.aborted) {
      releaseMemory()
      throw discardedError()
    }
    if (release === null) throw REPLIES.noMemory
    garbageBytes = inFileBytes // its parsed form has about the same size
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
        return append(file, piece) // large mail arrives in large pieces: no second copy
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
      await open?.close().catch(() => {}) // the file has no name and its content is not needed
      memory.takeOut()
      collectAfter(garbageBytes)
      garbageBytes = 0
      releaseMemory()
    },
  }
}

const discardedError = () => new Error('a spooled message was read after it was discarded')

/** Detaches the buffer of a written piece, so that its memory is free at once. Left to the garbage collector, a hundred
 *  mails of 25 MB pile up 200 MB or pause the thread repeatedly. Applies only to pieces with their own buffer; shared
 *  buffers are small. */
function free({ buffer, byteLength }: Uint8Array): void {
  const ownsBuffer = byteLength >= BLOCK_BYTES && buffer.byteLength - byteLength <= MAX_SHARED_BYTES
  if (ownsBuffer && buffer instanceof ArrayBuffer) buffer.transfer(0)
}

/** Bytes that a buffer may have beyond its piece: the end of the mail. */
const MAX_SHARED_BYTES = 16

async function openUnlinked(path: string): Promise<FileHandle> {
  const file = await open(path, 'wx+', 0o600)
  await unlink(path).catch(() => {}) // already removed, or the next start removes it
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
    if (bytesRead === 0) throw new Error(`a spooled message of ${sizeBytes} bytes ends after ${at}`)
    at += bytesRead
  }
  return whole
}

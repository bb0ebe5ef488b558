import { closeSync, ftruncateSync, mkdirSync, openSync, readdirSync, readFileSync, rmSync, writeSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { Attempt, Outcome } from '../../model/delivery.ts'
import { systemRandom } from '../../os/random.ts'

/** The mails of one thread that a server has taken and the store does not know of yet. Each is noted in a file as soon as
 *  its 250 is heard, so that a process that dies between the two has not forgotten it (record-delivered.ts). Nothing is synced: a
 *  note outlives the process, and a power cut only by chance. */
export interface DeliveredJournal {
  /** Whether it stands there now; false when it is too long or the disk refuses. */
  note(note: Note): boolean
  /** The store knows of these. A file that is without notes for a while is made empty: nobody's address stays behind. */
  forget(deliveryIds: readonly string[]): void
  /** Leaves nothing behind but notes that still count. */
  close(): void
}

/** What is needed to record a delivery. */
export interface Note {
  deliveryId: string
  outcome: Extract<Outcome, { kind: 'delivered' }>
  attempt: Attempt
}

export const journalFolder = (dataDir: string) => join(dataDir, 'taken')

/** Folder and the name of this process in leases → Taken, without a file before the first note. A note has a place of 4 KiB,
 *  which a later one takes over, the one that is free for longest first: the file is as large as most were ever open at once,
 *  a note is one short write, and an address stands there no longer than some mails more. */
export function createDeliveredJournal(folder: string, worker: string, quietMs = QUIET_MS): DeliveredJournal {
  return createDeliveredJournalAt(journalPath(folder, worker), quietMs)
}

/** A new name in the folder. */
export const journalPath = (folder: string, worker: string) =>
  join(folder, `${worker}.${Buffer.from(systemRandom.bytes(8)).toString('hex')}`)

/** The same, in the file `path`. */
export function createDeliveredJournalAt(path: string, quietMs = QUIET_MS): DeliveredJournal {
  const places = new Map<string, number>()
  const bytes = Buffer.alloc(PLACE_BYTES)
  let free: number[] = []
  let end = 0
  let file: number | null = null
  let emptying: ReturnType<typeof setTimeout> | null = null

  const empty = () => {
    emptying = null
    if (places.size > 0 || file === null) return
    try {
      ftruncateSync(file)
    } catch {
      return // after the next mails
    }
    free = []
    end = 0
  }

  return {
    note(note) {
      const length = frame(note, bytes)
      if (length === null) return false
      const place = free.shift() ?? end++
      try {
        file ??= opened(path)
        writeSync(file, bytes, 0, length, place * PLACE_BYTES)
      } catch {
        free.push(place)
        return false
      }
      places.set(note.deliveryId, place)
      return true
    },
    forget(deliveryIds) {
      for (const id of deliveryIds) {
        const place = places.get(id)
        if (place === undefined) continue
        places.delete(id)
        free.push(place)
      }
      if (places.size === 0 && end > 0) emptying ??= setTimeout(empty, quietMs)
    },
    close() {
      if (emptying !== null) clearTimeout(emptying)
      if (file === null) return
      closeSync(file)
      if (places.size === 0) rmSync(path, { force: true })
      file = null
    },
  }
}

/** One such file, of a thread that has ended → its notes, also those that no longer count; [] when there is none. Throws the
 *  error of the disk. */
export function notesAt(path: string): Note[] {
  try {
    return notesIn(readFileSync(path))
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return []
    throw error
  }
}

/** Removes the file of a thread that has ended. One that stays is read at the next start, and changes nothing then. */
export function removeNotes(path: string): void {
  try {
    rmSync(path, { force: true })
  } catch {}
}

/** A folder of such files → of each its notes, and by whom: those that no longer count are among them, those that were torn
 *  are not. [] when there is no folder. What cannot be read, a file or the folder, `failed` hears of; it throws unless told. */
export function readJournals(
  folder: string,
  failed: (path: string, error: unknown) => void = (_, error) => {
    throw error
  },
): { path: string; worker: string; notes: Note[] }[] {
  const reading = <T>(path: string, read: () => T[]): T[] => {
    try {
      return read()
    } catch (error) {
      failed(path, error)
      return []
    }
  }
  return reading(folder, () => namesIn(folder)).flatMap((name) => {
    const path = join(folder, name)
    const worker = name.slice(0, name.lastIndexOf('.'))
    return reading(path, () => [{ path, worker, notes: notesIn(readFileSync(path)) }])
  })
}

const PLACE_BYTES = 4096
/** Without a note for so long a file is made empty. */
const QUIET_MS = 1_000
/** CRC-32 and length of what follows. */
const HEAD_BYTES = 8

function opened(path: string): number {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
  return openSync(path, 'w', 0o600)
}

/** Puts a note into `bytes` as it stands in its place → its length there; one with too long a transcript goes without. Null
 *  when even that is too long. */
function frame({ deliveryId, outcome, attempt }: Note, bytes: Buffer): number | null {
  const text = JSON.stringify({ deliveryId, outcome, attempt })
  const length = Buffer.byteLength(text)
  if (length + HEAD_BYTES > PLACE_BYTES) {
    return attempt.transcript === ''
      ? null
      : frame({ deliveryId, outcome, attempt: { ...attempt, transcript: '' } }, bytes)
  }
  bytes.write(text, HEAD_BYTES)
  bytes.writeUInt32BE(Bun.hash.crc32(bytes.subarray(HEAD_BYTES, HEAD_BYTES + length)))
  bytes.writeUInt32BE(length, 4)
  return HEAD_BYTES + length
}

function notesIn(file: Buffer): Note[] {
  const notes: Note[] = []
  for (let at = 0; at + HEAD_BYTES < file.length; at += PLACE_BYTES) {
    const from = at + HEAD_BYTES
    const bytes = file.subarray(from, from + file.readUInt32BE(at + 4))
    if (bytes.length > 0 && Bun.hash.crc32(bytes) === file.readUInt32BE(at)) notes.push(JSON.parse(bytes.toString()))
  }
  return notes
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return []
    throw error
  }
}

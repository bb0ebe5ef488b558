import { closeSync, ftruncateSync, mkdirSync, openSync, readdirSync, readFileSync, rmSync, writeSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { Attempt, Outcome } from '../../../model/delivery.ts'
import { systemRandom } from '../../../os/random.ts'
import { errorCode } from '../../../os/thrown.ts'

/** Mails of one thread that a server has accepted and the store does not have yet. Each is written to a file as soon as
 *  its 250 arrives, so that a process that dies in between does not send it again (record-delivered.ts). The file is
 *  not synced: a note survives the process, but not always a power cut. */
export interface DeliveredJournal {
  /** Writes a note; false when it is too long or the disk fails. */
  note(note: Note): boolean
  /** The store has these deliveries. A file without notes is emptied after a while, so that it keeps no addresses. */
  settle(deliveryIds: readonly string[]): void
  /** Closes the file and removes it, unless notes remain. */
  close(): void
}

/** The data needed to record a delivery. */
export interface Note {
  deliveryId: string
  outcome: Extract<Outcome, { kind: 'delivered' }>
  attempt: Attempt
}

export const journalFolder = (dataDir: string) => join(dataDir, 'taken')

/** Folder, and name of this process → a new path for a journal. */
export const journalPath = (folder: string, worker: string) =>
  join(folder, `${worker}.${Buffer.from(systemRandom.bytes(8)).toString('hex')}`)

/** A journal at `path`; its file is created with the first note. A note takes a slot of 4 KiB, and a later note reuses
 *  the slot that is free longest. So the file never exceeds the maximum of open notes, a note is one short write, and an
 *  address is overwritten after some mails. */
export function createDeliveredJournal(path: string, quietMs = QUIET_MS): DeliveredJournal {
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
      return // tried again after the next mails
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
    settle(deliveryIds) {
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

/** Journal of an ended thread → its notes, including settled ones; [] without a file. Throws a disk error. */
export function notesAt(path: string): Note[] {
  try {
    return notesIn(readFileSync(path))
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return []
    throw error
  }
}

/** Removes the journal of an ended thread. A file that remains is read at the next start without effect. */
export function removeNotes(path: string): void {
  try {
    rmSync(path, { force: true })
  } catch {}
}

/** Folder → the notes of each journal with its worker name, including settled notes, without torn ones; [] without a
 *  folder. Calls `failed` for a file or folder that cannot be read; by default it throws. */
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
/** A file without notes is emptied after this time. */
const QUIET_MS = 1_000
/** CRC-32 and length of the note. */
const HEAD_BYTES = 8

function opened(path: string): number {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
  return openSync(path, 'w', 0o600)
}

/** Writes a note into `bytes` in its stored form → its length. Drops a transcript that does not fit. Null when the note
 *  is too long even then. */
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
    if (errorCode(error) === 'ENOENT') return []
    throw error
  }
}

import { existsSync, readFileSync } from 'node:fs'

/** Checks a closed database before SQLite opens it and silently ignores what it cannot read: SQLite reads a log up
 *  to the first frame with a wrong checksum and drops the rest. That is right for a commit interrupted by a power
 *  cut, but loses mail in any other case.
 *
 *  The log's index says how many frames were committed when the process died: exactly after a kill, and never too
 *  many after a power cut, since it is written after the fsync of the log. sqlite.org/fileformat2.html#walformat,
 *  sqlite.org/walformat.html */
export type LogState =
  | { kind: 'none' }
  /** `tornBytes`: bytes behind the last commit, from a change that was never acknowledged. */
  | { kind: 'sound'; tornBytes: number }
  | { kind: 'damaged'; what: string }

const LOG_HEADER = 32
const FRAME_HEADER = 24
const INDEX_HEADER = 136
const MAGIC = 0x377f0682 // the lowest bit: checksums are of big-endian words

/** How often the files are read beside a process that changes them. */
const MOST_READS = 100

/** Database file → the state of its log. Throws what reading throws.
 *
 *  A process that uses the database may begin the log anew while it is read: then what was read is the old beginning
 *  and new frames, which looks damaged. It changes the index first, so damage counts only if the index stayed the
 *  same. */
export function readLogState(database: string): LogState {
  const index = `${database}-shm`
  for (let reads = 1; ; reads++) {
    const before = headOf(index)
    const state = stateOf(database, readIndex(before))
    if (state.kind !== 'damaged' || headOf(index).equals(before) || reads === MOST_READS) return state
  }
}

function stateOf(database: string, index: Index | null): LogState {
  const file = `${database}-wal`
  const log = existsSync(file) ? readFileSync(file) : null
  if (log === null || log.length < LOG_HEADER || isBlank(log.subarray(0, LOG_HEADER))) {
    // The database file already contained all of it when the process died.
    if (index === null || index.frames <= index.copied) return { kind: 'none' }
    return { kind: 'damaged', what: `${file} is ${log === null ? 'missing' : 'empty'}, changes are lost` }
  }
  const found = readFrames(log)
  if (found === null) return { kind: 'damaged', what: `${file} does not start with a log header` }
  const isOfThisLog = index !== null && index.salt === found.salt
  if (isOfThisLog && found.committed < index.frames) {
    return { kind: 'damaged', what: `${file} is readable only up to change ${found.committed} of ${index.frames}` }
  }
  // A power cut damages only the last change: the one before was on disk before it began.
  if (!isOfThisLog && found.commitsBehind > 1) {
    return { kind: 'damaged', what: `${file} is damaged after change ${found.committed}, and complete changes follow` }
  }
  return { kind: 'sound', tornBytes: found.ownBytes - LOG_HEADER - found.committed * found.frameBytes }
}

/** Log → the number of committed frames, and what follows them in the same log; null if its header is invalid. */
function readFrames(log: Buffer) {
  const isBigEndian = (log.readUInt32BE(0) & 1) === 1
  const pageBytes = log.readUInt32BE(8)
  const header = checksum(log, 0, 24, [0, 0], isBigEndian)
  const isHeader = (log.readUInt32BE(0) & ~1) >>> 0 === MAGIC && isSum(header, log, 24) && pageBytes >= 512
  if (!isHeader) return null
  const salt = log.toString('hex', 16, 24)
  const frameBytes = FRAME_HEADER + pageBytes
  const found = { salt, frameBytes, committed: 0, commitsBehind: 0, ownBytes: LOG_HEADER }
  let sum: Sum | null = header
  for (let frame = 1, at = LOG_HEADER; at + frameBytes <= log.length; frame++, at += frameBytes) {
    if (log.toString('hex', at + 8, at + 16) !== salt) {
      sum = null // from an earlier log, whose space this one reuses; or damaged
      continue
    }
    found.ownBytes = at + frameBytes
    const isCommit = log.readUInt32BE(at + 4) !== 0
    if (sum !== null) {
      sum = checksum(log, at, at + 8, sum, isBigEndian)
      sum = checksum(log, at + FRAME_HEADER, at + frameBytes, sum, isBigEndian)
      if (!isSum(sum, log, at + 16)) sum = null
    }
    if (sum !== null && isCommit) found.committed = frame
    if (sum === null && isCommit) found.commitsBehind++
  }
  return found
}

interface Index {
  /** That were committed. */
  frames: number
  /** How many of them are in the database file. */
  copied: number
  /** Names the log it belongs to. */
  salt: string
}

/** The header of an index file; shorter or empty if the file is. */
function headOf(file: string): Buffer {
  return existsSync(file) ? readFileSync(file).subarray(0, INDEX_HEADER) : Buffer.alloc(0)
}

/** Header of a log's index → what it says; null if it is missing or not credible. Its numbers are in machine order,
 *  which is little-endian wherever this program runs. */
function readIndex(head: Buffer): Index | null {
  if (head.length < INDEX_HEADER) return null
  const isTwice = head.subarray(0, 48).equals(head.subarray(48, 96))
  const isSound = isTwice && head[12] === 1 && isLittleSum(checksum(head, 0, 40, [0, 0], false), head)
  if (!isSound) return null
  return { frames: head.readUInt32LE(16), copied: head.readUInt32LE(96), salt: head.toString('hex', 32, 40) }
}

type Sum = [number, number]

function checksum(bytes: Buffer, from: number, to: number, [a, b]: Sum, isBigEndian: boolean): Sum {
  for (let at = from; at < to; at += 8) {
    a = (a + b + (isBigEndian ? bytes.readUInt32BE(at) : bytes.readUInt32LE(at))) >>> 0
    b = (a + b + (isBigEndian ? bytes.readUInt32BE(at + 4) : bytes.readUInt32LE(at + 4))) >>> 0
  }
  return [a, b]
}

const isSum = ([a, b]: Sum, bytes: Buffer, at: number) =>
  bytes.readUInt32BE(at) === a && bytes.readUInt32BE(at + 4) === b
const isLittleSum = ([a, b]: Sum, head: Buffer) => head.readUInt32LE(40) === a && head.readUInt32LE(44) === b
const isBlank = (bytes: Buffer) => bytes.every((byte) => byte === 0)

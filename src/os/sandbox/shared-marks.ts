import { FFIType, toArrayBuffer } from 'bun:ffi'
import { openLibc } from '../libc.ts'
import type { MarkMessage } from '../work-board.ts'

/** The progress marks of a child (work-board.ts) in shared memory: as messages they took a third of the cost of a
 *  small mail. The parent polls them on a timer and passes them on as the equivalent messages. It trusts only two
 *  numbers from the child. */
export interface SharedMarks {
  /** Descriptor to pass to the child. */
  readonly fd: number
  /** Starts polling. Calls `onMark` for each new mark. */
  watch(onMark: (message: MarkMessage) => void): void
  /** Releases memory and descriptor. Repeated calls are harmless. */
  stop(): void
}

/** Parent side. Throws if the kernel has no such files. memfd_create(2) */
export function createSharedMarks(): SharedMarks {
  const libc = calls()
  const name = Buffer.alloc(8192) // an empty name
  const fd = libc.memfd_create(name, MFD_CLOEXEC)
  if (fd < 0 || libc.ftruncate(fd, BYTES) !== 0) throw new Error('cannot create shared memory')
  const { cells, address } = mapped(fd)
  let timer: ReturnType<typeof setInterval> | null = null
  let isStopped = false
  return {
    fd,
    watch: (onMark) => {
      let seen = 0
      timer = setInterval(() => {
        const beat = Atomics.load(cells, BEAT)
        if (beat === seen) return
        seen = beat
        const job = Atomics.load(cells, JOB)
        onMark(job > 0 ? { kind: 'at_work', job } : { kind: 'beat' })
      }, LOOK_MS)
      timer.unref()
    },
    stop: () => {
      if (isStopped) return
      isStopped = true
      if (timer !== null) clearInterval(timer)
      libc.munmap(address, BYTES)
      libc.close(fd)
    },
  }
}

/** Passed descriptor → the function with which the child writes its marks, without a system call for each. */
export function openSharedMarks(fd: number): (message: MarkMessage) => void {
  const { cells } = mapped(fd)
  calls().close(fd)
  return (message) => {
    Atomics.store(cells, JOB, message.kind === 'at_work' ? message.job : 0)
    Atomics.add(cells, BEAT, 1)
  }
}

function mapped(fd: number): { cells: Int32Array; address: number } {
  const address = Number(calls().mmap(null, BYTES, PROT_READ_WRITE, MAP_SHARED, fd, 0))
  if (address <= 0) throw new Error('cannot map shared memory')
  return { cells: new Int32Array(toArrayBuffer(address as never, 0, BYTES)), address }
}

let opened: ReturnType<typeof load> | null = null
const calls = () => {
  opened ??= load()
  return opened
}

function load() {
  const { i32, i64, u64, ptr } = FFIType
  return openLibc({
    memfd_create: { args: [ptr, i32], returns: i32 },
    ftruncate: { args: [i32, i64], returns: i32 },
    mmap: { args: [ptr, u64, i32, i32, i32, i64], returns: i64 },
    munmap: { args: [u64, u64], returns: i32 },
    close: { args: [i32], returns: i32 },
  }).symbols
}

const BEAT = 0
const JOB = 1
const BYTES = 4_096
const MFD_CLOEXEC = 1
const PROT_READ_WRITE = 3
const MAP_SHARED = 1
/** Twice as often as the supervisor reads. */
const LOOK_MS = 25

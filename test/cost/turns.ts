import { appendFileSync, openSync, readSync } from 'node:fs'

/** Loaded into the built program before its main module (BUN_OPTIONS). Measures the CPU time of the main thread between
 *  two turns of its event loop, and appends each piece of PIECE_MS or more to the file TURNS_FILE, in ms, one a line.
 *
 *  CPU time excludes other programs of the machine; schedstat has it for a thread (proc(5)). A timer that is due every
 *  millisecond marks the turns, so that short turns within a millisecond count as one. */

const PIECE_MS = 5
const EVERY_MS = 1

function measureTurns(file: string): void {
  const schedstat = openSync(`/proc/self/task/${process.pid}/schedstat`, 'r')
  const text = Buffer.alloc(128)
  const cpuMs = () => {
    const length = readSync(schedstat, text, 0, text.length, 0)
    return Number(text.toString('latin1', 0, length).split(' ')[0]) / 1e6
  }
  let last = cpuMs()
  const timer = setInterval(() => {
    const pieceMs = cpuMs() - last
    if (pieceMs >= PIECE_MS) appendFileSync(file, `${pieceMs}\n`)
    last = cpuMs()
  }, EVERY_MS)
  timer.unref()
}

const { TURNS_FILE } = process.env
if (Bun.isMainThread && TURNS_FILE !== undefined && process.argv.includes('serve')) measureTurns(TURNS_FILE)

import { execFileSync } from 'node:child_process'
import { statSync } from 'node:fs'
import type { Figure } from './figures.ts'
import type { Part } from './part.ts'
import { sleep } from './process.ts'
import { openServer } from './server.ts'

/** The size of the file, the start time, and the memory of an idle server. */
export const footprint: Part = {
  name: 'footprint',
  measure: async ({ scratch, round, note }, binary) => {
    if (round === 0) {
      note(binary, BINARY, statSync(binary.file).size / 1e6)
      note(binary, COMPRESSED, compressedBytes(binary.file) / 1e6)
    }
    const server = await openServer(binary.file, { scratch, isOpen: true })
    note(binary, READY, server.readyMs)
    await sleep(5_000)
    note(binary, IDLE, server.residentMb())
    await server.stop()
  },
}

function compressedBytes(file: string): number {
  return Number(execFileSync('sh', ['-c', 'xz -6 -T1 -c "$0" | wc -c', file], { encoding: 'utf8' }))
}

const BINARY: Figure = { what: 'the executable', unit: 'MB' }
const COMPRESSED: Figure = { what: 'the executable, compressed by xz -6', unit: 'MB' }
const READY: Figure = { what: 'start to ready', unit: 'ms', goal: { atMost: 300 } }
const IDLE: Figure = { what: 'memory, idle', unit: 'MB', goal: { atMost: 150 } }

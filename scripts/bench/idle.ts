import { statSync } from 'node:fs'
import type { Figure } from './figures.ts'
import type { Part } from './part.ts'
import { sleep } from './process.ts'
import { openServer } from './server.ts'

/** The start time and the memory of an idle server, and the size of the executable. */
export const idle: Part = {
  name: 'idle',
  measure: async ({ scratch, note }, binary) => {
    const server = await openServer(binary.file, { scratch, isOpen: true })
    note(binary, READY, server.readyMs)
    await sleep(5_000)
    note(binary, MEMORY, server.residentMb())
    note(binary, EXECUTABLE, statSync(binary.file).size / 1e6)
    await server.stop()
  },
}

const READY: Figure = { what: 'start to ready', unit: 'ms', goal: { atMost: 300 } }
const MEMORY: Figure = { what: 'memory, idle', unit: 'MB', goal: { atMost: 150 } }
const EXECUTABLE: Figure = { what: 'the executable', unit: 'MB' }

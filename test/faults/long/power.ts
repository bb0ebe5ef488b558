import { cpSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { until } from '../../support/patience.ts'
import { exitOf, makeTestInstallation, NeverReady } from '../setup.ts'
import { readStore, startClients } from './books.ts'
import { RECORDED, readRecord, type Step } from './disk-record.ts'
import { type Fault, missingFrom, unless } from './fault.ts'
import { record } from './strace.ts'

const CLIENTS = 8
const RECORD_MS = 2_500
const SECTOR = 512

/** On a busy machine they take longer than the time that is usually enough. */
const LEAST_MESSAGES = 50

/** A power loss: data written but not synced is on disk, or not, or in part. The program runs once under strace,
 *  which records all its file operations. Then its disk is rebuilt as it may have been at any moment, and a new
 *  program starts on it. Names of files count as on disk at once, as with a journalling file system. */
export const power: Fault = {
  name: 'power',
  needs: ['strace'],
  rounds: { long: 20, short: 3 },
  run: async ({ rounds, program, scratch, note }) => {
    const installation = await makeTestInstallation({ program })
    try {
      const start = join(scratch, 'start')
      cpSync(installation.dataDir, start, { recursive: true })
      const log = join(scratch, 'record')
      const recorded = await installation.serve(record(RECORDED, log))
      const clients = startClients(installation, { run: 'power', count: CLIENTS, patient: false })
      await Bun.sleep(RECORD_MS)
      await until('some messages', () => clients.promised.size >= LEAST_MESSAGES)
      recorded.kill('SIGKILL')
      await exitOf(recorded)
      await clients.stop()
      await Bun.sleep(200) // strace ends behind it
      const steps = readRecord(log, installation.dataDir)
      const syncs = steps.filter(({ kind }) => kind === 'sync').length

      const broken: string[] = []
      let reported = 0
      let lost = 0
      for (let round = 0; round < rounds; round++) {
        const cut = Math.floor(steps.length * (0.1 + 0.9 * Math.random()))
        const disk = diskAt(steps.slice(0, cut), start, installation.dataDir)
        rmSync(installation.dataDir, { recursive: true })
        cpSync(start, installation.dataDir, { recursive: true })
        writeDisk(disk, installation.dataDir)
        const ids = steps.slice(0, cut).flatMap((step) => (step.kind === 'promised' ? step.ids : []))
        reported += ids.length
        try {
          const server = await installation.serve()
          server.kill('SIGTERM')
          await exitOf(server)
        } catch (error) {
          if (!(error instanceof NeverReady)) throw error
          broken.push(`cut ${cut}: did not start: ${error.message.trim()}`)
          continue
        }
        const { integrity, ids: kept } = readStore(installation.dataDir)
        const gone = missingFrom(ids, kept).length
        lost += gone
        broken.push(...unless(gone === 0, `cut ${cut}: ${gone} of ${ids.length} acknowledged messages are gone`))
        broken.push(...unless(integrity === 'ok', `cut ${cut}: integrity: ${integrity}`))
      }
      note(`${steps.length} steps on the disk, ${syncs} of them fsync`)
      return {
        figures: `${rounds} power losses, ${reported} acknowledged before them, ${lost} lost`,
        broken: [...broken, ...unless(reported > 0, 'nothing was acknowledged: nothing was tested')],
      }
    } finally {
      await installation.close()
    }
  },
}

/** Steps → the files as a disk may have them after a power loss behind the last step: everything synced, and of the
 *  rest, by chance, nothing, everything or some sectors. */
function diskAt(steps: readonly Step[], start: string, folder: string): Map<string, Buffer> {
  const disk = new Map<string, Buffer>()
  const waiting = new Map<string, Step[]>()
  const contentOf = (file: string): Buffer => {
    const known = disk.get(file)
    if (known !== undefined) return known
    const before = join(start, relative(folder, file))
    return existsSync(before) ? readFileSync(before) : Buffer.alloc(0)
  }
  for (const step of steps) {
    if (step.kind === 'write' || step.kind === 'truncate') {
      waiting.set(step.file, [...(waiting.get(step.file) ?? []), step])
    } else if (step.kind === 'sync') {
      for (const each of waiting.get(step.file) ?? []) disk.set(step.file, apply(contentOf(step.file), each))
      waiting.delete(step.file)
    } else if (step.kind === 'unlink') {
      disk.set(step.file, GONE)
      waiting.delete(step.file)
    } else if (step.kind === 'rename') {
      disk.set(step.to, contentOf(step.from))
      disk.set(step.from, GONE)
    }
  }
  for (const [file, left] of waiting) {
    for (const step of left) {
      const chance = Math.random()
      if (chance < 0.4) continue
      disk.set(file, apply(contentOf(file), chance < 0.8 ? step : torn(step)))
    }
  }
  return disk
}

/** Of a file whose name was removed. */
const GONE = Buffer.alloc(0)

function apply(content: Buffer, step: Step): Buffer {
  if (step.kind === 'truncate') {
    const cut = Buffer.alloc(step.size)
    content.copy(cut)
    return cut
  }
  if (step.kind !== 'write') return content
  const end = step.at + step.bytes.length
  const grown =
    end > content.length ? Buffer.concat([content, Buffer.alloc(end - content.length)]) : Buffer.from(content)
  step.bytes.copy(grown, step.at)
  return grown
}

/** A write of which only the first sectors reached the disk. */
function torn(step: Step): Step {
  if (step.kind !== 'write') return step
  const sectors = Math.ceil(step.bytes.length / SECTOR)
  return { ...step, bytes: step.bytes.subarray(0, Math.floor(Math.random() * sectors) * SECTOR) }
}

function writeDisk(disk: Map<string, Buffer>, folder: string): void {
  mkdirSync(folder, { recursive: true })
  for (const [file, content] of disk) {
    // The index of the log is shared memory, which is never synced.
    if (content === GONE || file.endsWith('-shm')) rmSync(file, { force: true })
    else {
      mkdirSync(dirname(file), { recursive: true, mode: 0o700 })
      writeFileSync(file, content, { mode: 0o600 })
    }
  }
}

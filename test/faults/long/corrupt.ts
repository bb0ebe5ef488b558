import { cpSync, existsSync, readFileSync, rmSync, statSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { connect } from '../../../src/storage/sqlite/driver.ts'
import { until } from '../../support/patience.ts'
import { exitOf, makeTestInstallation, NeverReady } from '../setup.ts'
import { startClients } from './books.ts'
import { type Fault, unless } from './fault.ts'

const PAGE = 4096
type Damage = (dataDir: string) => void

/** On a busy machine they take longer than the time that is usually enough. */
const LEAST_MESSAGES = 50

/** Damage to the files of a killed program. The start must report it with advice, or it must do no harm: every
 *  message is unchanged. Not covered: removing log and index together, which looks like a clean shutdown, and
 *  changed bytes inside a stored text, because SQLite pages have no checksums. */
export const corrupt: Fault = {
  name: 'corrupt',
  needs: [],
  rounds: { long: 50, short: 12 },
  run: async ({ rounds, program, scratch, note }) => {
    const installation = await makeTestInstallation({ program, connections: 1 })
    try {
      const server = await installation.serve()
      const clients = startClients(installation, { run: 'old', count: 8, text: 'Hello '.repeat(200) })
      await Bun.sleep(2_500)
      await until('some messages', () => clients.promised.size >= LEAST_MESSAGES)
      await clients.stop()
      server.kill('SIGKILL')
      await exitOf(server)
      const whole = join(scratch, 'whole')
      cpSync(installation.dataDir, whole, { recursive: true })
      const before = contents(installation.dataDir, whole)
      const counts = { detected: 0, harmless: 0 }
      const broken: string[] = []
      for (let round = 0; round < rounds; round++) {
        const [name, damage] = VARIANTS[round % VARIANTS.length]!
        rmSync(installation.dataDir, { recursive: true })
        cpSync(whole, installation.dataDir, { recursive: true })
        damage(installation.dataDir)
        let verdict: string
        try {
          const again = await installation.serve()
          again.kill('SIGKILL')
          await exitOf(again)
          const isSame = contents(installation.dataDir, null) === before
          verdict = isSame ? 'harmless' : 'SILENT: messages are missing or changed'
          if (isSame) counts.harmless++
        } catch (error) {
          if (!(error instanceof NeverReady)) throw error
          const said = error.message.split('\n').find((line) => line.includes('data_dir')) ?? error.message
          const hasRemedy = error.exitCode !== 0 && /backup|restore|Run that version|postrider-?\w* /.test(said)
          verdict = hasRemedy ? `detected: ${said.split(`${installation.dataDir}/`).at(-1)}` : `NO REMEDY: ${said}`
          if (hasRemedy) counts.detected++
        }
        note(`${name.padEnd(34)} ${verdict.slice(0, 130)}`)
        broken.push(...unless(/^(detected|harmless)/.test(verdict), `${name}: ${verdict}`))
      }
      return { figures: `${rounds} variants: ${counts.detected} detected, ${counts.harmless} harmless`, broken }
    } finally {
      await installation.close()
    }
  },
}

/** The promised data as text: every message with its content, and every address with its content. `from` is restored
 *  afterwards, because reading merges the log into the file. */
function contents(dataDir: string, from: string | null): string {
  const db = connect(join(dataDir, 'postrider.db'), { busyTimeoutMs: 1_000 })
  try {
    const messages = db.prepare('select id, subject, created_at from messages order by id').all()
    const mails = db.prepare('select message_number, hex(content) from message_contents order by message_number').all()
    return JSON.stringify([messages, mails])
  } catch (error) {
    return `cannot be read: ${error}`
  } finally {
    db.close()
    if (from !== null) {
      rmSync(dataDir, { recursive: true })
      cpSync(from, dataDir, { recursive: true })
    }
  }
}

const database = (dataDir: string) => join(dataDir, 'postrider.db')
const log = (dataDir: string) => join(dataDir, 'postrider.db-wal')
const index = (dataDir: string) => join(dataDir, 'postrider.db-shm')

const flip =
  (fileOf: (dataDir: string) => string, at: (size: number) => number): Damage =>
  (dataDir) => {
    const bytes = readFileSync(fileOf(dataDir))
    bytes[Math.min(bytes.length - 1, Math.floor(at(bytes.length)))]! ^= 0xff
    writeFileSync(fileOf(dataDir), bytes)
  }
const cut =
  (fileOf: (dataDir: string) => string, share: number): Damage =>
  (dataDir) =>
    truncateSync(fileOf(dataDir), Math.floor(statSync(fileOf(dataDir)).size * share))
const remove =
  (...filesOf: ((dataDir: string) => string)[]): Damage =>
  (dataDir) => {
    for (const fileOf of filesOf) rmSync(fileOf(dataDir), { force: true })
  }
const garbage =
  (fileOf: (dataDir: string) => string): Damage =>
  (dataDir) =>
    writeFileSync(fileOf(dataDir), crypto.getRandomValues(new Uint8Array(Math.min(65_536, size(fileOf(dataDir))))))
const size = (file: string) => (existsSync(file) ? statSync(file).size : 4096)

/** The log is merged into the file first, as after a clean shutdown: then the file alone has everything. */
const settled =
  (damage: Damage): Damage =>
  (dataDir) => {
    connect(database(dataDir), { busyTimeoutMs: 1_000 }).close()
    damage(dataDir)
  }
/** Writes a byte into the header of the n-th page, which holds SQLite's page type. */
const flipPage = (page: number) => settled(flip(database, (bytes) => (page * PAGE < bytes ? page * PAGE : PAGE)))

const VARIANTS: [string, Damage][] = [
  ['byte of the header', flip(database, () => 5)],
  ['page size in the header', settled(flip(database, () => 16))],
  ['head of page 2', flipPage(1)],
  ['head of page 40', flipPage(39)],
  ['byte in the middle of the log', flip(log, (bytes) => bytes / 2)],
  ['byte in the head of the log', flip(log, () => 9)],
  ['log cut to 70 %', cut(log, 0.7)],
  ['log removed', remove(log)],
  ['log is garbage', garbage(log)],
  ['database cut to half', settled(cut(database, 0.5))],
  ['database is empty', settled((dataDir) => truncateSync(database(dataDir), 0))],
  ['index of the log removed', remove(index)],
  ['index of the log is garbage', garbage(index)],
  ['log is empty', cut(log, 0)],
  [
    'byte early in the log, no index',
    (dataDir) => {
      flip(log, (bytes) => bytes / 3)(dataDir)
      remove(index)(dataDir)
    },
  ],
  ['database removed', settled(remove(database))],
  ['database is garbage', settled(garbage(database))],
  ['key of the seals removed', remove((dataDir) => join(dataDir, 'seal.key'))],
  ['database cut by one page', settled((dataDir) => truncateSync(database(dataDir), size(database(dataDir)) - PAGE))],
  ...Array.from({ length: 20 }, (_, n): [string, Damage] => [`head of page ${n * 7 + 3}`, flipPage(n * 7 + 2)]),
  ...Array.from({ length: 10 }, (_, n): [string, Damage] => [
    `byte at ${n * 10 + 3} % of the log`,
    flip(log, (bytes) => (bytes * (n * 10 + 3)) / 100),
  ]),
]

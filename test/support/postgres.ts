import { spawnSync } from 'node:child_process'
import { chownSync, existsSync, mkdtempSync, readdirSync, readFileSync, renameSync, rmSync } from 'node:fs'
import { tmpdir, userInfo } from 'node:os'
import { join } from 'node:path'
import { type Daemon, startDaemon } from './daemon.ts'
import { freePort } from './free-port.ts'
import { until } from './patience.ts'
import { describeWith } from './real-tools.ts'

/** A PostgreSQL server of Debian's package. Its data goes with it. */
export interface TestPostgres {
  port: number
  /** URL of one of its databases, over TCP on loopback. */
  url(database: string): string
  /** Creates an empty database → its URL. */
  createDatabase(name: string): Promise<string>
  /** Runs a statement as superuser, in its own connection → its output. Throws with PostgreSQL's message. */
  psql(statement: string, database?: string): string
  /** `fast` ends sessions, `immediate` crashes. Returns when the server has ended. */
  halt(mode: 'fast' | 'immediate'): Promise<void>
  isRunning(): boolean
  /** What the server has logged since it was started or resumed. */
  log(): string
  /** Process ID of the running server, whose sessions are its children. */
  pid(): number
  /** Starts a halted server again on the same data and port. */
  resume(): Promise<void>
  /** Starts a halted server again on the same port, with a copy of the data of `primary`, which it follows. */
  resumeAsStandby(primary: TestPostgres): Promise<void>
  /** Copies the data of a halted server aside, or puts the copy back in its place. */
  keepCopy(): void
  putBackCopy(): void
  /** Process IDs of the server's sessions of an application. */
  backendsOf(application: string): number[]
  stop(): Promise<void>
}

/** Holds a folder for each version, as Debian's packages have it. */
const PROGRAMS = process.env.POSTGRES_PROGRAMS ?? '/usr/lib/postgresql'
/** Of psql. */
const MOST_OUTPUT_BYTES = 2 ** 30
/** Removed without a trace, and faster than a disk. */
const MEMORY = '/dev/shm'

/** The folder of PostgreSQL's programs, of the newest installed version; null if none is installed. */
export function postgresPrograms(): string | null {
  if (!existsSync(PROGRAMS)) return null
  const versions = readdirSync(PROGRAMS).filter((version) => existsSync(join(PROGRAMS, version, 'bin', 'initdb')))
  const newest = versions.sort((a, b) => Number(b) - Number(a))[0]
  return newest === undefined ? null : join(PROGRAMS, newest, 'bin')
}

/** `describe` for tests that require PostgreSQL: see describeWith. */
export function describeWithPostgres(what: string, tests: () => void): void {
  describeWith(['postgresql'], what, tests)
}

export interface PostgresOptions {
  /** With fsync. */
  isDurable?: boolean
  /** Where its folder is made: in memory by default. */
  parent?: string
  settings?: Readonly<Record<string, string>>
}

/** Starts a server with an empty cluster. Throws without the programs. */
export async function startPostgres(options: PostgresOptions = {}): Promise<TestPostgres> {
  const folder = makeFolder(options.parent)
  const data = join(folder, 'data')
  if (isFirst && existsSync(KEPT)) {
    copyFolder(KEPT, data)
  } else {
    const locale = ['-U', 'postgres', '-A', 'trust', '-E', 'UTF8', '--locale=C', '--no-sync']
    runProgram('initdb', ['-D', data, ...locale], folder)
    if (isFirst && process.env.TEST_RUN !== undefined) keepFolder(data, KEPT)
  }
  isFirst = false
  return serve(folder, options)
}

/** A new cluster for all files of a run (scripts/run-tests/tests.ts), which removes it at its end. */
const KEPT = join(tmpdir(), 'postrider-pg-empty')
/** A file's further servers are none of its copies: those have the same system identifier. */
let isFirst = true

/** Another file may do the same at the same time. */
function keepFolder(folder: string, kept: string): void {
  const copy = mkdtempSync(`${kept}-`)
  copyFolder(folder, join(copy, 'data'))
  try {
    renameSync(join(copy, 'data'), kept)
  } catch {
    // The other one was first.
  }
  rmSync(copy, { recursive: true })
}

function copyFolder(from: string, to: string): void {
  spawnSync('cp', ['-a', from, to])
}

/** Starts a standby that follows `primary`, with a copy of its data. */
export async function startStandby(primary: TestPostgres, options: PostgresOptions = {}): Promise<TestPostgres> {
  const folder = makeFolder(options.parent)
  copyData(primary, folder)
  return serve(folder, options)
}

function copyData(primary: TestPostgres, folder: string): void {
  const how = ['-R', '-X', 'stream', '-c', 'fast', '--no-sync']
  runProgram('pg_basebackup', ['-D', join(folder, 'data'), ...how, '-d', primary.url('postgres')], folder)
}

/** An empty folder of the user that the server runs as. */
function makeFolder(parent = existsSync(MEMORY) ? MEMORY : tmpdir()): string {
  const folder = mkdtempSync(join(parent, 'postrider-pg-'))
  const { uid, gid } = ownerOfServer()
  if (uid !== undefined && gid !== undefined) chownSync(folder, uid, gid)
  return folder
}

function runProgram(name: string, args: string[], cwd: string): void {
  const { status, stderr } = spawnSync(programFile(name), args, { ...ownerOfServer(), cwd, encoding: 'utf8' })
  if (status !== 0) throw new Error(`${name}: ${stderr}`)
}

function programFile(name: string): string {
  const programs = postgresPrograms()
  if (programs === null) throw new Error('PostgreSQL is not installed (Debian package postgresql)')
  return join(programs, name)
}

/** Starts the server of a folder that has its data. */
async function serve(
  folder: string,
  { isDurable = false, settings: further = {} }: PostgresOptions,
): Promise<TestPostgres> {
  const port = await freePort()
  let server: Daemon | null = null

  const url = (database: string) => `postgres://postgres@127.0.0.1:${port}/${database}`
  const psql = (statement: string, database = 'postgres') => {
    const { status, stdout, stderr } = spawnSync(
      programFile('psql'),
      ['-X', '-q', '-A', '-t', '-v', 'ON_ERROR_STOP=1', '-d', url(database), '-c', statement],
      { encoding: 'utf8', maxBuffer: MOST_OUTPUT_BYTES },
    )
    if (status !== 0) throw new Error(stderr.trim())
    return stdout.trim()
  }
  const resume = async () => {
    const settings = {
      listen_addresses: '127.0.0.1',
      port: String(port),
      unix_socket_directories: folder,
      max_connections: '100',
      fsync: isDurable ? 'on' : 'off',
      shared_buffers: '32MB',
      ...further,
    }
    const args = Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`])
    const command = [programFile('postgres'), '-D', join(folder, 'data'), ...args]
    const started = startDaemon(command, { folder, ...ownerOfServer() })
    server = started
    await until('PostgreSQL to start', () => {
      if (!started.isRunning()) throw new Error(`PostgreSQL ended: ${started.log()}`)
      return /database system is ready to accept (?:read-only )?connections/.test(started.log())
    })
  }
  const halt = async (mode: 'fast' | 'immediate') => {
    await server?.end(mode === 'fast' ? 'SIGINT' : 'SIGQUIT')
  }
  const isRunning = () => server?.isRunning() ?? false
  await resume()
  return {
    port,
    url,
    createDatabase: async (name) => {
      psql(`create database ${name}`)
      return url(name)
    },
    psql,
    halt,
    isRunning,
    log: () => server!.log(),
    pid: () => server!.pid,
    resume,
    resumeAsStandby: async (primary) => {
      rmSync(join(folder, 'data'), { recursive: true })
      copyData(primary, folder)
      await resume()
    },
    keepCopy: () => {
      copyFolder(join(folder, 'data'), join(folder, 'copy'))
    },
    putBackCopy: () => {
      rmSync(join(folder, 'data'), { recursive: true })
      renameSync(join(folder, 'copy'), join(folder, 'data'))
    },
    backendsOf: (application) =>
      psql(`select pid from pg_stat_activity where application_name = '${application}'`)
        .split('\n')
        .filter((pid) => pid !== '')
        .map(Number),
    stop: async () => {
      await halt('immediate')
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

/** PostgreSQL refuses to run as root: then the user of its package; {} = the current user. */
function ownerOfServer(): { uid?: number; gid?: number } {
  if (userInfo().uid !== 0) return {}
  const line = readFileSync('/etc/passwd', 'utf8')
    .split('\n')
    .find((each) => each.startsWith('postgres:'))
  if (line === undefined) throw new Error('there is no user postgres')
  const [, , uid, gid] = line.split(':')
  return { uid: Number(uid), gid: Number(gid) }
}

import {
  appendFileSync,
  copyFileSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { connect } from '../../src/storage/sqlite/driver.ts'
import { buildNext, NEXT_PROGRAM } from './build-once.ts'
import { freePort } from './free-port.ts'
import { NEXT_VERSION } from './next-version.ts'
import { run } from './real-tools.ts'
import { addToRelease, makeReleaseKey, type ReleaseKey } from './release.ts'

const ROOT = join(import.meta.dir, '../..')
const PROGRAM = join(ROOT, 'dist/postrider')

/** A signed release of the next version. */
export interface NextRelease {
  folder: string
  key: ReleaseKey
  remove(): void
}

export async function makeNextRelease(): Promise<NextRelease> {
  buildNext()
  const folder = mkdtempSync(join(tmpdir(), 'postrider-release-'))
  const key = await makeReleaseKey(join(folder, 'keys'))
  mkdirSync(join(folder, 'release'))
  await addToRelease(join(folder, 'release'), { program: NEXT_PROGRAM, version: NEXT_VERSION, key })
  return { folder: join(folder, 'release'), key, remove: () => rmSync(folder, { recursive: true }) }
}

/** The built program, installed in a temporary folder and serving under a supervisor of two shell commands. */
export interface UpgradedServer {
  folder: string
  program: string
  dataDir: string
  /** Where it answers HTTP. */
  port: number
  /** Arguments of `upgrade`. */
  args: string[]
  /** Runs the installed program. */
  postrider(...args: string[]): ReturnType<typeof run>
  /** The same with `around` before it and these variables. */
  upgrade(how?: { around?: string[]; breaks?: string; more?: string[] }): ReturnType<typeof run>
  start(): Promise<void>
  stop(): Promise<void>
  /** Sends a message over HTTP → its ID. */
  send(): Promise<string>
  /** IDs of all stored messages, read from the file. */
  messages(): Promise<string[]>
  /** Number of schema steps in the file. */
  schema(): number
  close(): Promise<void>
}

/** `beforeStop` and `afterStart` are shell commands that the supervisor runs; `send` sends one message. `node`: with PostgreSQL,
 *  as its first or second node. */
export async function makeUpgradedServer(
  release: NextRelease,
  hooks: { beforeStop?: string; afterStart?: string; node?: { url: string; first?: UpgradedServer } } = {},
): Promise<UpgradedServer> {
  const { node } = hooks
  const folder = mkdtempSync(join(tmpdir(), 'postrider-upgraded-'))
  const [bin, dataDir, config] = [join(folder, 'bin'), join(folder, 'data'), join(folder, 'config.toml')]
  mkdirSync(bin)
  const program = join(bin, 'postrider')
  try {
    linkSync(PROGRAM, program) // never written to, only replaced
  } catch {
    copyFileSync(PROGRAM, program)
  }
  const port = await freePort()
  writeFileSync(
    config,
    `hostname = "mail.example.com"\ndata_dir = "${dataDir}"\n[http]\nlisten = "127.0.0.1:${port}"\n[smtp.inbound]
listen = "off"\n[sending]\nrequire_verified_domain = false\n[delivery]\nsmarthost = "smtp://127.0.0.1:1"\n`,
  )
  if (node !== undefined) {
    const name = node.first === undefined ? 'first' : 'second'
    appendFileSync(config, `[database]\nurl = "${node.url}"\n[cluster]\nname = "${name}"\n`)
  }
  if (node?.first !== undefined) {
    mkdirSync(dataDir)
    copyFileSync(join(node.first.dataDir, 'seal.key'), join(dataDir, 'seal.key'))
  }
  const init = ['init', '--config', config, '--domain', 'example.com', '--skip-checks', '--json']
  const made = node?.first === undefined ? await run([program, ...init]) : { exitCode: 0, output: '{}' }
  if (made.exitCode !== 0) throw new Error(made.output)
  const key: string = JSON.parse(made.output).api_key ?? ''
  const supervisor = join(folder, 'supervisor')
  writeFileSync(supervisor, supervisorText({ folder, program, config, port, key, ...hooks }))
  const supervise = async (verb: string) => {
    const { exitCode, output } = await run(['sh', supervisor, verb])
    if (exitCode !== 0) throw new Error(`${verb}: ${output}`)
  }
  const commands = ['--stop-command', `sh ${supervisor} stop`, '--start-command', `sh ${supervisor} start`]
  const args = ['--config', config, '--from', release.folder, '--signers', release.key.signers]
  args.push('--backup-to', join(folder, 'backups'), ...commands)
  return {
    folder,
    program,
    dataDir,
    port,
    args,
    postrider: (...words) => run([program, ...words]),
    upgrade: ({ around = [], breaks = '', more = [] } = {}) =>
      run([...around, program, 'upgrade', ...args, ...more], { env: { ...process.env, NEXT_BREAKS: breaks } as never }),
    start: () => supervise('start'),
    stop: () => supervise('stop'),
    send: async () => {
      const response = await fetch(`http://127.0.0.1:${port}/v1/messages/send`, {
        method: 'POST',
        headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
        body: MESSAGE,
      })
      if (response.status !== 202) throw new Error(await response.text())
      return ((await response.json()) as { message_id: string }).message_id
    },
    messages: async () => withDatabase(dataDir, 'select id from messages order by number'),
    schema: () => withDatabase(dataDir, 'select max(number) from migrations')[0] as unknown as number,
    close: async () => {
      await supervise('stop')
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

/** Scheduled, so that no attempt begins during a test. */
const MESSAGE = JSON.stringify({
  from: 'a@example.com',
  to: ['b@example.org'],
  subject: 'Hello',
  text: 'Hello',
  scheduled_at: new Date(Date.now() + 86_400_000),
})

/** `start` waits until the server listens or has ended; `stop` until it has ended. */
function supervisorText(of: {
  folder: string
  program: string
  config: string
  port: number
  key: string
  beforeStop?: string
  afterStart?: string
}): string {
  const { folder, program, config, port, key, beforeStop = ':', afterStart = ':' } = of
  const url = `http://127.0.0.1:${port}`
  return `cd ${folder}
PID=$(cat pid 2>/dev/null)
send() {
  curl -sf -o /dev/null -H 'authorization: Bearer ${key}' -H 'content-type: application/json' -d '${MESSAGE}' \\
    ${url}/v1/messages/send
}
runs() { [ -n "$PID" ] && grep -q 'State:.[^Z]' /proc/$PID/status 2>/dev/null; }
case $1 in
stop)
  runs || exit 0
  ${beforeStop}
  kill $PID
  for _ in $(seq 50); do runs || exit 0; sleep 0.1; done
  kill -9 $PID
  while runs; do sleep 0.1; done
  ;;
start)
  runs && exit 0
  ${program} serve --config ${config} >out 2>>log </dev/null &
  PID=$!
  echo $PID >pid
  for _ in $(seq 300); do
    curl -s -o /dev/null ${url}/healthz && { ${afterStart}; exit 0; }
    runs || exit 0
    sleep 0.1
  done
  exit 1
  ;;
esac
`
}

function withDatabase(dataDir: string, sql: string): string[] {
  const db = connect(join(dataDir, 'postrider.db'), { busyTimeoutMs: 5_000, readonly: true })
  try {
    return db.prepare<unknown[], string>(sql).pluck().all()
  } finally {
    db.close()
  }
}

/** The record of the last upgrade. */
export const lastUpgrade = ({ dataDir }: UpgradedServer) =>
  JSON.parse(readFileSync(join(dataDir, 'last-upgrade.json'), 'utf8')) as { from: string; to: string; result: string }

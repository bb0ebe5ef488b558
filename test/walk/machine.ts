import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startDaemon } from '../support/daemon.ts'
import { PATIENCE_MS, until } from '../support/patience.ts'
import { run } from '../support/real-tools.ts'
import { controlGroups } from './control-groups.ts'
import { debianArchive } from './debian.ts'
import type { Network } from './network.ts'

/** A clean Debian 12 that systemd has started in a container, with one network card. */
export interface Machine {
  /** Its root folder, as seen from outside. */
  root: string
  /** Runs lines of shell as root in /root → how they ended. They end at the first line that fails. */
  run(lines: string): Promise<Ended>
  /** The same, but rejects with all output unless the exit code is `code`. Returns both streams together. */
  must(lines: string, code?: number): Promise<string>
  /** Copies a file or folder into it. */
  put(from: string, to: string): void
  stop(): Promise<void>
}

export interface Ended {
  code: number
  output: string
}

const ENVIRONMENT = ['HOME=/root', 'LANG=C.UTF-8', 'PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin']

/** Starts one that `name` and the last part of its addresses tell apart. Requires root, mmdebstrap and systemd-nspawn. */
export async function startMachine(name: string, host: number, network: Network): Promise<Machine> {
  const archive = await debianArchive()
  const folder = mkdtempSync(join(tmpdir(), 'postrider-machine-'))
  const root = join(folder, 'root')
  mkdirSync(root)
  const undo = [() => rmSync(folder, { recursive: true, force: true })]
  const stop = async () => {
    for (const step of undo.splice(0).reverse()) await step()
  }
  try {
    const unpacked = await run(['tar', '-xf', archive, '-C', root])
    if (unpacked.exitCode !== 0) throw new Error(unpacked.output)
    writeFileSync(join(root, 'etc/hostname'), `${name}\n`)
    writeFileSync(join(root, 'etc/resolv.conf'), `nameserver ${network.world.v4}\n`)
    const groups = controlGroups(`postrider-walk-${process.pid}-${name}`)
    const container = startDaemon([...groups.inside, ...nspawn(root, name)], { folder })
    undo.push(async () => {
      await container.end('SIGTERM') // shuts the system down
      groups.remove()
    })
    let leader = 0
    await until(`systemd of ${name}`, () => {
      if (!container.isRunning()) throw new Error(`systemd-nspawn ended: ${container.log()}`)
      leader = childOf(container.pid)
      return leader !== 0 && commandOf(leader) === 'systemd'
    })
    await network.connect(leader, host)
    const inside = ['nsenter', `--target=${leader}`, '--all', 'env', '-C', '/root', '-i', ...ENVIRONMENT]
    const inShell = async (lines: string): Promise<Ended> => {
      const signal = AbortSignal.timeout(PATIENCE_MS)
      const { exitCode, output } = await run([...inside, 'bash', '-c', `set -eu\n${lines}`], { signal })
      return { code: exitCode, output }
    }
    await until(`${name} to run`, async () => /^running/.test((await inShell('systemctl is-system-running')).output))
    return {
      root,
      run: inShell,
      must: async (lines, code = 0) => {
        const ended = await inShell(lines)
        if (ended.code !== code)
          throw new Error(`on ${name}: exit ${ended.code}, not ${code}\n${lines}\n${ended.output}`)
        return ended.output
      },
      put: (from, to) => cpSync(from, join(root, to), { recursive: true }),
      stop,
    }
  } catch (thrown) {
    await stop()
    throw thrown
  }
}

const nspawn = (root: string, name: string) => [
  'systemd-nspawn',
  ...['--quiet', '--boot', '--keep-unit', '--register=no', '--private-network', '--link-journal=no'],
  ...['--resolv-conf=off', '--timezone=off', `--machine=${name.replaceAll('.', '-')}-${process.pid}`],
  `--directory=${root}`,
]

/** The first child of a process; 0 if it has none yet. proc(5) */
const childOf = (pid: number) => Number(textOf(`/proc/${pid}/task/${pid}/children`).split(' ')[0])
const commandOf = (pid: number) => textOf(`/proc/${pid}/comm`).trim()

/** Empty when the process has ended. */
function textOf(file: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch {
    return ''
  }
}

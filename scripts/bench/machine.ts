import { type ExecFileSyncOptions, execFileSync, spawn } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { cpuSeconds, until } from './process.ts'

/** A clean Debian that has started, with systemd and loopback but no network, in a container. */
export interface CleanMachine {
  /** Its root folder, as seen from outside. */
  root: string
  /** A shell command in it, as root → its output. Rejects with the output unless it exits with 0. */
  run(command: string): Promise<string>
  /** CPU time of its processes and of the commands that have ended. */
  cpuSeconds(): number
  /** The words before a command that make it run here, but in the machine's network. */
  inItsNetwork: string[]
  stop(): Promise<void>
}

/** Needs root, mmdebstrap and systemd-nspawn (Debian package systemd-container). The files of the system are
 *  downloaded once and kept as `folder`/debian.tar. */
export async function startCleanMachine(folder: string): Promise<CleanMachine> {
  const archive = join(folder, 'debian.tar')
  mkdirSync(folder, { recursive: true })
  if (!existsSync(archive)) {
    const unfinished = join(folder, 'unfinished.tar')
    execFileSync('mmdebstrap', ['--variant=minbase', `--include=${PACKAGES}`, 'bookworm', unfinished], QUIET)
    renameSync(unfinished, archive)
  }
  const root = mkdtempSync(join(folder, 'machine-'))
  execFileSync('tar', ['-xf', archive, '-C', root], QUIET)

  const options = ['--quiet', '--boot', '--keep-unit', '--register=no', '--private-network', `--directory=${root}`]
  const container = spawn('systemd-nspawn', options, { stdio: 'ignore' })
  const ended = new Promise((resolve) => container.on('exit', resolve))
  let leader = 0
  const inside = (...namespaces: string[]) => ['nsenter', `--target=${leader}`, ...namespaces]
  const run = (command: string) => output([...inside('--all'), 'env', '-i', ...ENVIRONMENT, 'sh', '-c', command])
  const stop = async () => {
    container.kill('SIGTERM') // of the container’s manager: shuts the system down
    await ended
    rmSync(root, { recursive: true, force: true })
  }
  try {
    await until(async () => {
      if (container.exitCode !== null) throw new Error(`systemd-nspawn ended with ${container.exitCode}`)
      leader = Number(readFileSync(`/proc/${container.pid}/task/${container.pid}/children`, 'utf8').split(' ')[0])
      const state = leader === 0 ? '' : await run('systemctl is-system-running || true').catch(() => '')
      return /^(running|degraded)/.test(state)
    })
  } catch (thrown) {
    await stop()
    throw thrown
  }
  const used = () => cpuSeconds(leader) + endedChildrenSeconds()
  return { root, run, cpuSeconds: used, inItsNetwork: inside('--net'), stop }
}

/** What every server has. */
const PACKAGES = 'systemd,systemd-sysv,dbus,ca-certificates,minisign'
const QUIET: ExecFileSyncOptions = { stdio: ['ignore', 'ignore', 'inherit'] }
const ENVIRONMENT = [
  'HOME=/root',
  'LANG=C.UTF-8',
  'PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin',
  'DEBIAN_FRONTEND=noninteractive',
]

/** User and system time of the children of this process that have ended. proc(5), cutime and cstime. */
function endedChildrenSeconds(): number {
  const fields = readFileSync('/proc/self/stat', 'utf8').split(') ')[1]!.split(' ')
  return (Number(fields[13]) + Number(fields[14])) / 100 // 100 a second on Linux
}

/** Both streams together. */
function output([file, ...args]: string[]): Promise<string> {
  return new Promise((resolve, reject) => {
    const child = spawn(file!, args, { stdio: ['ignore', 'pipe', 'pipe'] })
    let printed = ''
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding('utf8').on('data', (text: string) => {
        printed += text
      })
    }
    child.on('close', (code) => (code === 0 ? resolve(printed) : reject(new Error(`${args.at(-1)}: ${printed}`))))
  })
}

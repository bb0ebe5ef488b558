import { spawn } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'

/** The programs around the binary, and the binary itself, as separate processes. */

/** A child that prints JSON lines, after its first one. `file` is an executable, or `bun` for this runtime. Rejects
 *  when it ends without a line. */
export async function start(file: string, args: string[]) {
  const child = spawn(executable(file), args, { stdio: ['pipe', 'pipe', 'ignore'] })
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]()
  const next = async () => {
    const line = await lines.next()
    if (line.done) throw new Error(`${file} ${args[0]} ended`)
    return JSON.parse(line.value) as Record<string, number>
  }
  const exited = new Promise((resolve) => child.on('exit', resolve))
  const first = await next()
  return {
    pid: child.pid!,
    first,
    /** The next line that it prints. */
    next,
    /** A line to it → its answer. */
    ask: () => {
      child.stdin.write('\n')
      return next()
    },
    /** For programs that end with their standard input. */
    end: () => child.stdin.end(),
    stop: async (signal: 'SIGTERM' | 'SIGKILL' = 'SIGTERM') => {
      child.kill(signal)
      await exited
    },
  }
}

/** A program of scripts/bench/programs that stays. */
export function startProgram(name: string, ...args: string[]) {
  return start('bun', [programFile(name), ...args])
}

/** Runs a program of scripts/bench/programs to its end → the JSON it printed. */
export async function runProgram<T>(name: string, ...args: string[]): Promise<T> {
  return JSON.parse(await run('bun', [programFile(name), ...args])) as T
}

/** Runs to the end → its standard output. Rejects unless it exits with 0. */
export function run(file: string, args: string[]): Promise<string> {
  return new Promise((resolve, reject) => {
    const child = spawn(executable(file), args, { stdio: ['ignore', 'pipe', 'inherit'] })
    let printed = ''
    child.stdout.setEncoding('utf8')
    child.stdout.on('data', (chunk: string) => {
      printed += chunk
    })
    child.on('close', (code) => (code === 0 ? resolve(printed) : reject(new Error(`${file} ${args[0]}: exit ${code}`))))
  })
}

/** Polls every 5 ms, for at most two minutes. */
export async function until(done: () => Promise<boolean> | boolean): Promise<void> {
  const endsAt = performance.now() + 120_000
  while (!(await done())) {
    if (performance.now() > endsAt) throw new Error('timed out after two minutes')
    await sleep(5)
  }
}

export function sleep(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms))
}

/** User and system time of a running process, with its threads, its children and those that have ended. */
export function cpuSeconds(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]!.split(' ')
  const ticks = fields.slice(11, 15).reduce((sum, each) => sum + Number(each), 0)
  return ticks / 100 + childrenOf(pid).reduce((sum, child) => sum + (ofProcess(child, cpuSeconds) ?? 0), 0) // 100 a second on Linux
}

/** Of a process and its children without shared pages: the executable's pages are the same in all of them. */
export function residentMb(pid: number): number {
  const kb = (of: number, name: string) =>
    Number(new RegExp(`^${name}:\\s+(\\d+)`, 'm').exec(readFileSync(`/proc/${of}/status`, 'utf8'))![1])
  const children = childrenOf(pid).reduce((sum, child) => sum + (ofProcess(child, (of) => kb(of, 'RssAnon')) ?? 0), 0)
  return (kb(pid, 'VmRSS') + children) / 1024
}

function childrenOf(pid: number): number[] {
  const tasks = readdirSync(`/proc/${pid}/task`)
  return tasks.flatMap((task) =>
    readFileSync(`/proc/${pid}/task/${task}/children`, 'utf8').split(' ').filter(Boolean).map(Number),
  )
}

/** Null for one that has ended meanwhile. */
function ofProcess(pid: number, look: (pid: number) => number): number | null {
  try {
    return look(pid)
  } catch {
    return null
  }
}

const executable = (file: string) => (file === 'bun' ? process.execPath : file)
const programFile = (name: string) => join(import.meta.dir, 'programs', `${name}.ts`)

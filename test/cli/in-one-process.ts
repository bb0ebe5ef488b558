import { afterAll } from 'bun:test'
import { closeSync, mkdtempSync, openSync, readFileSync, rmSync, truncateSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { PATIENCE_MS } from '../support/patience.ts'
import { type Ended, PROGRAM, plainEnvironment } from './command.ts'

/** Returns a function like `postrider` that runs the commands of a test file in one process of the program, one after the
 *  other, because the start takes most of the CPU time of a command. For tests of what commands do, not of how they start
 *  and end, nor of a user that they become. */
export function postriderInOneProcess(): (...args: string[]) => Promise<Ended> {
  let started: ReturnType<typeof startProcess> | undefined
  let lastCommand: Promise<unknown> = Promise.resolve()
  afterAll(() => started?.stop())
  const run = async (args: readonly string[]) => {
    // The one before has ended if a test timed out.
    if (!started?.isRunning()) {
      await started?.stop()
      started = startProcess()
    }
    return started.run(args)
  }
  return (...args) => {
    const command = lastCommand.then(() => run(args))
    lastCommand = command.catch(() => {})
    return command
  }
}

function startProcess() {
  const folder = mkdtempSync(join(tmpdir(), 'postrider-cli-output-'))
  const outputs = [join(folder, 'stdout'), join(folder, 'stderr')] as const
  const [stdout, stderr] = outputs.map((path) => openSync(path, 'a')) as [number, number]
  let onEnd: (code: number | null) => void = () => {}
  const child = Bun.spawn([...PROGRAM], {
    env: { ...plainEnvironment(), BUN_OPTIONS: `--preload=${join(import.meta.dir, 'commands-process.ts')}` },
    stdio: ['ignore', stdout, stderr],
    ipc: (code) => onEnd(code),
    onExit: () => onEnd(null),
  })
  closeSync(stdout)
  closeSync(stderr)
  return {
    isRunning: () => child.exitCode === null && child.signalCode === null,
    run: async (args: readonly string[]): Promise<Ended> => {
      const { promise, resolve } = Promise.withResolvers<number | null>()
      onEnd = resolve
      child.send(args)
      const limit = setTimeout(() => child.kill('SIGKILL'), PATIENCE_MS)
      const code = await promise
      clearTimeout(limit)
      const [printed, complaints] = outputs.map((path) => readFileSync(path, 'utf8')) as [string, string]
      for (const path of outputs) truncateSync(path)
      return { code, stdout: printed, stderr: complaints }
    },
    stop: async () => {
      child.kill('SIGKILL')
      await child.exited
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

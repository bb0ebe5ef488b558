import { CommandFailure } from '../failure.ts'

/** Ended command. */
export interface Ran {
  code: number
  stdout: string
  stderr: string
  /** The limit that it exceeded; null if it ended by itself. */
  exceededMs: number | null
}

/** Runs a command to its end, at most `limitMs`; it gets no input. Throws CommandFailure if it does not exist. */
export async function run(
  command: readonly string[],
  { limitMs, env = {} }: { limitMs?: number; env?: Record<string, string> } = {},
): Promise<Ran> {
  const [program = ''] = command
  const found = program.includes('/') ? program : Bun.which(program, { PATH: process.env.PATH ?? '' })
  if (found === null) throw new CommandFailure(`${program} is not installed`)
  const child = Bun.spawn([found, ...command.slice(1)], {
    env: { ...process.env, ...env },
    stdin: 'ignore',
    stdout: 'pipe',
    stderr: 'pipe',
    ...(limitMs === undefined ? {} : { timeout: limitMs, killSignal: 'SIGKILL' }),
  })
  const [stdout, stderr] = await Promise.all([new Response(child.stdout).text(), new Response(child.stderr).text()])
  return { ...(await endOf(child, limitMs)), stdout, stderr }
}

async function endOf(child: Bun.Subprocess, limitMs: number | undefined): Promise<Pick<Ran, 'code' | 'exceededMs'>> {
  const code = (await child.exited) || (child.signalCode === null ? 0 : 128)
  return { code, exceededMs: child.signalCode === 'SIGKILL' ? (limitMs ?? null) : null }
}

/** The same → what it printed. Throws CommandFailure that begins with `what` if it fails. */
export async function runWell(what: string, ...call: Parameters<typeof run>): Promise<string> {
  const ran = await run(...call)
  if (ran.code !== 0) throw new CommandFailure(`${what}: ${failureOf(ran)}`)
  return ran.stdout
}

/** Runs a command of the operator, which may leave a server in the background: its output goes to standard error. */
export async function runShell(command: string, limitMs: number): Promise<Ran> {
  const child = Bun.spawn(['/bin/sh', '-c', command], {
    stdin: 'ignore',
    stdout: 2,
    stderr: 2,
    timeout: limitMs,
    killSignal: 'SIGKILL',
  })
  return { ...(await endOf(child, limitMs)), stdout: '', stderr: '' }
}

/** Why a command failed, for a message: the time, or the last lines that it printed. */
export function failureOf({ code, stdout, stderr, exceededMs }: Ran): string {
  if (exceededMs !== null) return `not finished after ${exceededMs / 1000} s`
  const lines = (stderr.trim() || stdout.trim()).split('\n').slice(-MOST_LINES)
  return lines.join('\n') || `exit code ${code}`
}

const MOST_LINES = 5

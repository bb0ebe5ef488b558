import { CommandFailure } from '../failure.ts'

/** Ended command. */
export interface Ran {
  code: number
  stdout: string
  stderr: string
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
  return { code: (await child.exited) || (child.signalCode === null ? 0 : 128), stdout, stderr }
}

/** The same → what it printed. Throws CommandFailure that begins with `what` if it fails. */
export async function runWell(what: string, ...call: Parameters<typeof run>): Promise<string> {
  const ran = await run(...call)
  if (ran.code !== 0) throw new CommandFailure(`${what}: ${failureOf(ran)}`)
  return ran.stdout
}

/** Runs a command of the operator, which may leave a server in the background: its output goes to standard error. */
export async function runShell(command: string, limitMs: number): Promise<number> {
  const child = Bun.spawn(['/bin/sh', '-c', command], {
    stdin: 'ignore',
    stdout: 2,
    stderr: 2,
    timeout: limitMs,
    killSignal: 'SIGKILL',
  })
  return (await child.exited) || (child.signalCode === null ? 0 : 128)
}

/** The last lines that a command printed, for a message. */
export function failureOf({ code, stdout, stderr }: Ran): string {
  const lines = (stderr.trim() || stdout.trim()).split('\n').slice(-MOST_LINES)
  return lines.join('\n') || `exit code ${code}`
}

const MOST_LINES = 5

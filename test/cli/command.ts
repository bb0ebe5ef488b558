import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { PATIENCE_MS } from '../support/patience.ts'

/** Runs the command line in a separate process, as users do. */

export interface Ended {
  code: number | null
  stdout: string
  stderr: string
}

/** The program of this checkout, not built. */
export const SOURCES: readonly string[] = [process.execPath, join(import.meta.dir, '../../src/main.ts')]

/** The program of this checkout: the built one if PROGRAM names it, as scripts/test does, because it starts with a third
 *  of the CPU time; else the sources, so that a test that runs alone tests what was just written. */
export const PROGRAM: readonly string[] = process.env.PROGRAM ? [process.env.PROGRAM] : SOURCES

/** Runs a command and waits for its end. One that hangs is killed, so that the test shows what it printed. */
export async function postrider(...args: string[]): Promise<Ended> {
  const { ended, kill } = await start(...args)
  const limit = setTimeout(() => kill('SIGKILL'), PATIENCE_MS)
  return ended.finally(() => clearTimeout(limit))
}

/** Starts a command. `line` resolves with its first line on standard output, or '' if it ends without one; `lines`
 *  with all lines once there are `count`, or at its end. `complaints`: what it has printed on standard error. */
export async function start(...args: string[]) {
  return startWith({}, ...args)
}

/** Like `start`, with environment variables. */
export async function startWith(env: Record<string, string>, ...args: string[]) {
  const child = Bun.spawn([...PROGRAM, ...args], {
    env: { ...plainEnvironment(), ...env },
    stdin: 'ignore',
    stdout: 'pipe',
    stderr: 'pipe',
  })
  const first = Promise.withResolvers<string>()
  let printed = ''
  let isOver = false
  let onText = () => {}
  const stdout = textOf(child.stdout, (text) => {
    printed = text
    if (text.includes('\n')) first.resolve(text.slice(0, text.indexOf('\n')))
    onText()
  })
  let complaints = ''
  const stderr = textOf(child.stderr, (text) => {
    complaints = text
  })
  const ended = Promise.all([child.exited, stdout, stderr]).then(([, out, err]): Ended => {
    first.resolve('')
    isOver = true
    onText()
    return { code: child.exitCode, stdout: out, stderr: err }
  })
  const lines = (count: number) =>
    new Promise<string[]>((resolve) => {
      onText = () => {
        const whole = printed.split('\n').slice(0, -1)
        if (isOver || whole.length >= count) resolve(whole)
      }
      onText()
    })
  return {
    line: first.promise,
    lines,
    complaints: () => complaints,
    ended,
    kill: (signal: NodeJS.Signals) => child.kill(signal),
  }
}

/** Runs a command on a terminal and answers its questions; `unanswered` are the questions that it did not ask. */
export async function onTerminal(env: Record<string, string>, args: string[], answers: Record<string, string>) {
  const decoder = new TextDecoder()
  const unanswered = new Map(Object.entries(answers))
  let text = ''
  const child = Bun.spawn([...PROGRAM, ...args], {
    env: { ...plainEnvironment(), ...env },
    timeout: PATIENCE_MS,
    killSignal: 'SIGKILL',
    terminal: {
      cols: 200,
      rows: 50,
      data(terminal, bytes) {
        text += decoder.decode(bytes, { stream: true })
        for (const [question, answer] of unanswered) {
          if (!text.includes(question)) continue
          unanswered.delete(question)
          terminal.write(`${answer}\n`)
        }
      },
    },
  })
  const code = await child.exited
  child.terminal?.close()
  return { code, text, unanswered: [...unanswered.keys()] }
}

/** A temporary folder for a config and a data directory. */
export function testFolder(extra = '') {
  const folder = mkdtempSync(join(tmpdir(), 'postrider-cli-test-'))
  const file = join(folder, 'config.toml')
  return {
    folder,
    file,
    dataDir: join(folder, 'data'),
    /** Writes a config: by default a listener on any port of loopback, and no inbound mail. */
    writeConfig(listen = '127.0.0.1:0', more = extra) {
      const text = `hostname = "mail.example.com"\ndata_dir = "data"\n[http]\nlisten = "${listen}"\n`
      writeFileSync(file, `${text}[smtp.inbound]\nlisten = "off"\n${more}`)
    },
    remove: () => rmSync(folder, { recursive: true, force: true }),
  }
}

export function plainEnvironment(): Record<string, string> {
  const kept = Object.entries(process.env).filter(
    ([name]) => !name.startsWith('POSTRIDER_') && name !== 'NOTIFY_SOCKET',
  )
  return Object.fromEntries(kept.map(([name, value]) => [name, value ?? '']))
}

async function textOf(stream: ReadableStream<Uint8Array>, onText: (text: string) => void = () => {}): Promise<string> {
  const decoder = new TextDecoder()
  let text = ''
  for await (const part of stream) {
    text += decoder.decode(part, { stream: true })
    onText(text)
  }
  return text
}

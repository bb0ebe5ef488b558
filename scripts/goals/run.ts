import { spawn, spawnSync } from 'node:child_process'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'

/** The program with arguments → exit code and what it printed. Throws when it does not end within a minute. */
export function run(
  program: string,
  args: readonly string[],
  input?: string,
): { code: number | null; out: string; err: string } {
  const { status, stdout, stderr, error } = spawnSync(program, args, {
    encoding: 'utf8',
    timeout: 60_000,
    ...(input === undefined ? {} : { input }),
  })
  if (error) throw error
  return { code: status, out: stdout, err: stderr }
}

/** A config with a domain, made once in a folder of that name. */
export function installed(program: string, folder: string): { config: string; records: { required: boolean }[] } {
  const at = join(folder, 'installed')
  mkdirSync(at, { recursive: true })
  const config = join(at, 'config.toml')
  const given = `hostname = "mail.example.com"\ndata_dir = "${at}/data"\n[http]\nlisten = "127.0.0.1:0"\n[smtp.inbound]\nlisten = "off"\n`
  writeFileSync(config, given, { flag: 'wx' })
  const { code, out, err } = run(program, [
    'init',
    '--config',
    config,
    '--domain',
    'example.com',
    '--skip-checks',
    '--json',
  ])
  if (code !== 0) throw new Error(err)
  return { config, records: JSON.parse(out).dns_records }
}

/** Starts the server, waits for the ready line, gives `look` its process, and ends it. */
export async function whileServing<T>(
  program: string,
  config: string,
  look: (server: { pid: number; http: string; readyMs: number }) => Promise<T>,
): Promise<T> {
  const beganAt = performance.now()
  const child = spawn(program, ['serve', '--config', config], { stdio: ['ignore', 'pipe', 'ignore'] })
  try {
    for await (const line of createInterface({ input: child.stdout })) {
      const { event, http } = JSON.parse(line)
      if (event === 'ready') return await look({ pid: child.pid!, http, readyMs: performance.now() - beganAt })
    }
    throw new Error('the server ended before it was ready')
  } finally {
    child.kill('SIGTERM')
    await new Promise((resolve) => child.on('exit', resolve))
  }
}

export function residentMb(pid: number): number {
  return Number(/^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))![1]) / 1000
}

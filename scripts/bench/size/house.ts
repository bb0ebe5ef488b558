/** The binary under test on a data directory that is there already. */
import { spawn } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'

export interface House {
  pid: number
  http: string
  /** From the start of the process to its first line, which says that it answers. */
  readyMs: number
  residentMb(): number
  cpuSeconds(): number
  stop(): Promise<void>
}

/** Serves `folder`/data with `more` sections of config, and `delivery` lines of that section. Retention keeps everything where the lines say nothing else. */
export async function openHouse(
  binary: string,
  folder: string,
  more: string[] = [],
  delivery: string[] = [],
): Promise<House> {
  const config = join(folder, 'serve.toml')
  writeFileSync(
    config,
    [
      'hostname = "mail.bench.example"',
      `data_dir = "${join(folder, 'data')}"`,
      '[http]',
      'listen = "127.0.0.1:0"',
      '[smtp.inbound]',
      'listen = "off"',
      '[delivery]',
      'allow_private_destinations = true',
      ...delivery,
      '[sending]',
      'require_verified_domain = false',
      ...more,
      '',
    ].join('\n'),
  )
  const startedAt = performance.now()
  const child = spawn(binary, ['serve', '--config', config], { stdio: ['ignore', 'pipe', 'ignore'] })
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]()
  const first = await lines.next()
  const readyMs = performance.now() - startedAt
  if (first.done) throw new Error(`${binary} serve ended`)
  const exited = new Promise((resolve) => child.on('exit', resolve))
  const pid = child.pid!
  return {
    pid,
    http: JSON.parse(first.value).http,
    readyMs,
    residentMb: () => Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))![1]) / 1024,
    cpuSeconds: () => {
      const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]!.split(' ')
      return (Number(fields[11]) + Number(fields[12])) / 100
    },
    stop: async () => {
      child.kill('SIGTERM')
      await exited
    },
  }
}

/** A command's standard output. Throws when it fails. */
export function run(file: string, args: string[]): Promise<string> {
  return new Promise((resolve, reject) => {
    const child = spawn(file, args, { stdio: ['ignore', 'pipe', 'inherit'] })
    let printed = ''
    child.stdout.setEncoding('utf8')
    child.stdout.on('data', (chunk: string) => {
      printed += chunk
    })
    child.on('close', (code) => (code === 0 ? resolve(printed) : reject(new Error(`${file} ${args[0]}: exit ${code}`))))
  })
}

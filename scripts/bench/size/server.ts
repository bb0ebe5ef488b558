/** The binary under test on an existing data directory. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { cpuSeconds, residentMb, start } from '../process.ts'

export interface Server {
  pid: number
  http: string
  /** From the start of the process to its first line, which says that it is ready. */
  readyMs: number
  residentMb(): number
  cpuSeconds(): number
  stop(): Promise<void>
}

/** Serves `folder`/data with `more` sections of config, and `delivery` lines of that section. Retention keeps
 *  everything by default. */
export async function startServer(
  binary: string,
  folder: string,
  more: string[] = [],
  delivery: string[] = [],
): Promise<Server> {
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
  const child = await start(binary, ['serve', '--config', config])
  const readyMs = performance.now() - startedAt
  return {
    pid: child.pid,
    http: child.first.http as unknown as string,
    readyMs,
    residentMb: () => residentMb(child.pid),
    cpuSeconds: () => cpuSeconds(child.pid),
    stop: () => child.stop(),
  }
}

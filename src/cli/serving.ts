import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Config, parseListen, publicUrlAt } from '../config/load.ts'
import { lockDataDir } from '../storage/sqlite/lock.ts'

/** What a running server writes to its data directory so that other commands find it. It may be stale after a kill; check
 *  with isServed. */
export interface Serving {
  pid: number
  version: string
  started_at: string
  /** `host:port` of each listener as on the ready line; null: off. */
  listeners: Record<string, string | null>
}

export const SERVING_FILE = 'serving.json'

const fileOf = (dataDir: string) => join(dataDir, SERVING_FILE)

export function writeServing(dataDir: string, serving: Serving): void {
  writeFileSync(fileOf(dataDir), `${JSON.stringify(serving)}\n`, { mode: 0o600 })
}

export function removeServing(dataDir: string): void {
  rmSync(fileOf(dataDir), { force: true })
}

/** Null if the file is missing or unreadable. */
export function readServing(dataDir: string): Serving | null {
  try {
    return JSON.parse(readFileSync(fileOf(dataDir), 'utf8'))
  } catch {
    return null
  }
}

/** The config with the listeners of the running server: port 0 is replaced by the actual port. */
export function asServed(config: Config): Config {
  const served = isServed(config.dataDir) ? readServing(config.dataDir)?.listeners : null
  const at = (name: 'http' | 'https') => (served?.[name] ? parseListen(served[name]) : null)
  const listen = at('http') ?? config.http.listen
  const listenTls = at('https') ?? config.http.listenTls
  const publicUrl = publicUrlAt(config, { listen, listenTls })
  return { ...config, http: { ...config.http, listen, listenTls, publicUrl } }
}

/** Whether a server is running on this data directory. */
export function isServed(dataDir: string): boolean {
  const lock = lockDataDir(dataDir)
  lock?.release()
  return lock === null
}

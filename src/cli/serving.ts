import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Config, parseListen, publicUrlAt } from '../config/load.ts'
import { lockDataDir } from '../storage/sqlite/lock.ts'

/** What a running server leaves in its data directory, so that other commands find it. After a kill it may be stale:
 *  isServed tells. */
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

/** Null where none was left, or one that cannot be read. */
export function readServing(dataDir: string): Serving | null {
  try {
    return JSON.parse(readFileSync(fileOf(dataDir), 'utf8'))
  } catch {
    return null
  }
}

/** The config with what the running server made of it: where port 0 stood is the one it got. */
export function asServed(config: Config): Config {
  const told = isServed(config.dataDir) ? readServing(config.dataDir)?.listeners : null
  const at = (name: 'http' | 'https') => (told?.[name] ? parseListen(told[name]) : null)
  const listen = at('http') ?? config.http.listen
  const listenTls = at('https') ?? config.http.listenTls
  const publicUrl = publicUrlAt(config, { listen, listenTls })
  return { ...config, http: { ...config.http, listen, listenTls, publicUrl } }
}

/** Whether a server runs on this data directory at present. */
export function isServed(dataDir: string): boolean {
  const lock = lockDataDir(dataDir)
  lock?.release()
  return lock === null
}

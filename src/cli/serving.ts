import { accessSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Config, parseListen, publicUrlAt } from '../config/load.ts'
import { errorCode } from '../os/thrown.ts'
import { lockDataDir } from '../storage/sqlite/lock.ts'
import { CommandFailure, EXIT } from './failure.ts'

/** Contents of serving.json. A running server writes the file to its data directory for other commands. A killed server
 *  leaves it there, so check isServed too. */
export interface Serving {
  pid: number
  version: string
  started_at: string
  /** `host:port` of each listener; null if it is off. */
  listeners: Record<string, string | null>
}

/** Name of the file in the data directory. */
export const SERVING_FILE = 'serving.json'

const fileOf = (dataDir: string) => join(dataDir, SERVING_FILE)

/** Writes serving.json, readable only by the owner. Throws file system errors. */
export function writeServing(dataDir: string, serving: Serving): void {
  writeFileSync(fileOf(dataDir), `${JSON.stringify(serving)}\n`, { mode: 0o600 })
}

/** Removes serving.json if it exists. */
export function removeServing(dataDir: string): void {
  rmSync(fileOf(dataDir), { force: true })
}

/** Contents of serving.json; null if the file is missing or unreadable. */
export function readServing(dataDir: string): Serving | null {
  try {
    return JSON.parse(readFileSync(fileOf(dataDir), 'utf8'))
  } catch {
    return null
  }
}

/** True if certainly no server runs on this data directory: there is no serving.json, or its process has ended. Takes
 *  no lock, so that a server may start meanwhile. */
export function hasEnded(dataDir: string): boolean {
  try {
    accessSync(fileOf(dataDir))
  } catch (error) {
    return errorCode(error) === 'ENOENT'
  }
  const serving = readServing(dataDir)
  if (serving === null) return false
  try {
    process.kill(serving.pid, 0)
    return false
  } catch (error) {
    return errorCode(error) === 'ESRCH'
  }
}

/** The config with the actual ports of the running server in place of port 0. Unchanged without a server. */
export function asServed(config: Config): Config {
  const served = isServed(config.dataDir) ? readServing(config.dataDir)?.listeners : null
  const at = (name: 'http' | 'https') => (served?.[name] ? parseListen(served[name]) : null)
  const listen = at('http') ?? config.http.listen
  const listenTls = at('https') ?? config.http.listenTls
  const publicUrl = publicUrlAt(config, { listen, listenTls })
  return { ...config, http: { ...config.http, listen, listenTls, publicUrl } }
}

/** Locks a data directory, so that no server starts on it until the lock is released. Throws CommandFailure (exit code 3)
 *  if one runs. */
export function requireUnserved(dataDir: string): { release: () => void } {
  const lock = lockDataDir(dataDir)
  if (lock === null) throw new CommandFailure(`a server is running on ${dataDir}. Stop it first.`, EXIT.inUse)
  return lock
}

/** Whether a server runs on this data directory, by its lock (storage/sqlite/lock.ts). */
export function isServed(dataDir: string): boolean {
  const lock = lockDataDir(dataDir)
  lock?.release()
  return lock === null
}

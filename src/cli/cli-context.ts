import { existsSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { type Config, loadConfigFile, objectPlaceOf, planNamed, type Setting } from '../config/load.ts'
import { systemClock } from '../os/clock.ts'
import { createLog } from '../os/log.ts'
import { systemRandom } from '../os/random.ts'
import { openStore } from '../storage/open.ts'
import { DATABASE_FILE } from '../storage/sqlite/open.ts'
import type { Store } from '../storage/store.ts'
import { configFailure, storeFailure, usageFault } from './failure.ts'
import { localUser } from './local-user.ts'
import { createOperator, type Operator } from './operator.ts'

/** Config, store and operator for one command. They work whether or not the server runs. */
export interface CliContext {
  config: Config
  store: Store
  operator: Operator
}

/** Reads a config file; '' reads environment variables only. `fromElsewhere`: what does something similar with an API key.
 *  Throws CommandFailure with exit code 2: all faults of the config, or a file that does not exist. */
export function requireConfig(file: string, fromElsewhere?: string): Config {
  return readConfigOf(file, fromElsewhere).config
}

/** Like requireConfig. `settings` lists each setting with its source. */
export function readConfigOf(file: string, fromElsewhere?: string): { config: Config; settings: () => Setting[] } {
  if (file !== '' && !existsSync(file)) {
    const isElsewhere = process.env.POSTRIDER_URL !== undefined
    const advice = isElsewhere
      ? `This command needs the files of the server: run it there${fromElsewhere === undefined ? '' : `. From here: ${fromElsewhere}`}`
      : 'Create it with: postrider init'
    throw usageFault(`${file}: file not found. ${advice}`)
  }
  const result = loadConfigFile(file || null, process.env)
  if (result.config) return result
  throw configFailure(result.faults)
}

/** Reads the config, opens the store, runs `work`, closes the store and returns the result of `work`. Root becomes the
 *  owner of the data directory for the rest of the process. `asksAuthorities` is passed to createOperator, `fromElsewhere`
 *  to requireConfig. Throws
 *  CommandFailure if the config or the store is unusable, and what `work` throws. */
export async function withCliContext<T>(
  file: string,
  work: (context: CliContext) => Promise<T>,
  { fromElsewhere, ...how }: { asksAuthorities?: boolean; fromElsewhere?: string } = {},
): Promise<T> {
  return withStore(requireConfig(file, fromElsewhere), work, how)
}

/** Like withCliContext, for a parsed config. If the store cannot be opened, the error names its place. */
export async function withStore<T>(
  config: Config,
  work: (context: CliContext) => Promise<T>,
  how: { asksAuthorities?: boolean } = {},
): Promise<T> {
  const user = localUser()
  becomeOwnerOf(config.dataDir)
  const store = await openStoreOf(config).catch((thrown: unknown) => {
    throw storeFailure(thrown, config.dataDir)
  })
  const log = createLog({ clock: systemClock, ...config.log })
  const operator = createOperator({ config, store, clock: systemClock, random: systemRandom, log, user, ...how })
  try {
    return await work({ config, store, operator })
  } finally {
    operator.close()
    await store.close()
  }
}

/** Opens the store of a config for a command. Throws what opening a store throws. */
export async function openStoreOf(config: Config): Promise<Store> {
  const { dataDir, database, storage } = config
  return openStore({
    dataDir,
    database,
    objects: objectPlaceOf(config),
    now: systemClock.now(),
    minFreeBytes: storage.minFreeBytes,
    plans: planNamed(config), // limits apply to the operator's commands too
    node: { isCommand: true },
  })
}

/** True if the config names a database that commands can open: PostgreSQL, or a file that exists. Throws the system error
 *  of a folder that this user may not look into. */
export function hasDatabase({ dataDir, database }: Config): boolean {
  return database.url !== '' || statSync(join(dataDir, DATABASE_FILE), { throwIfNoEntry: false }) !== undefined
}

/** Switches root to the owner of the data directory for the rest of the process: a file owned by root there would keep
 *  the server, which runs as another user, from starting. Does nothing for other users or without the directory. */
export function becomeOwnerOf(dataDir: string): void {
  const { getuid, setgroups, setgid, setuid } = process
  const owner = statSync(dataDir, { throwIfNoEntry: false })
  if (owner === undefined || owner.uid === 0 || getuid?.() !== 0) return
  setgroups?.([owner.gid])
  setgid?.(owner.gid)
  setuid?.(owner.uid)
}

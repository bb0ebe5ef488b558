import { existsSync, statSync } from 'node:fs'
import { type Config, loadConfigFile, planNamed, type Setting } from '../config/load.ts'
import { systemClock } from '../os/clock.ts'
import { createLog } from '../os/log.ts'
import { systemRandom } from '../os/random.ts'
import { openStore } from '../storage/sqlite/open.ts'
import type { Store } from '../storage/store.ts'
import { CommandFailure, configFailure, toFailure, usageFault } from './failure.ts'
import { localUser } from './local-user.ts'
import { createOperator, type Operator } from './operator.ts'

/** What most commands work with: the config, the store beside a running server or none, and the operator. */
export interface Office {
  config: Config
  store: Store
  operator: Operator
}

/** Config file → Config; throws what is wrong with it, all of it (exit code 2). '': no file, everything comes from the
 *  environment. */
export function requireConfig(file: string): Config {
  return readConfigOf(file).config
}

/** The same with what is set where. */
export function readConfigOf(file: string): { config: Config; settings: () => Setting[] } {
  if (file !== '' && !existsSync(file)) throw usageFault(`${file}: there is no such file; postrider init makes one`)
  const result = loadConfigFile(file || null, process.env)
  if (result.config) return result
  throw configFailure(result.faults)
}

/** Config file and some work → the work done with the store open; it is closed in any case. */
export async function inOffice<T>(
  file: string,
  work: (office: Office) => Promise<T>,
  how: { asksAuthorities?: boolean } = {},
): Promise<T> {
  return withStore(requireConfig(file), work, how)
}

/** The same for a config that is read already. A store that cannot be opened is one line that names its folder. */
export async function withStore<T>(
  config: Config,
  work: (office: Office) => Promise<T>,
  how: { asksAuthorities?: boolean } = {},
): Promise<T> {
  const user = localUser()
  becomeOwnerOf(config.dataDir)
  const { dataDir, storage } = config
  const plans = planNamed(config) // they hold for the operator's own commands too
  const opening = openStore({ dataDir, now: systemClock.now(), minFreeBytes: storage.minFreeBytes, plans })
  const store = await opening.catch((thrown: unknown) => {
    const failure = toFailure(thrown)
    throw failure === null ? thrown : new CommandFailure(`data_dir ${dataDir}: ${failure.message}`, failure.code)
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

/** Root works in the data directory as the one whom it belongs to, for the rest of the process: a file of root's left
 *  there would keep the server, which is not root, from starting. Does nothing for anybody else, and where there is no
 *  directory yet. */
function becomeOwnerOf(dataDir: string): void {
  const { getuid, setgroups, setgid, setuid } = process
  const owner = statSync(dataDir, { throwIfNoEntry: false })
  if (owner === undefined || owner.uid === 0 || getuid?.() !== 0) return
  setgroups?.([owner.gid])
  setgid?.(owner.gid)
  setuid?.(owner.uid)
}

import { type Config, loadConfigFile } from '../config.ts'
import { systemClock } from '../platform/clock.ts'
import { systemRandom } from '../platform/random.ts'
import { openStore } from '../storage/sqlite/open.ts'
import type { Store } from '../storage/store.ts'
import { CommandFailure, configFailure, toFailure } from './failure.ts'
import { createOperator, type Operator } from './operator.ts'

/** What most commands work with: the config, the store beside a running server or none, and the operator. */
export interface Office {
  config: Config
  store: Store
  operator: Operator
}

/** Config file → Config; throws what is wrong with it, all of it (exit code 2). */
export function requireConfig(file: string): Config {
  const result = loadConfigFile(file, process.env)
  if (result.config) return result.config
  throw configFailure(result.faults)
}

/** Config file and some work → the work done with the store open; it is closed in any case. */
export async function inOffice<T>(file: string, work: (office: Office) => Promise<T>): Promise<T> {
  return withStore(requireConfig(file), work)
}

/** The same for a config that is read already. A store that cannot be opened is one line that names its folder. */
export async function withStore<T>(config: Config, work: (office: Office) => Promise<T>): Promise<T> {
  const store = await openStore({ dataDir: config.dataDir, now: systemClock.now() }).catch((thrown: unknown) => {
    const failure = toFailure(thrown)
    throw failure === null ? thrown : new CommandFailure(`data_dir ${config.dataDir}: ${failure.message}`)
  })
  const operator = createOperator({ config, store, clock: systemClock, random: systemRandom })
  try {
    return await work({ config, store, operator })
  } finally {
    operator.close()
    await store.close()
  }
}

import { type Config, relayPasswordsOf } from '../config/load.ts'
import type { Log } from '../os/log.ts'
import type { Relay, RelayLogins } from '../sending/outbound/relays/relay.ts'
import { relaysOf } from './relays.ts'

/** The relays with the passwords of their files. A file that cannot be read or is empty is logged, and its password stays
 *  in use. */
export interface RelaysWithLogins extends RelayLogins {
  relays(): readonly Relay[]
}

/** Reads the files a first time; throws if that fails. `onChange` gets the relays when a password has changed. */
export function openRelayLogins(
  config: Config,
  log: Log,
  onChange: (relays: readonly Relay[]) => void,
): RelaysWithLogins {
  const passwords = relayPasswordsOf(config)
  let relays = relaysOf(config, passwords)
  let version = 1

  const readAgain = (row: Config['relays'][number]): boolean => {
    try {
      const password = relayPasswordsOf({ relays: [row] }).get(row.name)
      if (password === '') throw new Error('the file is empty')
      if (password === undefined || password === passwords.get(row.name)) return false
      passwords.set(row.name, password)
      log.info('new password of a relay in use', { relay: row.name })
      return true
    } catch (error) {
      log.error('password of a relay not read, keeping the previous one', { relay: row.name, error })
      return false
    }
  }
  return {
    relays: () => relays,
    version: () => version,
    refresh: () => {
      if (config.relays.filter(readAgain).length === 0) return
      relays = relaysOf(config, passwords)
      version++
      onChange(relays)
    },
  }
}

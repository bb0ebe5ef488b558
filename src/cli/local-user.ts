import { userInfo } from 'node:os'

/** What the runtime calls a user whose name the environment does not tell, as under cron. */
const NAMELESS = 'unknown'

/** Who sits at the command line, for the audit log: the user, or whoever became root by sudo. To be asked before the
 *  process becomes somebody else. Never throws; a user without a name is its number. */
export function localUser(): string {
  const { SUDO_USER } = process.env
  if (process.getuid?.() === 0 && SUDO_USER) return SUDO_USER.slice(0, 100)
  try {
    const { username } = userInfo()
    if (username !== NAMELESS) return username
  } catch {
    // of no name either
  }
  return `uid ${process.getuid?.()}`
}

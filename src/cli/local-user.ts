import { userInfo } from 'node:os'

/** The runtime's name for a user that the environment does not name, for example under cron. */
const NAMELESS = 'unknown'

/** The user at the command line, for the audit log; the original user under sudo. Call it before the process switches
 *  users. Never throws; a user without a name is shown by uid. */
export function localUser(): string {
  const { SUDO_USER } = process.env
  if (process.getuid?.() === 0 && SUDO_USER) return SUDO_USER.slice(0, 100)
  try {
    const { username } = userInfo()
    if (username !== NAMELESS) return username
  } catch {
    // no name here either
  }
  return `uid ${process.getuid?.()}`
}

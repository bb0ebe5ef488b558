import { userInfo } from 'node:os'

/** Who sits at the command line, for the audit log: the user, or whoever became root by sudo. To be asked before the
 *  process becomes somebody else. Never throws; a user without a name is its number. */
export function localUser(): string {
  const { SUDO_USER } = process.env
  if (process.getuid?.() === 0 && SUDO_USER) return SUDO_USER.slice(0, 100)
  try {
    return userInfo().username
  } catch {
    return `uid ${process.getuid?.()}`
  }
}

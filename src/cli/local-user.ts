import { userInfo } from 'node:os'

/** The name that Bun returns if the environment contains no user name, for example under cron. */
const NAMELESS = 'unknown'

/** Name of the user at the command line, for the audit log; under sudo, the user who ran sudo. A user without a name
 *  becomes `uid 1000`. Never throws. Call it before the process switches users. */
export function localUser(): string {
  const { SUDO_USER } = process.env
  if (process.getuid?.() === 0 && SUDO_USER) return SUDO_USER.slice(0, 100)
  try {
    const { username } = userInfo()
    if (username !== NAMELESS) return username
  } catch {
    // this uid has no name
  }
  return `uid ${process.getuid?.()}`
}

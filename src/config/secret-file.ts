import { readFileSync, statSync } from 'node:fs'

/** What a secret's file must not be; the message says how to mend it. */
export class ExposedSecret extends Error {}

/** The path of a secret's file → its text. Throws ExposedSecret when every user of the machine can read or change it, and
 *  what the system says when it cannot be read. */
export function readSecretFile(path: string): string {
  const { mode } = statSync(path)
  if ((mode & 0o006) !== 0 && !path.startsWith(CONTAINER_SECRETS)) {
    throw new ExposedSecret(`expected a file that only its owner can read: chmod 600 ${quoted(path)}`)
  }
  return readFileSync(path, 'utf8')
}

/** Container engines put secrets here, readable by all; who else is in a container is the engine's affair. */
const CONTAINER_SECRETS = '/run/secrets/'

/** For a shell. */
const quoted = (path: string) => (/^[\w@%+=:,./-]+$/.test(path) ? path : `'${path.replaceAll("'", "'\\''")}'`)

import { readFileSync, statSync } from 'node:fs'
import { shellWord } from './shell-word.ts'

/** A secret's file has unsafe permissions; the message contains the fix. */
export class ExposedSecret extends Error {}

/** Reads a secret from a file. Throws ExposedSecret if every user of the machine can read or write it, and system errors if
 *  it cannot be read. */
export function readSecretFile(path: string): string {
  const { mode } = statSync(path)
  if ((mode & 0o006) !== 0 && !path.startsWith(CONTAINER_SECRETS)) {
    throw new ExposedSecret(`expected a file that only its owner can read. Run: chmod 600 ${shellWord(path)}`)
  }
  return readFileSync(path, 'utf8')
}

/** Container engines mount secrets here, world-readable; isolation is the engine's responsibility. */
const CONTAINER_SECRETS = '/run/secrets/'

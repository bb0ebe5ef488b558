import { existsSync, readFileSync } from 'node:fs'
import { requireConfig } from '../cli-context.ts'
import { CommandFailure, usageFault } from '../failure.ts'
import { isSignedBy, publicKeyOf } from './signature.ts'

/** Whose backups a restore accepts; the manual page "backup" gives the reasons. */
export interface Trust {
  publicKeys: readonly string[]
  /** Also others. */
  acceptsAll: boolean
}

/** The options that decide it. */
export interface TrustOptions {
  config: string
  to?: string
  verify?: true
  signedBy?: string
  unauthenticated?: true
}

/** The keys of `signedBy`; without it, of the data directory in use, or of the one to restore to. Never one that the backup
 *  brings or names. Without any key, `verify` accepts all, since it changes nothing, and printRestored says so. */
export function trustOf(options: TrustOptions): Trust {
  if (options.unauthenticated) {
    if (options.signedBy === undefined) return { publicKeys: [], acceptsAll: true }
    throw usageFault('Use only one of --signed-by and --unauthenticated.')
  }
  if (options.signedBy !== undefined) return { publicKeys: publicKeysIn(options.signedBy), acceptsAll: false }
  const inUse = existsSync(options.config) ? [requireConfig(options.config).dataDir] : []
  const found = [...inUse, ...(options.to === undefined ? [] : [options.to])].map(publicKeyOf)
  const publicKeys = found.filter((key) => key !== null)
  return { publicKeys, acceptsAll: options.verify === true && publicKeys.length === 0 }
}

/** A public key as it is printed, and what a person may have written around it. */
const PUBLIC_KEYS = /ed25519:[A-Za-z0-9_-]{43}(?![A-Za-z0-9_-])/g

/** The value of `--signed-by` → its public keys: of the text itself, or of all lines of a file. Throws CommandFailure
 *  (exit code 2) without any, and file system errors. */
export function publicKeysIn(given: string): string[] {
  const text = given.startsWith('ed25519:') || !existsSync(given) ? given : readFileSync(given, 'utf8')
  const found = text.match(PUBLIC_KEYS)
  if (found !== null) return found
  throw usageFault(
    `--signed-by ${given}: expected the key that postrider backup prints (\`ed25519:\` and 43 characters), or a file that contains it`,
  )
}

/** Whether one of the trusted keys signed the manifest. Throws CommandFailure if none did, unless `acceptsAll`. */
export function requireSigned(manifest: Buffer, signature: Buffer, { publicKeys, acceptsAll }: Trust): boolean {
  if (publicKeys.some((key) => isSignedBy(key, manifest, signature))) return true
  if (acceptsAll) return false
  throw new CommandFailure(publicKeys.length === 0 ? NO_KEY : otherKey(publicKeys))
}

/** Never names the key that the backup claims: somebody in a hurry would pass it to --signed-by. */
const NO_KEY = `cannot check who made this backup: this machine has no key for it.
Add --signed-by with the key that postrider backup printed on the server (\`ed25519:…\`). Do not take it from where the backup was stored.
If you do not have it, and nobody else could write to where the backup was stored, use --unauthenticated.`

const otherKey = (expected: readonly string[]) => `the backup is not signed with ${expected.join(' or ')}.
Somebody changed it, or another server or data directory made it. In the second case, add --signed-by with the key that
postrider backup printed there. Otherwise use another backup: this one may contain accounts of a stranger.`

import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { verifySignature } from '../../src/operating/upgrade/verify.ts'

const SUMS = 'SHA256SUMS'

/** Writes SHA256SUMS of all files of the folder, in the format of sha256sum. */
export function writeChecksums(folder: string): void {
  const lines = readdirSync(folder)
    .filter((name) => !name.startsWith(SUMS))
    .sort()
    .map(
      (name) =>
        `${createHash('sha256')
          .update(readFileSync(join(folder, name)))
          .digest('hex')}  ${name}\n`,
    )
  writeFileSync(join(folder, SUMS), lines.join(''))
}

/** Writes SHA256SUMS.minisig with a secret key of minisign(1), which asks for its password. Throws with what minisign
 *  printed. */
export function sign(folder: string, key: string): void {
  execFileSync('minisign', ['-S', '-s', key, '-m', join(folder, SUMS)], { stdio: ['inherit', 'ignore', 'inherit'] })
}

/** Whether the signature of the folder is by one of the keys. */
export function isSignedBy(folder: string, keys: readonly string[]): boolean {
  const signature = readFileSync(join(folder, `${SUMS}.minisig`), 'utf8')
  return 'signer' in verifySignature(readFileSync(join(folder, SUMS)), signature, keys)
}

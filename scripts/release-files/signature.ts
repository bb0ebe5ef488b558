import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

const SUMS = 'SHA256SUMS'
/** The purpose of the signature, so that one made for something else is not valid here. Source: PROTOCOL.sshsig, OpenSSH. */
const NAMESPACE = 'postrider-release'

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

/** Writes SHA256SUMS.sig with a private key, or with the public key of one in an agent or a security key. Throws with what
 *  ssh-keygen printed. */
export function sign(folder: string, key: string): void {
  const sums = join(folder, SUMS)
  rmSync(`${sums}.sig`, { force: true })
  execFileSync('ssh-keygen', ['-q', '-Y', 'sign', '-n', NAMESPACE, '-f', key, sums], {
    stdio: ['inherit', 'ignore', 'inherit'],
  })
}

/** The signature and the list of public keys → whether one of them made it. */
export function isSignedBy(folder: string, signers: string): boolean {
  if (!existsSync(signers)) return false
  const sums = join(folder, SUMS)
  const common = ['-n', NAMESPACE, '-s', `${sums}.sig`, '-f', signers]
  try {
    const stdio: ['pipe', 'pipe', 'ignore'] = ['pipe', 'pipe', 'ignore']
    const found = execFileSync('ssh-keygen', ['-Y', 'find-principals', ...common.slice(2)], { stdio, encoding: 'utf8' })
    const input = readFileSync(sums)
    execFileSync('ssh-keygen', ['-Y', 'verify', '-I', /^[^,\n]+/.exec(found)![0], ...common], { stdio, input })
    return true
  } catch {
    return false
  }
}

import { createHash } from 'node:crypto'
import { copyFileSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { run } from './real-tools.ts'

/** Releases as scripts/release makes them, of any program and signed by a key of the test. */

/** A key of minisign(1) that signs releases. */
export interface ReleaseKey {
  /** Private key. */
  file: string
  /** The line of the public key. */
  publicKey: string
  /** The file of the public key. */
  signers: string
}

/** Creates a key in `folder`. Throws when minisign fails. */
export async function makeReleaseKey(folder: string, name = 'key'): Promise<ReleaseKey> {
  mkdirSync(folder, { recursive: true })
  const file = join(folder, name)
  const signers = `${file}.pub`
  await must(['minisign', '-G', '-W', '-f', '-p', signers, '-s', file])
  return { file, publicKey: readFileSync(signers, 'utf8').trim().split('\n').at(-1)!, signers }
}

/** Writes an archive of `program` to the folder of a release, and signs its checksums. */
export async function addToRelease(
  folder: string,
  {
    program,
    version,
    key,
    target = process.arch,
  }: { program: string; version: string; key: ReleaseKey; target?: string },
): Promise<void> {
  const name = `postrider-${version}-linux-${target}`
  mkdirSync(join(folder, name), { recursive: true })
  copyFileSync(program, join(folder, name, 'postrider'))
  writeFileSync(join(folder, name, 'LICENSE'), 'text\n')
  const archive = `${name}.tar.gz`
  await must(['tar', '--format=gnu', '--owner=0', '--group=0', '-I', 'gzip -n1', '-cf', archive, name], folder)
  rmSync(join(folder, name), { recursive: true })
  const hash = createHash('sha256')
    .update(readFileSync(join(folder, archive)))
    .digest('hex')
  writeFileSync(join(folder, 'SHA256SUMS'), `${hash}  ${archive}\n`, { flag: 'a' })
  await sign(folder, key)
}

/** Signs the SHA256SUMS of a folder. */
export async function sign(folder: string, key: ReleaseKey, options: string[] = []): Promise<void> {
  await must(['minisign', '-S', ...options, '-s', key.file, '-m', join(folder, 'SHA256SUMS')])
}

async function must(command: string[], cwd = '/'): Promise<void> {
  const { exitCode, output } = await run(command, { cwd })
  if (exitCode !== 0) throw new Error(`${command[0]}: ${output}`)
}

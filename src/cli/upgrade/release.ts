import { readFileSync } from 'node:fs'
import builtIn from '../../operating/upgrade/release-signers' with { type: 'text' }
import { type Source, SourceFailure, sourceOf, textOf } from '../../operating/upgrade/source.ts'
import { publicKeysIn, verifySignature } from '../../operating/upgrade/verify.ts'
import { compareVersions, parseSums, type Sums, versionsFor } from '../../operating/upgrade/versions.ts'
import { messageOf } from '../../os/thrown.ts'
import { VERSION } from '../../version.ts'
import { CommandFailure, usageFault } from '../failure.ts'

/** A release whose signature was verified. */
export interface Release {
  source: Source
  sums: Sums
  /** ID of the key that signed it. */
  signer: string
  version: string
}

const MOST_SUMS_BYTES = 65_536
const MOST_SIGNATURE_BYTES = 16_384

/** This machine's archive: processor and C library. */
export const TARGET = `${process.arch}${process.env.POSTRIDER_LIBC === 'musl' ? '-musl' : ''}`

/** Reads a release and verifies its signature. Returns the version to install: the wanted one, or the highest. Null if
 *  this program has that version already, or has a newer one and nobody asked for an older. Throws CommandFailure if the
 *  release cannot be read or is not signed by a key of the list, for a wanted version that is older without `allowOlder`,
 *  and with exit code 2 without a list of keys. */
export async function findRelease(options: {
  from: string
  signers?: string
  version?: string
  allowOlder?: true
}): Promise<Release | null> {
  const { from, version: wanted, allowOlder } = options
  const keys = keysOf(options.signers)
  const source = await reading(async () => sourceOf(from))
  const text = await reading(() => textOf(source, 'SHA256SUMS', MOST_SUMS_BYTES))
  const signature = await reading(() => textOf(source, 'SHA256SUMS.minisig', MOST_SIGNATURE_BYTES))
  const verified = verifySignature(Buffer.from(text), signature, keys)
  if ('fault' in verified) {
    throw new CommandFailure(`${from}: the signature does not count: ${verified.fault}. Nothing was changed.`)
  }
  const sums = parseSums(text)
  if (sums === null) throw new CommandFailure(`${from}: SHA256SUMS is not a list of files of a release`)
  const version = versionIn(sums, from, wanted)
  const order = compareVersions(version, VERSION)
  if (order === 0 || (order < 0 && wanted === undefined && !allowOlder)) return null
  if (order < 0 && !allowOlder) {
    throw new CommandFailure(`${version} is older than this program, ${VERSION}. Install it with --allow-older.`)
  }
  return { source, sums, signer: verified.signer, version }
}

/** Runs a read of the source. Throws its SourceFailure as a CommandFailure. */
export async function reading<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    throw error instanceof SourceFailure ? new CommandFailure(error.message) : error
  }
}

function keysOf(file: string | undefined): string[] {
  const keys = publicKeysFrom(file)
  if (keys.length > 0) return keys
  throw usageFault(
    `${file === undefined ? 'this program was built without keys of releases, so it' : `${file} contains no key, so the program`} cannot verify a release. Give a file of public keys of minisign(1) with --signers FILE.`,
  )
}

function publicKeysFrom(file: string | undefined): string[] {
  if (file === undefined) return publicKeysIn(builtIn)
  const text = readFileSync(file, 'utf8')
  try {
    return publicKeysIn(text)
  } catch (error) {
    throw usageFault(`${file}: ${messageOf(error)}`)
  }
}

function versionIn(sums: Sums, from: string, wanted: string | undefined): string {
  const versions = versionsFor(TARGET, sums)
  const version = wanted === undefined ? versions[0] : versions.find((each) => each === wanted.replace(/^v/, ''))
  if (version !== undefined) return version
  throw new CommandFailure(
    `no postrider${wanted === undefined ? '' : ` ${wanted}`} for linux-${TARGET} found at ${from}`,
  )
}

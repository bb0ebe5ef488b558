import { createReadStream, writeFileSync } from 'node:fs'
import { createZstdDecompress, zstdCompressSync } from 'node:zlib'
import { MANIFEST_FILE, type Manifest } from '../../src/cli/backup/manifest.ts'
import { SIGNATURE_FILE } from '../../src/cli/backup/signature.ts'
import { readTar, tarEnd, tarHead, tarPadding } from '../../src/cli/backup/tar.ts'

/** Backups as somebody sees and changes them who can write to where they are stored. */

/** The files of a backup by name, in their order. */
export type Members = Map<string, Buffer>

export async function membersOf(file: string): Promise<Members> {
  const members: Members = new Map()
  const tar = readTar(createReadStream(file).pipe(createZstdDecompress()))
  for (let head = await tar.next(); head !== null; head = await tar.next()) {
    members.set(head.name, Buffer.from(await Array.fromAsync(tar.body()).then(Buffer.concat)))
  }
  return members
}

/** Files → a backup with their manifest, at `to`. */
export function pack(members: Iterable<[string, Buffer]>, to: string): string {
  const blocks = [...members].flatMap(([name, bytes]) => [
    tarHead({ name, bytes: bytes.length }, 0),
    bytes,
    tarPadding(bytes.length),
  ])
  writeFileSync(to, zstdCompressSync(Buffer.concat([...blocks, tarEnd()])))
  return to
}

/** The same files with a manifest that lists them, and the signature as it was. */
export function relisted(members: Members, changes: Partial<Manifest> = {}): Members {
  const listed = [...members].filter(([name]) => name !== MANIFEST_FILE && name !== SIGNATURE_FILE)
  const manifest: Manifest = {
    ...JSON.parse(members.get(MANIFEST_FILE)!.toString()),
    files: listed.map(([name, bytes]) => ({
      name,
      bytes: bytes.length,
      sha256: new Bun.CryptoHasher('sha256').update(bytes).digest('hex'),
    })),
    ...changes,
  }
  return new Map([...members, [MANIFEST_FILE, Buffer.from(JSON.stringify(manifest))]])
}

import { existsSync } from 'node:fs'
import { Readable, Writable } from 'node:stream'
import type { S3Client, S3File } from 'bun'
import { loadConfigFile } from '../../config/load.ts'
import { messageOf } from '../../os/thrown.ts'
import { s3Client } from '../../storage/objects/s3.ts'
import { CommandFailure, configFailure, usageFault } from '../failure.ts'

/** Where backups are in object storage. */
export interface Bucket {
  /** Writes an object, which exists when the stream has finished, and not before. */
  write(key: string): { to: Writable; bytes: () => number }
  /** Throws CommandFailure if there is none. */
  read(key: string): Promise<Readable>
  /** Keys of a folder: '' or with a slash at its end. */
  keysIn(folder: string): Promise<string[]>
  remove(key: string): Promise<void>
}

/** `s3://bucket/key` → its parts; null for a path. A key that is '' or ends with a slash is a folder. Throws
 *  CommandFailure (exit code 2) for other URLs that begin with s3://. */
export function bucketPlaceOf(text: string): { bucket: string; key: string } | null {
  if (!text.startsWith('s3://')) return null
  const [, bucket, key = ''] = /^s3:\/\/([a-z0-9][a-z0-9.-]{1,61}[a-z0-9])(?:\/([\w./-]{0,400}))?$/.exec(text) ?? []
  if (bucket === undefined) throw usageFault(`${text}: expected s3://bucket/name or s3://bucket/folder/`)
  return { bucket, key }
}

/** Opens a bucket with the service and the credentials of [storage] in the config; without a config file, of the
 *  environment. Throws CommandFailure for an invalid config and without credentials. */
export function openBucket(name: string, configFile: string): Bucket {
  const client = s3Client({ ...accessOf(configFile), bucket: name })
  return {
    write: (key) => uploadOf(client.file(key)),
    read: async (key) => {
      const file = client.file(key)
      const isThere = await file.exists().catch(failed(name))
      if (!isThere) throw new CommandFailure(`s3://${name}/${key}: not found`)
      return Readable.from(file.stream())
    },
    keysIn: (folder) => keysIn(client, folder).catch(failed(name)),
    remove: (key) => client.delete(key).catch(failed(name)),
  }
}

function accessOf(file: string) {
  // Without a config, only the keys of [storage] matter.
  const result = existsSync(file)
    ? loadConfigFile(file, process.env)
    : loadConfigFile(null, { POSTRIDER_HOSTNAME: 'mail.example.com', ...process.env })
  if (!result.config) throw configFailure(result.faults)
  const { s3Endpoint: endpoint, s3Region: region, s3AccessKeyId, s3SecretAccessKey } = result.config.storage
  if (s3AccessKeyId === '' || s3SecretAccessKey === '') {
    throw usageFault(
      'object storage needs storage.s3_access_key_id and storage.s3_secret_access_key, in the config or the environment',
    )
  }
  return { endpoint, region, accessKeyId: s3AccessKeyId, secretAccessKey: s3SecretAccessKey }
}

/** Bytes of one part; the service allows 10,000 parts. */
const PART_BYTES = 16 * 1024 * 1024

function uploadOf(file: S3File): { to: Writable; bytes: () => number } {
  const upload = file.writer({ partSize: PART_BYTES, queueSize: 2, retry: 3, type: 'application/zstd' })
  let bytes = 0
  const to = new Writable({
    write: (chunk: Uint8Array, _encoding, done) => {
      bytes += chunk.byteLength
      settle(async () => {
        upload.write(chunk)
        await upload.flush()
      }, done)
    },
    final: (done) => settle(async () => void (await upload.end()), done),
  })
  return { to, bytes: () => bytes }
}

function settle(work: () => Promise<void>, done: (error?: Error) => void): void {
  work().then(
    () => done(),
    (error) => done(new CommandFailure(`object storage: ${messageOf(error)}`)),
  )
}

async function keysIn(client: S3Client, folder: string): Promise<string[]> {
  const keys: string[] = []
  for (let after: string | undefined = folder; after !== undefined; ) {
    const page: Awaited<ReturnType<typeof client.list>> = await client.list({ prefix: folder, startAfter: after })
    keys.push(...(page.contents ?? []).map(({ key }) => key))
    after = page.isTruncated === true ? keys.at(-1) : undefined
  }
  return keys
}

const failed = (bucket: string) => (error: unknown) => {
  throw new CommandFailure(`s3://${bucket}: ${messageOf(error)}`)
}

import { existsSync } from 'node:fs'
import { Readable, type Writable } from 'node:stream'
import { loadConfigFile } from '../../config/load.ts'
import { messageOf } from '../../os/thrown.ts'
import { listObjects } from '../../storage/objects/s3-list.ts'
import { discard, type S3, S3Failure, s3 } from '../../storage/objects/s3-requests.ts'
import { CommandFailure, configFailure, usageFault } from '../failure.ts'
import { uploadTo } from './upload.ts'

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
  const service = s3({ ...accessOf(configFile), bucket: name })
  const failed = (error: unknown) => {
    throw new CommandFailure(`s3://${name}: ${messageOf(error)}`)
  }
  return {
    write: (key) => uploadTo(service, key),
    read: async (key) => {
      const { body } = await service.ask({ method: 'GET', key }).catch((error) => {
        const isMissing = error instanceof S3Failure && error.code === 'NoSuchKey'
        throw isMissing ? new CommandFailure(`s3://${name}/${key}: not found`) : failed(error)
      })
      return Readable.from(body ?? [])
    },
    keysIn: (folder) => keysIn(service, folder).catch(failed),
    remove: (key) => service.ask({ method: 'DELETE', key }).then(discard, failed),
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

async function keysIn(service: S3, folder: string): Promise<string[]> {
  const keys: string[] = []
  for (let pages = 0; pages < MOST_PAGES; pages++) {
    const { objects, isMore } = await listObjects(service, { folder, after: keys.at(-1) ?? folder })
    keys.push(...objects.map(({ key }) => key))
    if (!isMore || objects.length === 0) return keys
  }
  throw new Error(`${folder} has more than ${keys.length} objects. Use a folder for backups alone`)
}

/** Of 1,000 keys. */
const MOST_PAGES = 100

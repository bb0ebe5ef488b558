import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import S3rver from '@20minutes/s3rver'
import type { ObjectPlace } from '../../src/storage/objects/objects.ts'

export interface TestS3 {
  place: ObjectPlace
  /** Stops answering; the objects stay. */
  stop(): Promise<void>
  /** Answers again, at the same address. */
  start(): Promise<void>
  /** Stops, and removes the objects. */
  remove(): Promise<void>
}

/** A server with the S3 protocol and an empty bucket. `checksSignatures`: it refuses wrong secrets. */
export async function startS3({ checksSignatures = false } = {}): Promise<TestS3> {
  const directory = mkdtempSync(join(tmpdir(), 'postrider-s3-'))
  const create = (port: number) =>
    new S3rver({
      address: '127.0.0.1',
      port,
      silent: true,
      directory,
      allowMismatchedSignatures: !checksSignatures,
      configureBuckets: [{ name: 'mail', configs: [] }],
    })
  let server = create(0)
  const { port } = await server.run()
  const stop = () => server.close()
  return {
    place: {
      bucket: 'mail',
      prefix: 'test/',
      endpoint: `http://127.0.0.1:${port}`,
      region: 'us-east-1',
      accessKeyId: 'S3RVER',
      secretAccessKey: 'S3RVER',
    },
    stop,
    start: async () => {
      server = create(port)
      await server.run()
    },
    remove: async () => {
      await stop().catch(() => {}) // stopped already
      rmSync(directory, { recursive: true })
    },
  }
}

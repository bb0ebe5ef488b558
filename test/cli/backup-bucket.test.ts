import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { openBucket } from '../../src/cli/backup/bucket.ts'
import { startS3, type TestS3 } from '../support/s3.ts'
import { startWith, testFolder } from './command.ts'
import { postriderInOneProcess } from './in-one-process.ts'

const place = testFolder()
const postrider = postriderInOneProcess()
const run = (...args: string[]) => postrider(...args, '--config', place.file)
const made = async (...args: string[]) => {
  const { stdout, stderr, code } = await run('backup', ...args, '--json')
  if (code !== 0) throw new Error(`exit code ${code}: ${stderr}`)
  return JSON.parse(stdout)
}

let s3: TestS3
beforeAll(async () => {
  s3 = await startS3()
  const { endpoint, region, accessKeyId, secretAccessKey } = s3.place
  place.writeConfig(
    undefined,
    `[sending]
require_verified_domain = false
[storage]
s3_endpoint = "${endpoint}"
s3_region = "${region}"
s3_access_key_id = "${accessKeyId}"
s3_secret_access_key = "${secretAccessKey}"
`,
  )
  expect((await run('init', '--domain', 'example.com')).code).toBe(0)
})
afterAll(async () => {
  await s3.remove()
  place.remove()
})

const bucket = () => openBucket('mail', place.file)

describe('a backup in object storage', () => {
  test('is verified and restored from there, on a new machine with credentials of the environment', async () => {
    const { file, bytes, signed_by: key } = await made('s3://mail/nightly/')
    expect(file).toMatch(/^s3:\/\/mail\/nightly\/postrider-\d{8}T\d{6}Z\.tar\.zst$/)
    expect(bytes).toBeGreaterThan(1000)
    expect((await run('restore', '--verify', file)).stdout).toContain('complete')

    const { endpoint, region, accessKeyId, secretAccessKey } = s3.place
    const env = {
      POSTRIDER_STORAGE_S3_ENDPOINT: endpoint,
      POSTRIDER_STORAGE_S3_REGION: region,
      POSTRIDER_STORAGE_S3_ACCESS_KEY_ID: accessKeyId,
      POSTRIDER_STORAGE_S3_SECRET_ACCESS_KEY: secretAccessKey,
    }
    const [config, data] = [join(place.folder, 'new.toml'), join(place.folder, 'new')]
    const to = ['--to', data, '--config', config]
    const refused = await startWith(env, 'restore', file, ...to)
    expect((await refused.ended).stderr).toContain('cannot check who made this backup')
    expect(existsSync(data)).toBe(false)
    const restoring = await startWith(env, 'restore', file, ...to, '--signed-by', key)
    expect((await restoring.ended).code).toBe(0)
    expect(existsSync(join(data, 'seal.key'))).toBe(true)
    rmSync(data, { recursive: true })
  })

  test('is made without a target where the config says, and only by the service that has the network', async () => {
    const file = join(place.folder, 'timer.toml')
    const text = readFileSync(place.file, 'utf8')
    writeFileSync(file, `${text}\n[backup]\nto = "s3://mail/timer"\nkeep = 1\n`)
    const backup = async (...args: string[]) => {
      const { stdout, stderr, code } = await postrider('backup', ...args, '--config', file)
      expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
      return stdout
    }
    expect(await backup('--if-network', 'no')).toContain(
      'No backup was made: the one to s3://mail/timer/ needs the network',
    )
    expect(await bucket().keysIn('timer/')).toEqual([])
    await pipeline([Buffer.from('x')], bucket().write('timer/postrider-20200101T000000Z.tar.zst').to)
    expect(await backup('--if-network', 'yes')).toMatch(/^s3:\/\/mail\/timer\/postrider-.*\n.*removed timer\//s)
    expect(await bucket().keysIn('timer/')).toHaveLength(1)

    const folder = join(place.folder, 'nightly')
    writeFileSync(file, `${text}\n[backup]\nto = "${folder}"\n`)
    expect(await backup('--if-network', 'yes')).toContain('needs no network')
    expect(existsSync(folder)).toBe(false)
    expect(await backup('--if-network', 'no')).toContain(`${folder}/postrider-`)
  })

  test('replaces the oldest ones of its folder beyond --keep, and no other objects', async () => {
    const others = [
      'kept/postrider-20200101T000000Z.tar.zst',
      'kept/notes',
      'kept/deeper/postrider-20200101T000000Z.tar.zst',
    ]
    for (const key of others) await pipeline([Buffer.from('x')], bucket().write(key).to)
    const { file, removed } = await made('s3://mail/kept/', '--keep', '1')
    expect(removed).toEqual([others[0]])
    expect((await bucket().keysIn('kept/')).sort()).toEqual(
      [others[2]!, others[1]!, file.slice('s3://mail/'.length)].sort(),
    )
  })

  test('of several parts reads as it was written', async () => {
    const bytes = crypto.getRandomValues(new Uint8Array(65_536))
    const parts = Array.from({ length: 600 }, () => bytes)
    const upload = bucket().write('large')
    await pipeline(parts, upload.to)
    expect(upload.bytes()).toBe(600 * 65_536)
    const read = new Bun.CryptoHasher('sha256')
    for await (const chunk of await bucket().read('large')) read.update(chunk)
    const written = new Bun.CryptoHasher('sha256')
    for (const part of parts) written.update(part)
    expect(read.digest('hex')).toBe(written.digest('hex'))
  })

  test('does not exist before it is complete', async () => {
    const broken = async function* () {
      yield new Uint8Array(20_000_000)
      throw new Error('the disk failed')
    }
    await expect(pipeline(broken(), bucket().write('broken').to)).rejects.toThrow('the disk failed')
    expect(await bucket().keysIn('broken')).toEqual([])
  })

  test('that does not exist, a bucket that does not exist, and a service that does not answer are named', async () => {
    expect((await run('restore', 's3://mail/none')).stderr).toContain('s3://mail/none: not found')
    const missing = await run('backup', 's3://other/')
    expect([missing.code, missing.stderr]).toEqual([1, expect.stringContaining('object storage: ')])
    await s3.stop()
    const silent = await run('backup', 's3://mail/').finally(() => s3.start())
    expect([silent.code, silent.stderr]).toEqual([1, expect.stringContaining('object storage: ')])
  })

  test('needs credentials', async () => {
    const { code, stderr } = await postrider('restore', 's3://mail/x', '--config', join(place.folder, 'none.toml'))
    expect([code, stderr]).toEqual([2, expect.stringContaining('object storage needs storage.s3_access_key_id')])
  })
})

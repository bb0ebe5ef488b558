import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { findRelease } from '../../src/cli/upgrade/release.ts'
import { addToRelease, makeReleaseKey, type ReleaseKey } from '../support/release.ts'

describe.skipIf(Bun.which('minisign') === null)('a release with older versions only', () => {
  let folder: string
  let key: ReleaseKey
  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'postrider-older-'))
    key = await makeReleaseKey(join(folder, 'keys'))
    writeFileSync(join(folder, 'program'), 'a program')
    await addToRelease(folder, { program: join(folder, 'program'), version: '0.0.1', key })
  })
  afterAll(() => rmSync(folder, { recursive: true }))
  const find = (more: { allowOlder?: true; version?: string }) =>
    findRelease({ from: folder, signers: key.signers, ...more })

  test('has nothing to install, unless an older one is allowed, also without its number', async () => {
    expect(await find({})).toBeNull()
    expect(find({ version: '0.0.1' })).rejects.toThrow('0.0.1 is older than this program')
    expect(await find({ allowOlder: true })).toMatchObject({ version: '0.0.1' })
    expect(await find({ allowOlder: true, version: 'v0.0.1' })).toMatchObject({ version: '0.0.1' })
  })
})

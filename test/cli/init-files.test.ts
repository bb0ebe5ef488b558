import { afterEach, beforeEach, expect, test } from 'bun:test'
import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { makeFolder, openZoneFolder, removeWritten, writeNew, writeZone } from '../../src/cli/init-files.ts'

let folder: string
let umask: number
beforeEach(() => {
  umask = process.umask(0o077)
  folder = mkdtempSync(join(tmpdir(), 'postrider-init-'))
})
afterEach(() => {
  process.umask(umask)
  rmSync(folder, { recursive: true })
})
const modeOf = (path: string) => (statSync(path).mode & 0o777).toString(8)

test('folders are readable by all whatever the umask, and existing ones keep their mode', () => {
  mkdirSync(join(folder, 'a'))
  makeFolder(join(folder, 'a/b/c'))
  expect(['a', 'a/b', 'a/b/c'].map((each) => modeOf(join(folder, each)))).toEqual(['700', '755', '755'])
  makeFolder(join(folder, 'a'))
  expect(modeOf(join(folder, 'a'))).toBe('700')
})

test('a new file has its mode and text, and never replaces another', () => {
  const path = join(folder, 'config.toml')
  writeNew(path, 'text', { mode: 0o644 })
  expect([modeOf(path), readFileSync(path, 'utf8')]).toEqual(['644', 'text'])
  expect(() => writeNew(path, 'other', { mode: 0o644 })).toThrow(/EEXIST/)
  expect(readFileSync(path, 'utf8')).toBe('text')
})

test('zone files are in a folder beside the config, and replace older ones', () => {
  const zones = openZoneFolder(join(folder, 'etc/config.toml'), folder)
  expect([zones, modeOf(zones!)]).toEqual([join(folder, 'etc/dns'), '755'])
  expect(writeZone(zones, 'x.example', 'a longer text')).toBe(join(zones!, 'x.example.zone'))
  const path = writeZone(zones, 'x.example', 'text')!
  expect([readFileSync(path, 'utf8'), modeOf(path)]).toEqual(['text', '644'])
  removeWritten({ files: [] } as never, zones)
  expect(statSync(zones!).isDirectory()).toBe(true)
  rmSync(path)
  removeWritten({ files: [{ path: join(folder, 'none') }] } as never, zones)
  expect(statSync(zones!, { throwIfNoEntry: false })).toBeUndefined()
})

test('no zone file is written without a config file, through a symbolic link, or into a folder that is none', () => {
  expect(openZoneFolder('', folder)).toBeNull()
  expect(writeZone(null, 'x.example', 'text')).toBeNull()
  writeFileSync(join(folder, 'dns'), '')
  expect(openZoneFolder(join(folder, 'config.toml'), folder)).toBeNull()
  writeFileSync(join(folder, 'target'), 'kept')
  symlinkSync(join(folder, 'target'), join(folder, 'x.example.zone'))
  expect(writeZone(folder, 'x.example', 'text')).toBeNull()
  expect(readFileSync(join(folder, 'target'), 'utf8')).toBe('kept')
})

test.skipIf(process.getuid?.() !== 0)('files that root creates belong to the owner of the data directory', () => {
  const [dataDir, path] = [join(folder, 'data'), join(folder, 'secret')]
  mkdirSync(dataDir)
  chownSync(dataDir, 12_345, 23_456)
  const zones = openZoneFolder(join(folder, 'config.toml'), dataDir)!
  writeNew(path, '', { mode: 0o600, owner: { uid: 12_345, gid: 23_456 } })
  for (const each of [zones, path]) expect([statSync(each).uid, statSync(each).gid]).toEqual([12_345, 23_456])
  rmSync(zones, { recursive: true })
  expect(statSync(openZoneFolder(join(folder, 'config.toml'), join(folder, 'none'))!).uid).toBe(0)
})

test.skipIf(process.getuid?.() !== 0)(
  'files that may not be removed after a failure are named, and hide no error',
  () => {
    const [stays, goes] = [join(folder, 'etc/database-url'), join(folder, 'data/seal.key')]
    for (const each of ['etc', 'data']) mkdirSync(join(folder, each))
    for (const each of [stays, goes]) writeFileSync(each, '')
    chownSync(join(folder, 'data'), 12_345, 12_345)
    chmodSync(folder, 0o755)
    chmodSync(join(folder, 'etc'), 0o755)
    process.seteuid!(12_345)
    try {
      expect(removeWritten({ files: [{ path: stays }, { path: goes }] } as never, null)).toEqual([stays])
    } finally {
      process.seteuid!(0)
    }
    expect([stays, goes].map((each) => existsSync(each))).toEqual([true, false])
  },
)

import { afterAll, expect, test } from 'bun:test'
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { dropOld, stampOf, targetOf } from './target.ts'

const folder = mkdtempSync(join(tmpdir(), 'postrider-target-'))
afterAll(() => rmSync(folder, { recursive: true }))

const madeAt = Date.UTC(2026, 10, 21, 12, 0, 5, 123)
const how = { madeAt, dataDir: '/var/lib/postrider', keep: undefined }
const keeping = { ...how, keep: 2 }

test('a backup goes to a file, to a file with its time in a folder, or to standard output', () => {
  expect(targetOf('-', how)).toEqual({ file: null, stagingParent: '/var/lib/postrider' })
  expect(targetOf(join(folder, 'a.tar.zst'), how)).toEqual({ file: join(folder, 'a.tar.zst'), stagingParent: folder })
  const inFolder = { file: join(folder, 'postrider-20261121T120005Z.tar.zst'), stagingParent: folder }
  expect(targetOf(folder, how)).toEqual(inFolder)
  expect(targetOf(folder, keeping)).toEqual(inFolder)
  const missing = join(folder, 'missing')
  expect(targetOf(`${missing}/`, how).stagingParent).toBe(missing)
  expect(stampOf(madeAt)).toBe('20261121T120005Z')
})

test('only a folder can keep a number of backups', () => {
  for (const to of ['-', join(folder, 'a.tar.zst')])
    expect(() => targetOf(to, keeping)).toThrow('--keep requires a folder as target')
})

test('the newest backups of a folder are kept, and other files', () => {
  const names = [21, 23, 22].map((day) => `postrider-202611${day}T120000Z.tar.zst`)
  for (const name of [...names, 'postrider-1.tar.zst', 'notes.txt']) writeFileSync(join(folder, name), '')
  expect(dropOld(folder, 3)).toEqual([])
  expect(dropOld(folder, 1)).toEqual([names[0]!, names[2]!])
  expect(readdirSync(folder).sort()).toEqual(['notes.txt', 'postrider-1.tar.zst', names[1]!])
})

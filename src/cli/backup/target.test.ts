import { afterAll, expect, test } from 'bun:test'
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { dropOld, dropOldObjects, nameOf, requireTrueName, stampOf, targetOf } from './target.ts'

const folder = mkdtempSync(join(tmpdir(), 'postrider-target-'))
afterAll(() => rmSync(folder, { recursive: true }))

const madeAt = Date.UTC(2026, 10, 21, 12, 0, 5, 123)
const how = { madeAt, dataDir: '/var/lib/postrider', keep: undefined }
const keeping = { ...how, keep: 2 }

test('a backup goes to a file, to a file with its time in a folder, or to standard output', () => {
  expect(targetOf('-', how)).toEqual({ file: null, object: null, stagingParent: '/var/lib/postrider' })
  expect(targetOf(join(folder, 'a.tar.zst'), how)).toEqual({
    file: join(folder, 'a.tar.zst'),
    object: null,
    stagingParent: folder,
  })
  const inFolder = { file: join(folder, 'postrider-20261121T120005Z.tar.zst'), object: null, stagingParent: folder }
  expect(targetOf(folder, how)).toEqual(inFolder)
  expect(targetOf(folder, keeping)).toEqual(inFolder)
  const missing = join(folder, 'missing')
  expect(targetOf(`${missing}/`, how).stagingParent).toBe(missing)
  expect(stampOf(madeAt)).toBe('20261121T120005Z')
})

test('a backup goes to object storage in the same way, and is copied in the data directory first', () => {
  const objectOf = (to: string, given: Parameters<typeof targetOf>[1] = how) => {
    const target = targetOf(to, given)
    expect([target.file, target.stagingParent]).toEqual([null, '/var/lib/postrider'])
    return [target.object, nameOf(target)]
  }
  const named = 'postrider-20261121T120005Z.tar.zst'
  expect(objectOf('s3://mail')).toEqual([{ bucket: 'mail', key: named }, `s3://mail/${named}`])
  expect(objectOf('s3://mail/')).toEqual(objectOf('s3://mail'))
  expect(objectOf('s3://mail/nightly/', keeping)[0]).toEqual({ bucket: 'mail', key: `nightly/${named}` })
  expect(objectOf('s3://mail/a.tar.zst')[0]).toEqual({ bucket: 'mail', key: 'a.tar.zst' })
  for (const to of ['s3://', 's3://A', 's3://mail/a b', 's3://mail/?x'])
    expect(() => targetOf(to, how)).toThrow('expected s3://bucket/name or s3://bucket/folder/')
})

test('only a folder can keep a number of backups', () => {
  for (const to of ['-', join(folder, 'a.tar.zst'), 's3://mail/a.tar.zst'])
    expect(() => targetOf(to, keeping)).toThrow('--keep requires a folder as target')
})

test('the newest backups of a folder are kept, and other files', () => {
  const names = [21, 23, 22].map((day) => `postrider-202611${day}T120000Z.tar.zst`)
  for (const name of [...names, 'postrider-1.tar.zst', 'notes.txt']) writeFileSync(join(folder, name), '')
  const newest = Date.UTC(2026, 10, 23, 12)
  expect(dropOld(folder, { keep: 3, madeAt: newest })).toEqual([])
  expect(dropOld(folder, { keep: 1, madeAt: newest })).toEqual([names[0]!, names[2]!])
  expect(readdirSync(folder).sort()).toEqual(['notes.txt', 'postrider-1.tar.zst', names[1]!])
})

test('the backup that was just made is kept, also when the clock was ahead before', async () => {
  const names = ['20261121T120005Z', '20270101T000000Z', '20270102T000000Z', '20270103T000000Z'].map(
    (stamp) => `postrider-${stamp}.tar.zst`,
  )
  const ahead = join(folder, 'ahead')
  mkdirSync(ahead)
  for (const name of names) writeFileSync(join(ahead, name), '')
  expect(dropOld(ahead, { keep: 2, madeAt })).toEqual([names[1]!, names[2]!])
  expect(readdirSync(ahead).sort()).toEqual([names[0]!, names[3]!])
  const removed: string[] = []
  const bucket = {
    keysIn: async (place: string) => [...names, `${names[1]}.part`, `x/${names[1]}`].map((name) => place + name),
    remove: async (key: string) => void removed.push(key),
  }
  await dropOldObjects(bucket, 'nightly/', { keep: 3, madeAt })
  expect(removed).toEqual([`nightly/${names[1]}`])
})

test('a backup is not taken for one of another time that its name says', () => {
  for (const name of ['postrider-20261121T120005Z.tar.zst', 'mine.tar.zst', '-']) {
    for (const from of [name, `/backups/${name}`, `s3://mail/nightly/${name}`]) requireTrueName(from, madeAt)
  }
  expect(() => requireTrueName('/backups/postrider-20261122T120005Z.tar.zst', madeAt)).toThrow(
    'this backup is of 2026-11-21T12:00:05.123Z, and its name says another time. Somebody renamed it, maybe to hide a newer one. To restore it, rename it to postrider-20261121T120005Z.tar.zst.',
  )
})

import { afterEach, beforeEach, expect, test } from 'bun:test'
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { isEmpty, stagingParentFor, swapIn } from './swap.ts'

let parent: string
let dataDir: string
beforeEach(() => {
  parent = mkdtempSync(join(tmpdir(), 'postrider-swap-'))
  dataDir = join(parent, 'data')
})
afterEach(() => rmSync(parent, { recursive: true }))

/** Creates a folder with a database of this text, and further files. */
function made(folder: string, text: string, ...names: string[]): string {
  mkdirSync(folder, { recursive: true })
  for (const name of ['postrider.db', ...names]) writeFileSync(join(folder, name), text)
  return folder
}
const textIn = (folder: string) => readFileSync(join(folder, 'postrider.db'), 'utf8')

test('a folder is empty if it does not exist or has only lost+found and staging folders', () => {
  expect(isEmpty(dataDir)).toBe(true)
  mkdirSync(join(dataDir, 'lost+found'), { recursive: true })
  mkdirSync(join(dataDir, '.postrider-restore-1'))
  expect(isEmpty(dataDir)).toBe(true)
  writeFileSync(join(dataDir, 'a'), '')
  expect(isEmpty(dataDir)).toBe(false)
})

test('the replacement is built beside the data directory', () => {
  expect(stagingParentFor(dataDir)).toBe(parent)
  mkdirSync(dataDir)
  expect(stagingParentFor(dataDir)).toBe(parent)
  // A mount point.
  expect(stagingParentFor('/proc')).toBe('/proc')
})

test.each([false, true])('a data directory without data is replaced (it exists: %p)', (exists) => {
  if (exists) mkdirSync(dataDir)
  const old = swapIn(made(join(parent, '.new'), 'new'), dataDir, { stagingParent: parent, stamp: '1' })
  expect([old, textIn(dataDir), readdirSync(parent)]).toEqual([null, 'new', ['data']])
})

test('old data is kept beside the data directory, also that of an earlier restore', () => {
  made(dataDir, 'first', 'encryption.key')
  const swap = (text: string) =>
    swapIn(made(join(parent, '.new'), text), dataDir, { stagingParent: parent, stamp: '2026' })
  const kept = ['', '-2', '-3'].map((end) => `${dataDir}.before-restore-2026${end}`)
  expect([swap('second'), swap('third'), swap('fourth')]).toEqual(kept)
  expect([...kept, dataDir].map(textIn)).toEqual(['first', 'second', 'third', 'fourth'])
  expect(readdirSync(kept[0]!).sort()).toEqual(['encryption.key', 'postrider.db'])
  expect(readdirSync(parent)).toHaveLength(4)
})

test('in a mount point old data is moved into a folder inside, which only its owner reads', () => {
  made(dataDir, 'old', 'encryption.key')
  const how = { stagingParent: dataDir, stamp: '2026' }
  const old = swapIn(made(join(dataDir, '.postrider-new'), 'new', 'a.pem'), dataDir, how)
  expect(old).toBe(join(dataDir, 'before-restore-2026'))
  expect([textIn(old!), textIn(dataDir), statSync(old!).mode & 0o777]).toEqual(['old', 'new', 0o700])
  expect(readdirSync(old!).sort()).toEqual(['encryption.key', 'postrider.db'])
  expect(readdirSync(dataDir).sort()).toEqual(['.postrider-new', 'a.pem', 'before-restore-2026', 'postrider.db'])
})

test('in an empty mount point nothing is kept', () => {
  mkdirSync(dataDir)
  const how = { stagingParent: dataDir, stamp: '2026' }
  expect(swapIn(made(join(dataDir, '.postrider-new'), 'new'), dataDir, how)).toBeNull()
  expect(readdirSync(dataDir).sort()).toEqual(['.postrider-new', 'postrider.db'])
})

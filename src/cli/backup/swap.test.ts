import { afterEach, beforeEach, expect, test } from 'bun:test'
import {
  chmodSync,
  chownSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { asOwnerOf, removeWithForeign } from '../owner-rights.ts'
import { isEmpty, stagingParentFor, swapIn } from './swap.ts'

let folder: string
let dataDir: string
let made: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'postrider-swap-'))
  chmodSync(folder, 0o755)
  dataDir = join(folder, 'data')
  made = join(folder, '.postrider-restore-1/data')
  mkdirSync(made, { recursive: true })
  fill(made, 'new')
})
afterEach(() => rmSync(folder, { recursive: true }))

const NAMES = ['postrider.db', 'seal.key']
const fill = (into: string, text: string) => {
  for (const name of NAMES) writeFileSync(join(into, name), text)
}
const textsIn = (of: string) => NAMES.map((name) => readFileSync(join(of, name), 'utf8'))
const beside = { stagingParent: '', stamp: '20261121T120000Z' }

test('puts the new directory where there is nothing or an empty folder', () => {
  expect(isEmpty(dataDir)).toBe(true)
  expect(swapIn(made, dataDir, { ...beside, stagingParent: folder })).toBeNull()
  expect(textsIn(dataDir)).toEqual(['new', 'new'])

  const another = join(folder, 'another')
  mkdirSync(another)
  mkdirSync(made)
  fill(made, 'newer')
  expect(swapIn(made, another, { ...beside, stagingParent: folder })).toBeNull()
  expect(textsIn(another)).toEqual(['newer', 'newer'])
})

test('keeps the replaced directory beside it, each time under another name', () => {
  mkdirSync(dataDir)
  fill(dataDir, 'old')
  expect(isEmpty(dataDir)).toBe(false)
  const kept = swapIn(made, dataDir, { ...beside, stagingParent: folder })!
  expect(kept).toBe(`${dataDir}.before-restore-20261121T120000Z`)
  expect([textsIn(dataDir), textsIn(kept)]).toEqual([
    ['new', 'new'],
    ['old', 'old'],
  ])
  mkdirSync(made, { recursive: true })
  fill(made, 'newer')
  const again = swapIn(made, dataDir, { ...beside, stagingParent: folder })!
  expect(again).toBe(`${kept}-2`)
  expect([textsIn(dataDir), textsIn(again)]).toEqual([
    ['newer', 'newer'],
    ['new', 'new'],
  ])
})

test('swaps the files inside a data directory that is a mount point', () => {
  mkdirSync(join(dataDir, 'lost+found'), { recursive: true })
  fill(dataDir, 'old')
  const inside = join(dataDir, '.postrider-restore-1/data')
  mkdirSync(inside, { recursive: true })
  fill(inside, 'new')
  const kept = swapIn(inside, dataDir, { ...beside, stagingParent: dataDir })!
  expect(dirname(kept)).toBe(dataDir)
  expect([textsIn(dataDir), textsIn(kept)]).toEqual([
    ['new', 'new'],
    ['old', 'old'],
  ])
  expect(readdirSync(dataDir)).toContain('lost+found')
  expect(readdirSync(inside)).toEqual([])
})

test('stages beside the data directory, or inside it when it is a mount point', () => {
  mkdirSync(dataDir)
  expect(stagingParentFor(dataDir)).toBe(folder)
  expect(stagingParentFor(join(folder, 'not/there'))).toBe(join(folder, 'not'))
  expect(stagingParentFor('/proc')).toBe('/proc')
})

const isRoot = process.getuid?.() === 0
// threat: restore-as-root
test.skipIf(!isRoot)('gives the files to the owner as root, and follows no link of theirs', async () => {
  const foreign = join(folder, 'foreign')
  writeFileSync(foreign, 'of root', { mode: 0o600 })
  mkdirSync(dataDir)
  fill(dataDir, 'old')
  symlinkSync(foreign, join(dataDir, 'link'))
  symlinkSync(folder, join(dataDir, 'folder'))
  for (const path of [dataDir, ...NAMES.map((name) => join(dataDir, name))]) chownSync(path, 65534, 65534)
  const kept = await asOwnerOf(dataDir, async () => {
    const inside = join(dataDir, '.postrider-restore-1/data')
    mkdirSync(join(inside, 'tls'), { recursive: true })
    fill(inside, 'new')
    expect(() => readFileSync(join(dataDir, 'link'))).toThrow('EACCES')
    return swapIn(inside, dataDir, { stagingParent: dataDir, stamp: beside.stamp })!
  })
  expect(lstatSync(join(kept, 'link')).isSymbolicLink()).toBe(true)
  const uids = [foreign, folder, kept, join(dataDir, NAMES[0]!), join(dataDir, 'tls')].map((path) => statSync(path).uid)
  expect(uids).toEqual([0, 0, 65534, 65534, 65534])

  const leftover = join(folder, 'leftover')
  mkdirSync(join(leftover, 'data'), { recursive: true })
  symlinkSync(folder, join(leftover, 'data/up'))
  chownSync(join(leftover, 'data'), 65534, 65534)
  removeWithForeign(leftover)
  expect([readdirSync(folder).includes('leftover'), readFileSync(foreign, 'utf8')]).toEqual([false, 'of root'])
})

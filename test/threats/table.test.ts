import { expect, test } from 'bun:test'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { FAULTS, FINDINGS } from './findings.ts'
import { FILES, STRANGERS, TENANTS } from './hostile.ts'
import { THREATS } from './table.ts'

const ROOT = join(import.meta.dir, '../..')
const ROWS = [...THREATS, ...FINDINGS, ...FAULTS, ...STRANGERS, ...TENANTS, ...FILES]
/** A line that only marks; an id of another form is found too, and refused below. */
const MARKER = /^\s*(?:\/\/|#) threat:\s*(.*?)\s*$/
/** `holds` is the test function of the store contract (test/storage/contract.ts). */
const STARTS_TEST = /^\s*(?:test|describe|it|holds)(?:\.\w+)*[(<]/

interface Mark {
  id: string
  /** `file:line` */
  at: string
  isAboveTest: boolean
}

const marks: Mark[] = ['src', 'test'].flatMap((folder) =>
  readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
    .filter((name) => /\.(?:tsx?|smtp)$/.test(name))
    .flatMap((name) => marksOf(`${folder}/${name}`)),
)

/** File → its markers. One in an SMTP dialog is at its head, since the file is one test. */
function marksOf(file: string): Mark[] {
  const lines = readFileSync(join(ROOT, file), 'utf8').split('\n')
  const isDialog = file.endsWith('.smtp')
  return lines.flatMap((line, at) => {
    const id = MARKER.exec(line)?.[1]
    if (id === undefined) return []
    const isAboveTest = isDialog
      ? lines.slice(0, at).every((each) => MARKER.test(each))
      : STARTS_TEST.test(lines.slice(at).find((each) => !isPassedOver(each)) ?? '')
    return [{ id, at: `${file}:${at + 1}`, isAboveTest }]
  })
}

/** Other comments, and the loop that generates several tests. */
function isPassedOver(line: string): boolean {
  return /^\s*(?:\/\/|for \()/.test(line)
}

test('every threat has its own id in kebab-case, and says what is attacked and how', () => {
  expect(new Set(ROWS.map(({ id }) => id)).size).toBe(ROWS.length)
  expect(ROWS.filter(({ id }) => !/^[a-z0-9]+(?:-[a-z0-9]+)*$/.test(id))).toEqual([])
  expect(ROWS.filter(({ asset, attack }) => asset === '' || attack === '')).toEqual([])
})

test('every threat has a test that is marked with its id', () => {
  const marked = new Set(marks.map(({ id }) => id))
  expect(ROWS.map(({ id }) => id).filter((id) => !marked.has(id))).toEqual([])
})

test('every marker names a threat of the table', () => {
  const known = new Set(ROWS.map(({ id }) => id))
  expect(marks.filter(({ id }) => !known.has(id))).toEqual([])
})

test('every marker is directly above a test', () => {
  expect(marks.filter(({ isAboveTest }) => !isAboveTest)).toEqual([])
})

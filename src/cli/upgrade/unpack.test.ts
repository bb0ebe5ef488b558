import { afterAll, describe, expect, test } from 'bun:test'
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import { run } from '../../../test/support/real-tools.ts'
import { tarEnd, tarHead, tarPadding } from '../backup/tar.ts'
import { unpackProgram } from './stage.ts'

const folder = mkdtempSync(join(tmpdir(), 'postrider-unpack-'))
afterAll(() => rmSync(folder, { recursive: true }))
const MEMBER = 'postrider-1.0.0-linux-x64/postrider'
let count = 0

interface Entry {
  name: string
  text?: string
  /** Of the header. */
  bytes?: number
  type?: string
}

function tarOf(...entries: Entry[]): Buffer {
  const parts = entries.flatMap(({ name, text = '', bytes = text.length, type = '0' }) => {
    const head = tarHead({ name, bytes }, 0)
    head.write(type, 156)
    head.write('        ', 148)
    head.write(
      `${head
        .reduce((sum, byte) => sum + byte, 0)
        .toString(8)
        .padStart(6, '0')}\0 `,
      148,
    )
    return [head, Buffer.from(text), tarPadding(text.length)]
  })
  return Buffer.concat([...parts, tarEnd()])
}

/** Unpacks → the program, or the fault. Nothing but the program may appear. */
async function unpacked(archive: Buffer): Promise<string> {
  const into = mkdtempSync(join(folder, `${count++}-`))
  const to = join(into, 'program')
  const chunks = (async function* () {
    yield archive
  })()
  try {
    await unpackProgram(chunks, MEMBER, to)
  } catch (error) {
    expect(readdirSync(into).filter((name) => name !== 'program')).toEqual([])
    return `fault: ${(error as Error).message}`
  }
  expect(readdirSync(into)).toEqual(['program'])
  expect(statSync(to).mode & 0o777).toBe(0o755)
  return readFileSync(to, 'utf8')
}

const program: Entry = { name: MEMBER, text: 'program' }

describe('the archive of a release', () => {
  test('of GNU tar gives its program and nothing else', async () => {
    const name = MEMBER.split('/')[0]!
    const make = `mkdir -p ${name}/man && echo program > ${MEMBER} && echo x > ${name}/man/page && tar --format=gnu -czf a.tgz ${name}`
    expect(await run(['sh', '-c', make], { cwd: folder })).toEqual({ exitCode: 0, output: '' })
    expect(await unpacked(gunzipSync(readFileSync(join(folder, 'a.tgz'))))).toBe('program\n')
  })

  // threat: hostile-archive
  test('may have other files, wherever they claim to be; they are not written', async () => {
    const others = ['/tmp/absolute', '../outside', `${MEMBER}/below`, 'postrider', '.'].map((name) => ({
      name,
      text: 'x',
    }))
    expect(await unpacked(tarOf(...others, program))).toBe('program')
    for (const path of ['/tmp/absolute', join(folder, 'outside')]) expect(existsSync(path)).toBe(false)
  })

  // threat: hostile-archive
  test('is refused with links, devices, two programs, none, a wrong size, or too many bytes', async () => {
    const other = 'fault: the archive contains an entry that is not a regular file'
    for (const type of ['1', '2', '3', '4', '6', '7', 'x', 'g', 'L', 'S']) {
      expect(await unpacked(tarOf({ name: MEMBER, type }, program))).toBe(other)
    }
    expect(await unpacked(tarOf({ name: 'folder/', type: '5', bytes: 5, text: 'bytes' }, program))).toBe(other)
    expect(await unpacked(tarOf(program, program))).toBe(`fault: the archive contains ${MEMBER} twice`)
    expect(await unpacked(tarOf({ name: 'other', text: 'x' }))).toBe(`fault: the archive does not contain ${MEMBER}`)
    expect(await unpacked(tarOf({ ...program, bytes: 2 ** 40 }))).toBe('fault: the archive is too large')
    expect(await unpacked(tarOf({ ...program, bytes: 5000 }))).toBe('fault: the archive is truncated')
    expect(await unpacked(tarOf(program).subarray(0, 1000))).toBe('fault: the archive is truncated')
    expect(await unpacked(Buffer.from('not an archive'.repeat(100)))).toContain('fault: ')
    expect(await unpacked(Buffer.alloc(0))).toBe('fault: the archive is truncated')
  })

  test('with folders only ends', async () => {
    const folders = Array.from({ length: 2000 }, (_, at) => ({ name: `${at}/`, type: '5' }))
    expect(await unpacked(tarOf(...folders))).toBe(`fault: the archive does not contain ${MEMBER}`)
  })
})

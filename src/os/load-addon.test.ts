import { afterAll, expect, test } from 'bun:test'
import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

const ADDON = join(import.meta.dir, `../../node_modules/better-sqlite3/prebuilds/linux-${process.arch}.node`)
const MODULE = JSON.stringify(join(import.meta.dir, 'load-addon.ts'))
const folder = mkdtempSync(join(tmpdir(), 'postrider-addon-'))
afterAll(() => rmSync(folder, { recursive: true }))

/** In a process of its own, because a second SQLite in this one would break the locks of the first. */
function run(script: string, environment: Record<string, string> = {}): string {
  const text = `const bytes = await Bun.file(${JSON.stringify(ADDON)}).bytes()
    const { loadAddon, fromMemory, fromFile } = await import(${MODULE})
    ${script}`
  const { stdout, stderr, exitCode } = Bun.spawnSync([process.execPath, '-e', text], {
    env: { ...process.env, TMPDIR: folder, ...environment },
  })
  return exitCode === 0 ? stdout.toString().trim() : stderr.toString()
}

test('an addon is loaded from memory, and no file remains', () => {
  expect(run('console.log(typeof fromMemory(bytes).Database)')).toBe('function')
  expect(readdirSync(folder)).toEqual([])
})

test('an addon is loaded from a file that is removed', () => {
  expect(run('console.log(typeof fromFile(bytes).Database)')).toBe('function')
  expect(readdirSync(folder)).toEqual([])
})

test('without a temporary folder it is loaded from memory', () => {
  const script = 'console.log(typeof loadAddon(bytes).Database)'
  expect(run(script, { TMPDIR: join(folder, 'none') })).toBe('function')
})

test('bytes that are no addon throw', () => {
  expect(run('loadAddon(new Uint8Array(100))')).toContain('addon.node')
  expect(readdirSync(folder)).toEqual([])
})

test('another thread than the main one may not load it', () => {
  const worker = `import { loadAddon } from ${MODULE}; try { loadAddon(new Uint8Array()) } catch (error) { postMessage(error.message) }`
  const script = `const worker = new Worker(URL.createObjectURL(new Blob([${JSON.stringify(worker)}])))
    worker.onmessage = ({ data }) => { console.log(data); process.exit(0) }`
  expect(run(script)).toBe('SQLite is loaded by the main thread only')
})

import { afterAll, expect, test } from 'bun:test'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { withoutUnused } from './unused.ts'

const ROOT = join(import.meta.dir, '../..')
// Below the repository, so that the entry finds its packages.
const folder = mkdtempSync(join(ROOT, 'node_modules/.unused-test-'))
afterAll(() => rmSync(folder, { recursive: true }))

async function buildOf(source: string): Promise<string> {
  const entry = join(folder, 'entry.js')
  writeFileSync(entry, source)
  try {
    await Bun.build({ entrypoints: [entry], target: 'bun', plugins: [withoutUnused(ROOT)] })
    return 'built'
  } catch (error) {
    return error instanceof AggregateError ? error.errors.map(String).join('\n') : String(error)
  }
}

const USERS = `import 'mailauth/lib/spf'; import 'mailauth/lib/tools'; import 'elysia'; import '@simplewebauthn/server'`

test('the build replaces the modules that the executable does not use', async () => {
  expect(await buildOf(USERS)).toBe('built')
})

test('the build fails when another file starts to use such a module', async () => {
  expect(await buildOf(`${USERS}; import 'file-type'`)).toContain('imports file-type')
  expect(await buildOf(`${USERS}; import { Value } from '@sinclair/typebox/value'`)).toContain(
    '@sinclair/typebox/value',
  )
})

test('the build fails when a replacement is not needed any more', async () => {
  expect(await buildOf(`import 'elysia'; import '@simplewebauthn/server'`)).toContain('nothing imports joi')
})

import { afterAll, expect, test } from 'bun:test'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { embeddedIn } from './embedded.ts'

const folder = mkdtempSync(join(tmpdir(), 'postrider-embedded-'))
afterAll(() => rmSync(folder, { recursive: true }))

test('the files of an executable have the sizes of their content', async () => {
  writeFileSync(join(folder, 'table.bin'), 'x'.repeat(5_000))
  writeFileSync(join(folder, 'main.ts'), `import file from './table.bin' with { type: 'file' }; console.log(file)`)
  const outfile = join(folder, 'program')
  await Bun.build({ entrypoints: [join(folder, 'main.ts')], format: 'esm', bytecode: true, compile: { outfile } })
  const { files, rest, total } = embeddedIn(readFileSync(outfile))
  const table = files.find(({ name }) => name.startsWith('table'))
  const main = files.find(({ bytecode }) => bytecode.length > 0)
  expect(table?.content.length).toBe(5_000)
  expect(Buffer.from(main?.content ?? []).toString()).toContain('console.log')
  expect(rest).toBeGreaterThan(0)
  expect(total).toBeLessThan(1_000_000)
})

test('a file without embedded files throws', () => {
  expect(() => embeddedIn(Buffer.from('text'))).toThrow('nothing is embedded')
})

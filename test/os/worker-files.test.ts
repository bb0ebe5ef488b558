import { expect, test } from 'bun:test'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

test('each thread that main code starts is an entry of the build', () => {
  const src = join(import.meta.dir, '../../src')
  const built = [...new Bun.Glob('**/worker.ts').scanSync(src)].sort()
  const started = readdirSync(src)
    .filter((name) => name.endsWith('.ts'))
    .flatMap((name) => [...readFileSync(join(src, name), 'utf8').matchAll(/new Worker\(new URL\('\.\/([^']+)'/g)])
    .map(([, path]) => path!)
  expect(started.toSorted()).toEqual(built)
  expect(readFileSync(join(src, '../scripts/build.ts'), 'utf8')).toContain("'src/**/worker.ts'")
})

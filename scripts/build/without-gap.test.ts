import { afterAll, expect, test } from 'bun:test'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { withoutGap } from './without-gap.ts'

const folder = mkdtempSync(join(tmpdir(), 'postrider-gap-'))
afterAll(() => rmSync(folder, { recursive: true }))

test('an executable without its zeros is smaller and runs, with its worker', async () => {
  const main = join(folder, 'main.ts')
  writeFileSync(join(folder, 'worker.ts'), `postMessage('from the worker')`)
  writeFileSync(
    main,
    `const worker = new Worker(new URL('./worker.ts', import.meta.url).href)
    worker.onmessage = ({ data }) => { console.log(data); process.exit(7) }`,
  )
  const outfile = join(folder, 'program')
  await Bun.build({
    entrypoints: [main, join(folder, 'worker.ts')],
    format: 'esm',
    bytecode: true,
    compile: { outfile },
  })
  const compiled = readFileSync(outfile)
  const result = withoutGap(compiled)
  expect(compiled.length - result.length).toBeGreaterThan(1_000_000)
  writeFileSync(outfile, result, { mode: 0o755 })
  const { stdout, exitCode } = Bun.spawnSync([outfile])
  expect([stdout.toString(), exitCode]).toEqual(['from the worker\n', 7])
  expect(() => withoutGap(result)).toThrow('shape')
})

test('another file throws', () => {
  expect(() => withoutGap(Buffer.alloc(4_096))).toThrow('shape')
})

import { afterAll, expect, test } from 'bun:test'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { loadedBy, withBytecodeOf } from './bytecode.ts'
import { sectionsOf } from './elf.ts'
import { embeddedIn } from './embedded.ts'
import { withoutGap } from './without-gap.ts'

const folder = mkdtempSync(join(tmpdir(), 'postrider-bytecode-'))
afterAll(() => rmSync(folder, { recursive: true }))

/** A program with a worker, a module that both import, one imported later and an embedded file. */
async function compiled() {
  const sources = {
    'shared.ts': `export const shared = (name: string) => \`\${name}, shared\``,
    'later.ts': `import { shared } from './shared.ts'
      export * from './shared.ts'
      export const later = await Promise.resolve(shared('later') + '${'x'.repeat(1_000)}'.length)`,
    'worker.ts': `import { shared } from './shared.ts'; postMessage(shared('worker'))`,
    'text.txt': 'text',
    'main.ts': `import { shared } from './shared.ts'
      import file from './text.txt' with { type: 'file' }
      const worker = new Worker(new URL('./worker.ts', import.meta.url).href)
      worker.onmessage = async ({ data }) => {
        const { later, shared: again } = await import('./later.ts')
        console.log([shared('main'), data, later, again('again'), await Bun.file(file).text()].join('; '))
        process.exit(7)
      }`,
  }
  for (const [name, text] of Object.entries(sources)) writeFileSync(join(folder, name), text)
  const outfile = join(folder, 'program')
  const { metafile } = await Bun.build({
    entrypoints: [join(folder, 'main.ts'), join(folder, 'worker.ts')],
    root: folder,
    splitting: true,
    format: 'esm',
    bytecode: true,
    metafile: true,
    compile: { outfile },
  })
  const sourceOf = (name: string) =>
    Object.values(metafile!.outputs).find(({ entryPoint }) => entryPoint?.endsWith(name))
  return { outfile, metafile: metafile!, root: (name: string) => sourceOf(name)!.entryPoint! }
}

const withBytecode = (file: Buffer) => embeddedIn(file).files.filter(({ bytecode }) => bytecode.length > 0)

test('only chosen modules keep their bytecode, and the program does the same', async () => {
  const { outfile, metafile, root } = await compiled()
  const before = readFileSync(outfile)
  const after = withBytecodeOf(before, loadedBy(metafile, [root('main.ts'), root('worker.ts')]))
  const contents = (file: Buffer) =>
    embeddedIn(file).files.map(({ name, content }) => [name, Buffer.from(content).toString()])
  expect(withBytecode(before).length - withBytecode(after).length).toBe(1)
  expect(withBytecode(after).map(({ content }) => Buffer.from(content).includes('xxx'))).not.toContain(true)
  expect(contents(after)).toEqual(contents(before))
  expect(after.length).toBeLessThan(before.length)
  const otherSections = (file: Buffer) =>
    sectionsOf(file)
      .map(({ offset, size }) => file.subarray(offset, offset + size))
      .filter((section) => section.length < 1_000_000 && !section.includes('---- Bun! ----'))
  expect(otherSections(after)).toEqual(otherSections(before))

  for (const program of [after, withoutGap(after)]) {
    writeFileSync(outfile, program, { mode: 0o755 })
    const { stdout, exitCode } = Bun.spawnSync([outfile])
    expect([stdout.toString(), exitCode]).toEqual([
      'main, shared; worker, shared; later, shared1000; again, shared; text\n',
      7,
    ])
  }
})

test('a program keeps the bytecode of all modules that are chosen', async () => {
  const { outfile } = await compiled()
  const before = readFileSync(outfile)
  expect(withBytecodeOf(before, new Set(withBytecode(before).map(({ name }) => name))).equals(before)).toBe(true)
})

test('without the modules that run first, or for a module without bytecode, it throws', async () => {
  const { outfile, metafile, root } = await compiled()
  const before = readFileSync(outfile)
  const workerOnly = [...loadedBy(metafile, [root('worker.ts')])].filter((name) => !name.startsWith('chunk'))
  expect(() => withBytecodeOf(before, new Set(workerOnly))).toThrow('another form')
  expect(() => withBytecodeOf(before, new Set(['program', 'gone.js']))).toThrow('gone.js has no bytecode')
})

test('a source that begins no output throws, and an import of an unknown name', async () => {
  const { metafile, root } = await compiled()
  expect(() => loadedBy(metafile, ['src/missing.ts'])).toThrow('no output begins with src/missing.ts')
  const output = Object.values(metafile.outputs).find(({ entryPoint }) => entryPoint === root('main.ts'))!
  output.imports.push({ path: './gone.js', kind: 'import-statement' })
  expect(() => loadedBy(metafile, [root('main.ts')])).toThrow('no output has the name gone.js')
})

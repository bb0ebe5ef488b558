import { afterEach, beforeEach, expect, test } from 'bun:test'
import { chmodSync, copyFileSync, existsSync, mkdirSync, mkdtempSync, rmSync, utimesSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { PATIENCE_MS } from '../support/patience.ts'

/** scripts/try in a checkout whose scripts/bun waits until the test writes into `gate`, and then builds or fails as the line
 *  says. The program that it builds prints its arguments. */
const BUN = `#!/bin/sh
[ "$1" = --version ] && exit 0
while [ ! -s "$(dirname "$0")/../gate" ]; do sleep 0.05; done
read -r line < "$(dirname "$0")/../gate"
echo "what the build says"
[ "$line" = build ] || exit 3
mkdir -p "$(dirname "$0")/../dist"
printf '#!/bin/sh\\necho "program $*"\\n' > "$(dirname "$0")/../dist/postrider"
chmod +x "$(dirname "$0")/../dist/postrider"
`
let root: string
let gate: string

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'postrider-try-script-'))
  gate = join(root, 'gate')
  for (const folder of ['scripts/client', 'src']) mkdirSync(join(root, folder), { recursive: true })
  copyFileSync(join(import.meta.dir, '../../scripts/try'), join(root, 'scripts/try'))
  writeFileSync(join(root, 'scripts/bun'), BUN)
  chmodSync(join(root, 'scripts/bun'), 0o755)
  for (const file of ['package.json', 'bun.lock', 'scripts/build.ts']) writeFileSync(join(root, file), '')
})
afterEach(() => rmSync(root, { recursive: true }))

const start = () =>
  Bun.spawn(['sh', join(root, 'scripts/try'), '--once'], { stdout: 'pipe', stderr: 'pipe', timeout: PATIENCE_MS })

/** Reads until the text was printed → all that was printed by then. */
async function printedUntil(reader: ReadableStreamDefaultReader<Uint8Array>, text: string): Promise<string> {
  let printed = ''
  while (!printed.includes(text)) {
    const { done, value } = await reader.read()
    if (done) throw new Error(`ended without “${text}”: ${printed}`)
    printed += new TextDecoder().decode(value)
  }
  return printed
}

test('says what it installs, how long that takes, and what it builds, before the build ends', async () => {
  const running = start()
  const reader = running.stderr.getReader()
  const printed = await printedUntil(reader, '… build dist/postrider')
  expect(printed).toMatch(/downloads Bun and the packages into this folder[\s\S]*usually takes .+ minute/)
  expect(printed).toMatch(/✓ Bun and packages {2}\d+ s/)
  writeFileSync(gate, 'build\n')
  expect(await printedUntil(reader, '✓ build dist/postrider')).not.toContain('what the build says')
  expect(await new Response(running.stdout).text()).toBe('program try --once\n')
})

test('shows the output of a step that fails, and ends with its exit code', async () => {
  const running = start()
  writeFileSync(gate, 'fail\n')
  const printed = await new Response(running.stderr).text()
  expect(printed).toContain('✗ build dist/postrider\nwhat the build says\n')
  expect([await running.exited, existsSync(join(root, 'dist/postrider'))]).toEqual([3, false])
})

test('prints nothing of its own when no source is newer than the program', async () => {
  const first = start()
  writeFileSync(gate, 'build\n')
  await first.exited
  const later = Date.now() / 1000 + 10 // of a later second than the sources
  utimesSync(join(root, 'dist/postrider'), later, later)
  const second = start()
  const texts = await Promise.all([new Response(second.stdout).text(), new Response(second.stderr).text()])
  expect(texts).toEqual(['program try --once\n', ''])
})

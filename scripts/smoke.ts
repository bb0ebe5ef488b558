/** The built program, alone: copied into an empty folder, with an empty environment and no packages in reach, it must
 *  run. `bun scripts/smoke.ts [PROGRAM]`, dist/postrider by default. Exit code 1 when a check fails. */
import { copyFileSync, existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import pkg from '../package.json' with { type: 'json' }

const CHECK_LIMIT_MS = 120_000

const built = process.argv[2] ?? join(import.meta.dir, '../dist/postrider')
if (!existsSync(built)) {
  console.error(`smoke: ${built} is not there`)
  process.exit(1)
}
const folder = mkdtempSync(join(tmpdir(), 'postrider-smoke-'))
try {
  requireNoPackages(folder)
  const program = join(folder, 'postrider')
  copyFileSync(built, program)

  check('version says the version', program, ['version'], (output) => output.includes(pkg.version))
  check('try --once walks the whole way', program, ['try', '--once'])
  await checkDocuments(program)
  writeFileSync(join(folder, 'bunfig.toml'), 'preload = ["./stray.ts"]\n')
  writeFileSync(join(folder, 'stray.ts'), 'process.exit(99)\n')
  writeFileSync(join(folder, '.env'), 'POSTRIDER_NO_SUCH_KEY=1\n')
  check('a stray bunfig.toml and .env are not read', program, ['version'])
} finally {
  rmSync(folder, { recursive: true, force: true })
}

function check(name: string, program: string, args: string[], isRight: (output: string) => boolean = () => true): void {
  const run = Bun.spawnSync([program, ...args], {
    cwd: folder,
    env: {},
    timeout: CHECK_LIMIT_MS,
    killSignal: 'SIGKILL',
  })
  const isGood = run.exitCode === 0 && isRight(run.stdout.toString())
  console.log(`${isGood ? 'ok' : 'NOT OK'}: ${name}`)
  if (isGood) return
  console.error(`exit code ${run.exitCode ?? run.signalCode}\n${run.stdout}${run.stderr}`)
  process.exitCode = 1
}

/** What is embedded is there: the page, a document with every schema in it, and the files of the dashboard. */
async function checkDocuments(program: string): Promise<void> {
  const running = Bun.spawn([program, 'try', '--json', '--port', '0'], { cwd: folder, env: {}, stdout: 'pipe' })
  const limit = setTimeout(() => running.kill('SIGKILL'), CHECK_LIMIT_MS)
  try {
    const { base_url: api } = JSON.parse(await firstLine(running.stdout))
    const page = await (await fetch(`${api}/docs`)).text()
    const document = await (await fetch(`${api}/openapi.json`)).text()
    if (!page.startsWith('<!doctype html>')) throw new Error(`/docs is ${page}`)
    if (!/^\{"openapi":"3\.1.*"Message":\{"type":"object"/s.test(document))
      throw new Error(`openapi.json is ${document}`)
    const dashboard = await (await fetch(`${api}/dashboard/`)).text()
    const [script] = /\/dashboard\/assets\/[\w.-]+\.js/.exec(dashboard) ?? []
    const { status } = await fetch(`${api}${script}`)
    if (status !== 200) throw new Error(`${script} of the dashboard is ${status}`)
    console.log('ok: /docs, /openapi.json and the dashboard are in the program')
  } catch (error) {
    console.log(`NOT OK: /docs, /openapi.json and the dashboard are in the program\n${error}`)
    process.exitCode = 1
  } finally {
    clearTimeout(limit)
    running.kill()
    await running.exited
  }
}

async function firstLine(output: ReadableStream<Uint8Array>): Promise<string> {
  const decoder = new TextDecoder()
  let printed = ''
  for await (const part of output) {
    printed += decoder.decode(part, { stream: true })
    if (printed.includes('\n')) break
  }
  return printed.split('\n', 1)[0]!
}

function requireNoPackages(from: string): void {
  for (let at = from; at !== dirname(at); at = dirname(at)) {
    if (existsSync(join(at, 'node_modules'))) throw new Error(`${at}/node_modules is in reach of ${from}`)
  }
}

import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { extname, join } from 'node:path'
import type { Language } from '../../src/web/examples/languages.ts'
import { installClient } from '../client/installed.ts'
import { run } from '../support/real-tools.ts'

/** Result of one program: whether it reported success, and what it printed. */
export interface Ran {
  isDone: boolean
  output: string
}

/** Runs programs in one language, each in a folder of its own. */
export interface Runner {
  /** Prepares programs by name. Rejects with the output of a failed check: a compiler, or a formatter that differs. */
  add(programs: Readonly<Record<string, string>>): Promise<void>
  run(name: string, env: Record<string, string>, signal?: AbortSignal): Promise<Ran>
  /** The folder of a program, where it saves files. */
  folderOf(name: string): string
  remove(): void
}

/** Makes a folder for each program, with the program in a file. */
function programsIn(fileName: string) {
  const root = mkdtempSync(join(tmpdir(), 'postrider-examples-'))
  const folderOf = (name: string) => join(root, name)
  return {
    root,
    folderOf,
    write(programs: Readonly<Record<string, string>>) {
      for (const [name, text] of Object.entries(programs)) {
        mkdirSync(folderOf(name), { recursive: true })
        writeFileSync(join(folderOf(name), fileName), `${text}\n`)
      }
    },
    remove: () => rmSync(root, { recursive: true, force: true }),
  }
}

/** The environment of the machine without settings of a user. */
const PLAIN = { PATH: process.env.PATH ?? '', LANG: 'C.UTF-8' }

const ran = ({ exitCode, output }: { exitCode: number; output: string }): Ran => ({ isDone: exitCode === 0, output })

/** A language whose programs are files for an interpreter. */
function interpreted(fileName: string, command: readonly string[]) {
  const { root, folderOf, write, remove } = programsIn(fileName)
  return {
    root,
    folderOf,
    write,
    remove,
    add: async (programs: Readonly<Record<string, string>>) => write(programs),
    run: async (name: string, env: Record<string, string>, signal?: AbortSignal) =>
      ran(await run([...command, fileName], { cwd: folderOf(name), env: { ...PLAIN, HOME: root, ...env }, signal })),
  }
}

/** A language whose interpreter takes most of its time to load libraries. Programs with the same first lines, which name
 *  them, run in forks of one process that has evaluated these lines and no others (fork.py, fork.rb). */
function forked(fileName: string, command: readonly string[]): Runner {
  const { root, folderOf, write, remove } = programsIn(fileName)
  const forks = new Map<string, ReturnType<typeof startFork>>()
  const startFork = (firstLines: string) => {
    const child = Bun.spawn([...command, join(import.meta.dir, `fork${extname(fileName)}`), firstLines], {
      env: { ...PLAIN, HOME: root },
      stdin: 'pipe',
      stdout: 'pipe',
      stderr: 'inherit',
    })
    return { child, exitCodes: child.stdout.pipeThrough(new TextDecoderStream()).getReader() }
  }
  return {
    folderOf,
    add: async (programs) => write(programs),
    async run(name, env) {
      const folder = folderOf(name)
      const [firstLines = ''] = readFileSync(join(folder, fileName), 'utf8').split('\n\n', 1)
      const { child, exitCodes } = forks.getOrInsertComputed(firstLines, startFork)
      const variables = Object.entries(env).map((each) => each.join('='))
      child.stdin.write(`${[folder, ...variables].join('\t')}\n`)
      const { value } = await exitCodes.read()
      return { isDone: value === '0\n', output: readFileSync(join(folder, 'output'), 'utf8') }
    },
    remove() {
      for (const { child } of forks.values()) child.kill()
      remove()
    },
  }
}

/** TypeScript with the packed client, checked by the compiler. */
function typescript(): Runner {
  const { root, write, ...runner } = interpreted('example.ts', [process.execPath])
  const installed = installClient()
  symlinkSync(join(installed.folder, 'node_modules'), join(root, 'node_modules'))
  const modules = join(import.meta.dir, '../../node_modules')
  const compilerOptions = { strict: true, noEmit: true, skipLibCheck: true, module: 'Preserve', target: 'ESNext' }
  const config = {
    compilerOptions: { ...compilerOptions, types: [join(modules, 'bun-types')], moduleDetection: 'force' },
  }
  writeFileSync(join(root, 'tsconfig.json'), JSON.stringify(config))
  return {
    ...runner,
    remove() {
      runner.remove()
      installed.remove()
    },
    async add(programs) {
      write(programs)
      const checked = await run([process.execPath, join(modules, '.bin/tsc'), '-p', root], { env: PLAIN })
      if (checked.exitCode !== 0) throw new Error(checked.output)
    },
  }
}

/** Go: one program that contains all, because linking takes a second. `main` of each becomes a function that an argument
 *  selects. */
function go(): Runner {
  const { root, folderOf, write, remove } = programsIn('example.go')
  const all = join(root, '.all')
  const binary = join(root, '.binary')
  const env = {
    ...PLAIN,
    HOME: root,
    GOCACHE: join(root, '.cache'),
    GOPATH: join(root, '.path'),
    GO111MODULE: 'off',
    GOTOOLCHAIN: 'local',
    GOFLAGS: '',
  }
  return {
    folderOf,
    remove,
    async add(programs) {
      write(programs)
      mkdirSync(all, { recursive: true })
      for (const [name, text] of Object.entries(programs)) {
        writeFileSync(join(all, `${name}_.go`), text.replace('func main() {', `func ${name}() {`))
      }
      const cases = Object.keys(programs).map((name) => `"${name}": ${name},`)
      const main = `package main\n\nimport "os"\n\nfunc main() { map[string]func(){${cases.join('\n')}\n}[os.Args[1]]() }\n`
      writeFileSync(join(all, 'main.go'), main)
      const files = Object.keys(programs).map((name) => join(folderOf(name), 'example.go'))
      const formatted = await run(['gofmt', '-l', ...files], { env })
      if (formatted.output !== '') throw new Error(`gofmt would change ${formatted.output}`)
      const built = await run(['go', 'build', '-o', binary, '.'], { cwd: all, env })
      if (built.exitCode !== 0) throw new Error(built.output)
      chmodSync(binary, 0o755)
    },
    run: async (name, more) => ran(await run([binary, name], { cwd: folderOf(name), env: { ...PLAIN, ...more } })),
  }
}

/** Programs that a runner needs (real-tools.ts). */
export const TOOLS: Record<Language, readonly string[]> = {
  curl: ['sh', 'curl'],
  typescript: [],
  python: ['python3'],
  php: ['php', 'php-curl'],
  go: ['go', 'gofmt'],
  ruby: ['ruby'],
}

export const RUNNERS: Record<Language, () => Runner> = {
  curl: () => interpreted('example.sh', ['sh']),
  typescript,
  python: () => forked('example.py', ['/usr/bin/python3', '-I']),
  php: () => interpreted('example.php', ['php', '-d', 'error_reporting=-1', '-d', 'display_errors=1']),
  go,
  ruby: () => forked('example.rb', ['ruby', '-W2']),
}

/** Who may use whom: the floors of the house, and the offences against them. Pure; scripts/check-floors.ts reads the
 *  files. A room stands on its own files and on lower floors, never on a neighbour. */
import { dirname, join } from 'node:path/posix'

const FLOORS: readonly (readonly string[])[] = [
  ['platform', 'os', 'net', 'mail', 'config', 'version'],
  ['model'],
  ['storage'],
  [
    'submission',
    'outbound',
    'webhooks',
    'live',
    'feedback',
    'analysis',
    'domains',
    'smtp',
    'tls',
    'certificates',
    'health',
    'suppressions',
  ],
  ['api', 'compat', 'inbound', 'relay', 'tracking', 'dashboard', 'maintenance', 'metrics'],
  [
    'main',
    'house',
    'https',
    'ground',
    'engines',
    'web',
    'upkeep',
    'manage',
    'dialect',
    'dispatch',
    'doors',
    'identity',
    'metrics-door',
    'shares',
    'operations',
    'parsing',
    'checkup',
    'reader',
    'threads',
    'cli',
  ],
]

/** What belongs to the machine stands in three folders until `os` and `net` have taken all of `platform`. */
const MACHINE = ['platform', 'os', 'net']

/** The typed client that users install: imports nothing of the house, and nothing of the house imports it but cli. */
const CLIENT = 'client'

/** These speak to the world or run in it: the rules on time and chance are not for them. */
const MAY_ASK_THE_WORLD = ['platform', 'os', CLIENT, 'dashboard']

export interface Offence {
  /** Path from src. */
  readonly file: string
  readonly line: number
  readonly message: string
}

export interface Import {
  readonly specifier: string
  readonly line: number
  /** The names that are there at run time; [] when only types are used, ['*'] for the whole. */
  readonly values: readonly string[]
}

/** One source file, by its path from src, → what it does that its floor forbids; [] when all is well, and for tests. */
export function offencesIn(file: string, text: string): Offence[] {
  if (file.endsWith('.test.ts') || file.endsWith('.d.ts')) return []
  const room = roomOf(file)
  const offences: Offence[] = []
  const offend = (line: number, message: string | null) => message && offences.push({ file, line, message })
  if (floorOf(room) === null && room !== CLIENT) offend(1, `no floor is known for the room ${room}`)
  for (const used of importsOf(text)) offend(used.line, offenceOf(file, used))
  for (const [line, message] of worldlyWords(file, text)) offend(line, message)
  for (const { index } of file.includes('/') ? text.matchAll(WORKER_URL) : []) {
    offend(
      lineAt(text, index),
      'a compiled program finds a worker only from a file directly in src: start it in threads.ts',
    )
  }
  return offences.sort((a, b) => a.line - b.line)
}

/** Source text → its imports, with those of `export from`, `import()` and `require()`. */
export function importsOf(text: string): Import[] {
  const found: Import[] = []
  for (const { 1: keyword, 2: clause = '', 3: specifier = '', index } of text.matchAll(STATIC_IMPORT)) {
    if (keyword === 'export' && clause === '') continue
    found.push({ specifier, line: lineAt(text, index), values: valuesOf(clause) })
  }
  for (const { 1: specifier = '', index } of text.matchAll(CALLED_IMPORT)) {
    if (!isComment(text, index)) found.push({ specifier, line: lineAt(text, index), values: ['*'] })
  }
  return found
}

const STATIC_IMPORT = /^(import|export)\b((?:\s+type\b)?\s*(?:[\w$*{}\s,]*?)\s*(?:\bfrom\b))?\s*['"]([^'"\n]+)['"]/gm
const WORKER_URL = /\bnew URL\(\s*'[^'\n]*\bworker\.ts'/g
const CALLED_IMPORT = /\b(?:import|require)\(\s*['"]([^'"\n]+)['"]/g

/** What stands between `import` and the file, → the names that are not types. */
function valuesOf(clause: string): string[] {
  if (/^\s+type\b\s*[\w$*{]/.test(clause) && !/^\s+type\s+from\b/.test(clause)) return []
  const names = /^\s*\{([^}]*)\}/
    .exec(clause)?.[1]
    ?.split(',')
    .map((name) => name.trim())
  return names?.filter((name) => name !== '' && !name.startsWith('type ')) ?? ['*']
}

function offenceOf(file: string, { specifier, values }: Import): string | null {
  if (!specifier.startsWith('.')) return offenceOfPackage(file, specifier)
  const isTypeOnly = values.length === 0
  const target = join(dirname(file), specifier)
  if (target === '../package.json') return null
  if (target.startsWith('..')) return `${specifier} leaves src`
  const from = roomOf(file)
  const to = roomOf(target)
  const wanted = `${from} may not use ${target}`

  if (target === OPEN_STORE && !['ground', 'cli'].includes(from) && !(from === 'storage' && isTypeOnly)) {
    return `${wanted}: only ground.ts and cli open the store`
  }
  if (from === to || (MACHINE.includes(from) && MACHINE.includes(to))) return null
  if (from === CLIENT) return `${wanted}: the client stands alone`
  const here = floorOf(from)
  const there = to === CLIENT ? 4 : floorOf(to)
  if (here === null || there === null) return null // told once, for the file whose room is unknown
  if (here === 5) return null
  if (there >= here) return `${wanted}: floor ${here} may use only floors below it`
  if (from === 'model')
    return mayModelUse(target, isTypeOnly) ? null : `${wanted}: model uses types of mail and platform/ids.ts`
  if (from === 'storage' && to === 'config') return `${wanted}: storage uses model, mail and platform`
  if (to === 'storage' && !(target === STORE && values.every((name) => name === STORE_VALUE))) {
    return `${wanted}: of storage only the types of ${STORE}, and ${STORE_VALUE}`
  }
  return null
}

const OPEN_STORE = 'storage/sqlite/open.ts'
const DRIVER = 'storage/sqlite/driver.ts'
const STORE = 'storage/store.ts'
/** The one thing in store.ts that is there at run time: what every method may throw. */
const STORE_VALUE = 'StoreUnavailable'

const mayModelUse = (target: string, isTypeOnly: boolean) =>
  target === 'platform/ids.ts' || (roomOf(target) === 'mail' && isTypeOnly)

function offenceOfPackage(file: string, specifier: string): string | null {
  if (/^(node:)?dns(\/promises)?$/.test(specifier))
    return `${specifier} is not used: it splits TXT records; see platform/resolver.ts`
  if (/^better-sqlite3(\/|$)/.test(specifier) && file !== DRIVER) return `only ${DRIVER} imports ${specifier}`
  if (specifier === 'bun:sqlite') return 'a second SQLite in one process destroys the first one’s log'
  return null
}

/** Time and chance come in as arguments, but where the machine itself is. */
function worldlyWords(file: string, text: string): [line: number, message: string][] {
  if (MAY_ASK_THE_WORLD.includes(roomOf(file))) return []
  return [...text.matchAll(/\bDate\.now\(|\bMath\.random\(|\bnew Date\(\s*\)/g)]
    .filter(({ index }) => !isComment(text, index))
    .map(({ 0: word, index }) => [
      lineAt(text, index),
      `${word.replace(/\(.*/s, '()')} outside platform: take a Clock or Random`,
    ])
}

/** The first folder, or the name of a file directly in src. */
function roomOf(path: string): string {
  return path.split('/')[0]!.replace(/\.tsx?$/, '')
}

function floorOf(room: string): number | null {
  const floor = FLOORS.findIndex((rooms) => rooms.includes(room))
  return floor === -1 ? null : floor
}

function isComment(text: string, index: number): boolean {
  const before = text.slice(text.lastIndexOf('\n', index) + 1, index)
  return /^\s*\*|^\s*\/\*|(^|\s)\/\//.test(before)
}

function lineAt(text: string, index: number): number {
  return text.slice(0, index).split('\n').length
}

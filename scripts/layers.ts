/** Which module may import which: the layers, and the faults of a file. Pure; scripts/check-layers.ts reads the
 *  files. A module imports itself and lower layers, never a higher layer or another module of its own layer. */
import { dirname, join } from 'node:path/posix'

const LAYERS: readonly (readonly string[])[] = [
  ['os', 'net', 'mail', 'config', 'version'],
  ['model'],
  ['storage'],
  [
    'sending/submission',
    'sending/outbound',
    'events/webhooks',
    'events/event-stream',
    'receiving/feedback',
    'sending/analysis',
    'domains',
    'receiving/smtp-server',
    'sending/tls-policy',
    'domains/certificates',
    'operating/health',
    'sending/suppressions',
    'operating/upgrade',
    'web/examples',
  ],
  [
    'web/api',
    'web/compat',
    'receiving/inbound',
    'domains/name-server',
    'receiving/smtp-submission',
    'web/tracking',
    'web/dashboard',
    'operating/maintenance',
    'operating/metrics',
    'events/alerts',
    'operating/canary',
  ],
  [
    'main',
    'threads',
    'server',
    'server/parsing',
    'operating/checkup',
    'web/manual',
    'web/reference',
    'cli',
    'client/templates',
  ],
]

/** The machine and the network use each other. */
const MACHINE = ['os', 'net']

/** The typed client that users install: it imports nothing else of src, and only layer 5 imports it. */
const CLIENT = 'client'

/** These may read the clock and draw random numbers directly. */
const MAY_READ_CLOCK = ['os', CLIENT, 'web/dashboard']

export interface Fault {
  /** Path from src. */
  readonly file: string
  readonly line: number
  readonly message: string
}

export interface Import {
  readonly specifier: string
  readonly line: number
  /** The names used at run time; [] when only types are used, ['*'] for the whole. */
  readonly values: readonly string[]
  /** `import()` or `require()`: loaded when it is called. */
  readonly isLazy: boolean
}

/** One source file, by its path from src, → its violations of the layers; [] for tests. */
export function faultsIn(file: string, text: string): Fault[] {
  if (file.endsWith('.test.ts') || file.endsWith('.d.ts')) return []
  const module = moduleOf(file)
  const faults: Fault[] = []
  const report = (line: number, message: string | null) => message && faults.push({ file, line, message })
  if (layerOf(module) === null && module !== CLIENT) report(1, `${module} has no layer`)
  for (const used of importsOf(text)) report(used.line, faultOf(file, used))
  for (const [line, message] of clockAndRandomIn(file, text)) report(line, message)
  for (const { index } of file.includes('/') ? text.matchAll(WORKER_URL) : []) {
    report(
      lineAt(text, index),
      'a compiled program finds a worker only from a file directly in src: start it in threads.ts',
    )
  }
  return faults.sort((a, b) => a.line - b.line)
}

/** All source files by their path from src → a fault for every group of files that import each other, including
 *  types, except imports on call: a newcomer could not read one of them first. */
export function cyclesIn(texts: ReadonlyMap<string, string>): Fault[] {
  const imports = new Map<string, Map<string, number>>()
  for (const [file, text] of texts) {
    const now = importsOf(text).filter(({ isLazy }) => !isLazy)
    const targets = now.map(({ specifier, line }) => [join(dirname(file), specifier), line] as const)
    imports.set(file, new Map(targets.filter(([target]) => target !== file && texts.has(target))))
  }
  const faults: Fault[] = []
  const path: string[] = []
  const done = new Set<string>()
  const walk = (file: string) => {
    path.push(file)
    for (const [target, line] of imports.get(file)!) {
      const at = path.indexOf(target)
      if (at >= 0) faults.push({ file, line, message: `circular import: ${[...path.slice(at), target].join(' → ')}` })
      else if (!done.has(target)) walk(target)
    }
    path.pop()
    done.add(file)
  }
  for (const file of texts.keys()) if (!done.has(file)) walk(file)
  return faults
}

/** All source files by their path from src → a fault for every import of another module that imports its importer in turn,
 *  possibly through others, for types and on call too: none of these modules could be understood or moved alone. */
export function circlesIn(texts: ReadonlyMap<string, string>): Fault[] {
  const uses = new Map<string, Map<string, { file: string; line: number }>>()
  for (const [file, text] of texts) {
    if (file.endsWith('.test.ts')) continue
    for (const { specifier, line } of importsOf(text)) {
      const target = join(dirname(file), specifier)
      if (!specifier.startsWith('.') || target.startsWith('..')) continue
      const [from, to] = [circleOf(moduleOf(file)), circleOf(moduleOf(target))]
      if (from === to) continue
      const targets = uses.get(from) ?? new Map()
      uses.set(from, targets.set(to, targets.get(to) ?? { file, line }))
    }
  }
  const wayBetween = (from: string, to: string, passed = new Set<string>()): string[] | null => {
    if (from === to) return [to]
    passed.add(from)
    for (const next of uses.get(from)?.keys() ?? []) {
      const rest = passed.has(next) ? null : wayBetween(next, to, passed)
      if (rest !== null) return [from, ...rest]
    }
    return null
  }
  return [...uses].flatMap(([from, targets]) =>
    [...targets].flatMap(([to, at]) => {
      const way = wayBetween(to, from)
      return way === null ? [] : [{ ...at, message: `circle of modules: ${[from, ...way].join(' → ')}` }]
    }),
  )
}

/** Modules that use each other, each with the reason. They count as one. */
const KNOWN_CIRCLES: readonly (readonly string[])[] = [
  // Both are the machine: waiting on a socket and a file descriptor are one subject.
  MACHINE,
  // The running server repeats the checks of `doctor`, which need parts of the server: its relays, sign-on and readers.
  ['server', 'operating/checkup'],
]

const circleOf = (module: string) => KNOWN_CIRCLES.find((modules) => modules.includes(module))?.join(' and ') ?? module

/** Source text → its imports, with those of `export from`, `import()` and `require()`. */
export function importsOf(text: string): Import[] {
  const found: Import[] = []
  for (const { 1: keyword, 2: clause = '', 3: specifier = '', index } of text.matchAll(STATIC_IMPORT)) {
    if (keyword === 'export' && clause === '') continue
    found.push({ specifier, line: lineAt(text, index), values: valuesOf(clause), isLazy: false })
  }
  for (const { 1: specifier = '', index } of text.matchAll(CALLED_IMPORT)) {
    if (!isComment(text, index)) found.push({ specifier, line: lineAt(text, index), values: ['*'], isLazy: true })
  }
  return found
}

const STATIC_IMPORT = /^(import|export)\b((?:\s+type\b)?\s*(?:[\w$*{}\s,]*?)\s*(?:\bfrom\b))?\s*['"]([^'"\n]+)['"]/gm
const WORKER_URL = /\bnew URL\(\s*'[^'\n]*\bworker\.ts'/g
const CALLED_IMPORT = /\b(?:import|require)\(\s*['"]([^'"\n]+)['"]/g

/** The text between `import` and the file → the names that are not types. */
function valuesOf(clause: string): string[] {
  if (/^\s+type\b\s*[\w$*{]/.test(clause) && !/^\s+type\s+from\b/.test(clause)) return []
  const names = /^\s*\{([^}]*)\}/
    .exec(clause)?.[1]
    ?.split(',')
    .map((name) => name.trim())
  return names?.filter((name) => name !== '' && !name.startsWith('type ')) ?? ['*']
}

function faultOf(file: string, { specifier, values }: Import): string | null {
  if (!specifier.startsWith('.')) return faultOfPackage(file, specifier)
  const isTypeOnly = values.length === 0
  const target = join(dirname(file), specifier)
  if (target === '../package.json') return null
  if (target.startsWith('..')) return `${specifier} leaves src`
  const from = moduleOf(file)
  const to = moduleOf(target)
  const wanted = `${from} may not use ${target}`

  // Files of storage use only types of it, but for the one that chooses a backend.
  const isOfStorage = from === 'storage' && (isTypeOnly || file === OPEN_STORE[0])
  if (OPEN_STORE.includes(target) && !['server', 'cli'].includes(from) && !isOfStorage) {
    return `${wanted}: only server and cli open the store`
  }
  if (from === to || (MACHINE.includes(from) && MACHINE.includes(to))) return null
  if (from === CLIENT) return `${wanted}: the client stands alone`
  const here = layerOf(from)
  const there = to === CLIENT ? 4 : layerOf(to)
  if (here === null || there === null) return null // reported once, for the file whose module is unknown
  if (here === 5) return null
  if (there >= here) return `${wanted}: layer ${here} may use only lower layers`
  if (from === 'model')
    return mayModelUse(target, isTypeOnly) ? null : `${wanted}: model uses types of mail, mail/address.ts and os/ids.ts`
  if (from === 'storage' && to === 'config') return `${wanted}: storage uses model, mail, os and net`
  if (to === 'storage' && !(target === STORE && values.every((name) => STORE_VALUES.includes(name)))) {
    return `${wanted}: of storage only the types of ${STORE}, and ${STORE_VALUES.join(', ')}`
  }
  return null
}

const OPEN_STORE = ['storage/open.ts', 'storage/sqlite/open.ts', 'storage/postgres/open.ts']
const DRIVER = 'storage/sqlite/driver.ts'
const STORE = 'storage/store.ts'
/** Run-time exports of store.ts: the errors that callers expect, and the part of limits that a node has. */
const STORE_VALUES = ['StoreUnavailable', 'AlreadyRemembered', 'NodeParts']

const mayModelUse = (target: string, isTypeOnly: boolean) =>
  target === 'os/ids.ts' || target === 'mail/address.ts' || (moduleOf(target) === 'mail' && isTypeOnly)

function faultOfPackage(file: string, specifier: string): string | null {
  if (/^(node:)?dns(\/promises)?$/.test(specifier))
    return `${specifier} is not used: it splits TXT records; see net/dns/resolver.ts`
  if (/^better-sqlite3(\/|$)/.test(specifier) && file !== DRIVER) return `only ${DRIVER} imports ${specifier}`
  if (specifier === 'bun:sqlite') return 'a second SQLite in one process destroys the first one’s log'
  return null
}

/** Time and randomness are arguments outside os. */
function clockAndRandomIn(file: string, text: string): [line: number, message: string][] {
  if (MAY_READ_CLOCK.includes(moduleOf(file))) return []
  return [...text.matchAll(/\bDate\.now\(|\bMath\.random\(|\bnew Date\(\s*\)/g)]
    .filter(({ index }) => !isComment(text, index))
    .map(({ 0: word, index }) => [
      lineAt(text, index),
      `${word.replace(/\(.*/s, '()')} outside os: take a Clock or Random`,
    ])
}

/** The module of the layers that contains a file: the innermost one, such as `domains/certificates` in `domains`. A file
 *  of none has the name of its first folder, or its own directly in src. */
function moduleOf(path: string): string {
  const file = path.replace(/\.tsx?$/, '')
  const folders = file.split('/').map((_, at, parts) => parts.slice(0, at + 1).join('/'))
  return folders.findLast((folder) => MODULES.has(folder)) ?? folders[0]!
}

const MODULES = new Set(LAYERS.flat())

function layerOf(module: string): number | null {
  const layer = LAYERS.findIndex((modules) => modules.includes(module))
  return layer === -1 ? null : layer
}

function isComment(text: string, index: number): boolean {
  const before = text.slice(text.lastIndexOf('\n', index) + 1, index)
  return /^\s*\*|^\s*\/\*|(^|\s)\/\//.test(before)
}

function lineAt(text: string, index: number): number {
  return text.slice(0, index).split('\n').length
}

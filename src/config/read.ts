/** Builds one frozen Config from raw values, or returns all faults. */
import { dirname, resolve } from 'node:path'
import type { z } from 'zod'
import type { ConfigFault } from './fault.ts'
import { fileFault } from './file-fault.ts'
import type { Collected, Given, Origin } from './given.ts'
import { type Endpoint, formatEndpoint } from './notations.ts'
import { camelCase, fromStep, isSection, keysByPath, root } from './paths.ts'
import { isEveryAddress, rules } from './rules.ts'
import type { Config, Key, Section } from './schema.ts'
import { ExposedSecret } from './secret-file.ts'
import { type Setting, settingsOf } from './settings.ts'

export type ConfigResult =
  | { config: Config; settings: () => Setting[]; faults?: never }
  | { faults: ConfigFault[]; config?: never }

/** Merges layers, later ones overriding earlier ones. Missing keys use their default; rules skip keys with a fault. `file`
 *  is named in faults about missing keys, and relative paths are relative to its folder (those of the environment to the
 *  working directory). `readSecretFile` throws if the file cannot be read. */
export function assemble(layers: Collected[], file: string, readSecretFile: (path: string) => string): ConfigResult {
  const faults = layers.flatMap((layer) => layer.faults)
  const given = new Map<string, Given>()
  for (const layer of layers) {
    settleSecrets(layer, given, faults, file, readSecretFile)
    for (const [path, value] of layer.given) given.set(path, value)
  }
  const originOf = (path: string): Origin => given.get(path)?.origin ?? { file, line: null, key: path }

  const sections = new Set(layers.flatMap((layer) => [...layer.sections]))
  const values = new Map<string, unknown>()
  const faulty = new Set<string>()
  for (const [path, key] of keysByPath(sections)) {
    const read = readValue(key, given.get(path))
    if ('value' in read) values.set(path, located(key, read.value, originOf(path), file))
    else {
      const { originOf: partOf } = given.get(path) ?? {}
      for (const { part, message } of read.found) {
        faults.push({ ...((part !== null && partOf?.(part)) || originOf(path)), message })
      }
      faulty.add(path)
      values.set(path, key.kind.schema.parse(key.fallback ?? key.example))
    }
  }

  const config = nest(values)
  for (const rule of rules) {
    if (rule.keys.some((key) => faulty.has(key))) continue
    const message = rule.broken(config)
    if (message) faults.push({ ...originOf(rule.keys.find((key) => given.has(key)) ?? rule.keys[0]!), message })
  }
  if (faults.length > 0) return { faults: faults.sort(byPlace) }
  return { config: deepFreeze(config), settings: () => settingsOf(keysByPath(sections), given) }
}

/** The URL that links start with if none is configured: https and the hostname if HTTPS is on. Else the plain HTTP
 *  listener: the hostname for a wildcard address; the hostname without a port if it is off (`null`), for a proxy. */
export function derivePublicUrl(
  hostname: string,
  { listen, listenTls }: { listen: Endpoint | null; listenTls: Endpoint | null },
): string {
  if (listenTls) return `https://${hostname}${listenTls.port === 443 ? '' : `:${listenTls.port}`}`
  if (!listen) return `http://${hostname}`
  return `http://${isEveryAddress(listen.host) ? `${hostname}:${listen.port}` : formatEndpoint(listen)}`
}

/** Replaces a layer's `x_file` by `x` with the content of the file; it overrides both spellings of lower layers. Both
 *  spellings in one layer, and an unreadable file, are faults. */
function settleSecrets(
  layer: Collected,
  below: Map<string, Given>,
  faults: ConfigFault[],
  file: string,
  readSecretFile: (path: string) => string,
): void {
  for (const [path, key] of keysByPath()) {
    const pointer = key.isSecret ? layer.given.get(`${path}_file`) : undefined
    if (!pointer) continue
    layer.given.delete(pointer.path)
    if (pointer.raw === '') continue
    const fault = (message: string) => faults.push({ ...pointer.origin, message })
    if (layer.given.has(path)) fault(`expected either ${path} or ${path}_file, found both`)
    else if (typeof pointer.raw !== 'string') fault(`expected the path of a file, found ${shown(pointer.raw)}`)
    else {
      below.delete(path)
      const secretFile = resolve(folderOf(pointer.origin, file), pointer.raw)
      try {
        const secret = readSecretFile(secretFile).replace(/\r?\n$/, '')
        layer.given.set(path, { ...pointer, path, raw: secret })
      } catch (error) {
        if (error instanceof ExposedSecret) fault(error.message)
        else fault(`expected a readable file, found ${JSON.stringify(pointer.raw)}: ${fileFault(error, secretFile)}`)
      }
    }
  }
}

/** `part`: the path of the faulty part in the value; null = the value itself. */
type Found = { part: string | null; message: string }

function readValue(key: Key, given: Given | undefined): { value: unknown } | { found: Found[] } {
  const { kind, fallback, isSecret } = key
  if (!given && fallback === undefined) {
    return { found: [{ part: null, message: `expected ${kind.expected}, but this required key is missing` }] }
  }
  const raw = given ? given.raw : fallback
  const parsed = kind.schema.safeParse(raw)
  if (parsed.success) return { value: parsed.data }
  if (kind.rows !== undefined && Array.isArray(raw)) return { found: faultsOfRows(kind, raw, parsed.error.issues) }
  const found = isSecret || kind.secretRows !== undefined ? HIDDEN : `found ${shown(raw)}`
  return { found: [{ part: null, message: `expected ${kind.expected}, ${found}` }] }
}

const HIDDEN = 'found a value that is hidden because it is secret'

/** Faults of a list of tables: each names its table and key. */
function faultsOfRows(
  { rows = {}, secretRows = [] }: Key['kind'],
  raw: readonly unknown[],
  issues: readonly z.core.$ZodIssue[],
): Found[] {
  return issues.flatMap((issue): Found[] => {
    const [at, name] = issue.path
    const row: unknown = typeof at === 'number' ? raw[at] : undefined
    if (issue.code === 'unrecognized_keys') {
      const known = Object.keys(rows).join(', ')
      return issue.keys.map((unknown) => ({
        part: `${String(at)}.${unknown}`,
        message: `unknown key. Known: ${known}`,
      }))
    }
    if (typeof name !== 'string') {
      const most = 'a list of tables, not too long'
      return [
        { part: at === undefined ? null : String(at), message: `expected ${at === undefined ? most : 'a table'}` },
      ]
    }
    const value: unknown = typeof row === 'object' && row !== null ? Reflect.get(row, name) : undefined
    const found =
      value === undefined ? 'but it is missing' : secretRows.includes(name) ? HIDDEN : `found ${shown(value)}`
    return [{ part: `${String(at)}.${name}`, message: `expected ${rows[name]}, ${found}` }]
  })
}

/** Makes relative paths absolute; returns other values unchanged. */
function located(key: Key, value: unknown, origin: Origin, file: string): unknown {
  const locate = (path: string) => resolve(folderOf(origin, file), path)
  if (key.kind.located !== undefined) return key.kind.located(value, locate)
  return key.kind.isPath && typeof value === 'string' ? locate(value) : value
}

const folderOf = (origin: Origin, file: string) => (origin.file === file ? dirname(file) : '.')

/** Builds the nested object from values by path. The only place that creates a Config. */
function nest(values: Map<string, unknown>): Config {
  const config: Record<string, unknown> = Object.create(null)
  for (const [path, value] of values) {
    const names = path.split('.').map(fromStep)
    const last = names.pop()!
    let place = config
    // The names of plans stay as the operator wrote them; our own section names have no underscore.
    // No prototype, so that a plan named "constructor" is safe.
    for (const name of names) {
      place[name] ??= Object.create(null)
      place = place[name] as Record<string, unknown>
    }
    place[camelCase(last)] = value
  }
  addOpenSections(root, config)
  const { hostname, http } = config as Config
  const publicUrl = http.publicUrl || derivePublicUrl(hostname, http)
  return { ...(config as Config), http: { ...http, publicUrl } }
}

/** Adds open sections without entries. */
function addOpenSections(section: Section, place: Record<string, unknown>): void {
  for (const [name, node] of Object.entries(section.keys)) {
    if (!isSection(node)) continue
    place[name] ??= Object.create(null)
    addOpenSections(node, place[name] as Record<string, unknown>)
  }
}

function deepFreeze<T>(value: T): T {
  if (typeof value === 'object' && value !== null) {
    for (const part of Object.values(value)) deepFreeze(part)
    Object.freeze(value)
  }
  return value
}

/** A value as written in the file, truncated. */
function shown(raw: unknown): string {
  if (raw instanceof Date) return raw.toISOString()
  const text = typeof raw === 'number' ? String(raw) : (JSON.stringify(raw) ?? typeof raw)
  return text.length > 80 ? `${text.slice(0, 77)}…` : text
}

const byPlace = (a: ConfigFault, b: ConfigFault) => (a.line ?? Infinity) - (b.line ?? Infinity)

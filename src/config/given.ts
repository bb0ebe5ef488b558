/** Collects the operator's values by path, before validation: from TOML, the environment and credentials. */
import type { ConfigFault } from './fault.ts'
import { childOf, environmentName, isSection, keysByPath, root, toStep } from './paths.ts'
import type { Key, OpenSection, Section } from './schema.ts'
import { nearest } from './suggest.ts'

/** One raw value. `path` is a key's path, or that of a secret followed by `_file`. */
export interface Given {
  readonly path: string
  readonly raw: unknown
  readonly origin: Origin
  /** Source of a part of the value, by its path in it; absent: `origin`. */
  readonly originOf?: (part: string) => Origin
}

/** Source of a value, for faults; `key` as the operator wrote it. */
export type Origin = Omit<ConfigFault, 'message'>

export interface Collected {
  readonly given: Map<string, Given>
  /** Sections that occur, such as `plans.gold`, also if empty. */
  readonly sections: Set<string>
  readonly faults: ConfigFault[]
}

/** Collects the values of a parsed table by path. Unknown names, and values in place of a section, are faults. `originOf`
 *  returns the source of a path. */
export function fromTable(values: object, originOf: (path: string) => Origin): Collected {
  const collected: Collected = { given: new Map(), sections: new Set(), faults: [] }
  const fault = (path: string, message: string) => collected.faults.push({ ...originOf(path), message })
  const visit = (section: Section | OpenSection, values: object, path: string[]) => {
    for (const [name, raw] of Object.entries(values)) {
      if (raw === undefined) continue
      const here = [...path, name].join('.')
      const steps = [...path, name].map(toStep).join('.')
      const node = childOf(section, name)
      if ((node && !isSection(node)) || secretBehind(section, name)) {
        const partOf = (part: string) => originOf(`${here}.${part}`)
        collected.given.set(steps, { path: steps, raw, origin: originOf(here), originOf: partOf })
      } else if (!node) {
        fault(here, `unknown ${isTable(raw) ? 'section' : 'key'}${meant(section, path, name)}`)
      } else if (!isTable(raw)) {
        fault(here, `expected a section [${here}], found ${kindOfValue(raw)}`)
      } else if ('names' in section && !Object.hasOwn(section.keys, name) && !section.names.pattern.test(name)) {
        fault(here, `expected ${section.names.expected}`)
      } else {
        collected.sections.add(steps)
        visit(node, raw, [...path, name])
      }
    }
  }
  visit(root, values, [])
  return collected
}

/** Collects values from environment variables. An unknown POSTRIDER_ name is a fault, so that a typo does not silently use
 *  the default. Variables that are not config, and those that Kubernetes creates for a service named postrider, are
 *  ignored. */
export function fromEnvironment(env: Record<string, string | undefined>): Collected {
  const collected: Collected = { given: new Map(), sections: new Set(), faults: [] }
  const paths = environmentPaths()
  for (const [name, text] of Object.entries(env)) {
    if (text === undefined || !name.startsWith('POSTRIDER_') || NOT_CONFIG.has(name)) continue
    const origin = { file: 'environment', line: null, key: name }
    const known = paths.get(name) ?? pathInOpenSection(name)
    if (known) {
      const { path, key } = known
      collected.given.set(path, { path, raw: key?.kind.fromText(text) ?? text, origin })
      collected.sections.add(path.slice(0, path.lastIndexOf('.')))
    } else if (!isFromKubernetes(name, text)) {
      const suggestion = nearest(name, paths.keys())
      collected.faults.push({
        ...origin,
        message: `unknown variable${suggestion ? `. Did you mean ${suggestion}?` : ''}`,
      })
    }
  }
  return collected
}

/** Collects secrets from systemd credentials: files in `folder` (CREDENTIALS_DIRECTORY, systemd.exec(5)) named after their
 *  key, such as `delivery.smarthost`. Other files are ignored. */
export function fromCredentials(folder: string | undefined, hasFile: (path: string) => boolean): Collected {
  const collected: Collected = { given: new Map(), sections: new Set(), faults: [] }
  if (!folder) return collected
  for (const [path, key] of keysByPath()) {
    const file = `${folder}/${path}`
    if (!key.isSecret || !hasFile(file)) continue
    const origin = { file: 'credentials', line: null, key: path }
    collected.given.set(`${path}_file`, { path: `${path}_file`, raw: file, origin })
  }
  return collected
}

/** Used by the command line, and (LIBC) to choose the SQLite addon. */
const NOT_CONFIG = new Set(['POSTRIDER_CONFIG', 'POSTRIDER_API_KEY', 'POSTRIDER_URL', 'POSTRIDER_LIBC'])

/** Variables that Kubernetes creates for each service of a namespace: X_SERVICE_HOST, X_PORT=tcp://…, X_PORT_8025_TCP_ADDR. */
const isFromKubernetes = (name: string, text: string) =>
  /_SERVICE_(?:HOST$|PORT(?:$|_\w))/.test(name) ||
  /_PORT_\d+_(?:TCP|UDP|SCTP)(?:$|_\w)/.test(name) ||
  (name.endsWith('_PORT') && /^(tcp|udp|sctp):\/\//.test(text))

const isTable = (raw: unknown): raw is object =>
  typeof raw === 'object' && raw !== null && !Array.isArray(raw) && !(raw instanceof Date)

const kindOfValue = (raw: unknown) => (Array.isArray(raw) ? 'a list' : 'a value')

/** `smarthost_file` beside a secret `smarthost` → that secret. */
function secretBehind(section: Section | OpenSection, name: string): Key | undefined {
  const node = name.endsWith('_file') ? childOf(section, name.slice(0, -5)) : undefined
  return node && !isSection(node) && node.isSecret ? node : undefined
}

/** An unknown name → ". Did you mean …?" from the names beside it, else from the same name elsewhere, else ''. */
function meant(section: Section | OpenSection, path: string[], name: string): string {
  const beside = nearest(name, Object.keys(section.keys))
  const elsewhere = [...keysByPath().keys()].filter((known) => known.endsWith(`.${name}`) || known === name)
  const below = elsewhere.find((known) => path.length > 0 && known.startsWith(`${path[0]}.`))
  const suggestion = beside ? [...path, beside].join('.') : (below ?? elsewhere[0])
  return suggestion ? `. Did you mean ${suggestion}?` : ''
}

function environmentPaths(): Map<string, { path: string; key: Key | null }> {
  const paths = new Map<string, { path: string; key: Key | null }>()
  for (const [path, key] of keysByPath()) {
    paths.set(environmentName(path), { path, key })
    if (key.isSecret) paths.set(environmentName(`${path}_file`), { path: `${path}_file`, key: null })
  }
  return paths
}

/** `POSTRIDER_PLANS_GOLD_DOMAINS` → `plans.gold.domains`, or undefined. */
function pathInOpenSection(name: string): { path: string; key: Key } | undefined {
  for (const [section, node] of Object.entries(root.keys)) {
    if (!('other' in node)) continue
    for (const [last, key] of Object.entries(node.other.keys)) {
      const prefix = environmentName(`${section}.`)
      const suffix = environmentName(last).replace('POSTRIDER', '')
      if (!name.startsWith(prefix) || !name.endsWith(suffix) || isSection(key)) continue
      const other = name.slice(prefix.length, -suffix.length).toLowerCase()
      if (node.names.pattern.test(other)) return { path: `${section}.${other}.${last}`, key }
    }
  }
  return undefined
}

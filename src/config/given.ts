/** What the operator gave, by path, before any value is checked: from a TOML table, and from the environment. */
import type { ConfigFault } from './fault.ts'
import { childOf, environmentName, isSection, keysByPath, root, toStep } from './paths.ts'
import type { Key, OpenSection, Section } from './schema.ts'
import { nearest } from './suggest.ts'

/** One value as given. `path` is a key's path, or that of a secret with `_file` behind it. */
export interface Given {
  readonly path: string
  readonly raw: unknown
  readonly origin: Origin
}

/** Where a value stands, for faults: `key` as the operator wrote it. */
export type Origin = Omit<ConfigFault, 'message'>

export interface Collected {
  readonly given: Map<string, Given>
  /** Sections that are spoken of, like `plans.gold`, be they empty. */
  readonly sections: Set<string>
  readonly faults: ConfigFault[]
}

/** A parsed table → its values by path. Unknown names, and values where a section should be, are faults.
 *  `originOf` tells where a path stands. */
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
        collected.given.set(steps, { path: steps, raw, origin: originOf(here) })
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

/** Environment variables → values by path. A POSTRIDER_ name that is no key is a fault, so that a typo is not
 *  silently a default; names of ours that are no config, and those Kubernetes makes for a service called
 *  postrider, are left alone. */
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
        message: `unknown variable${suggestion ? `, did you mean ${suggestion}?` : ''}`,
      })
    }
  }
  return collected
}

/** Secrets that systemd hands over: each a file in `folder` (CREDENTIALS_DIRECTORY, systemd.exec(5)) that is called like
 *  its key, `delivery.smarthost`. Other files there are not ours. */
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

/** Read by the command line itself, and (LIBC) by the choice of the SQLite addon. */
const NOT_CONFIG = new Set(['POSTRIDER_CONFIG', 'POSTRIDER_API_KEY', 'POSTRIDER_URL', 'POSTRIDER_LIBC'])

/** Variables made for each service of a namespace: X_SERVICE_HOST, X_PORT=tcp://…, X_PORT_8025_TCP_ADDR. */
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

/** An unknown name → ", did you mean …?" from the names beside it, else from the same name elsewhere, else ''. */
function meant(section: Section | OpenSection, path: string[], name: string): string {
  const beside = nearest(name, Object.keys(section.keys))
  const elsewhere = [...keysByPath().keys()].filter((known) => known.endsWith(`.${name}`) || known === name)
  const below = elsewhere.find((known) => path.length > 0 && known.startsWith(`${path[0]}.`))
  const suggestion = beside ? [...path, beside].join('.') : (below ?? elsewhere[0])
  return suggestion ? `, did you mean ${suggestion}?` : ''
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
